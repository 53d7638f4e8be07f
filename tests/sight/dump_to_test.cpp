// dump_to: to whatever has a descriptor, and without malloc; nor does the inspector use any.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <latch>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sync/notify.hpp"

#include "sight/inspected.hpp"
#include "sight/seen.hpp"

namespace {

/// That a thread made while it forbade them.
thread_local bool is_forbidden = false;
thread_local int allocations = 0;

[[maybe_unused]] void note_allocation() noexcept {
  if (is_forbidden) ++allocations;
}

}  // namespace

// All of malloc, also what the C library itself asks for. A sanitizer has its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define ROUSE_TEST_MALLOC_IS_TAKEN
#endif
#endif
#if !defined(ROUSE_TEST_MALLOC_IS_TAKEN) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ROUSE_TEST_COUNTS_MALLOC

// NOLINTBEGIN(bugprone-reserved-identifier): glibc's names for what is behind malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

[[gnu::visibility("default")]] void* malloc(std::size_t size) noexcept {
  note_allocation();
  return __libc_malloc(size);
}
[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) noexcept {
  note_allocation();
  return __libc_calloc(count, size);
}
[[gnu::visibility("default")]] void* realloc(void* memory, std::size_t size) noexcept {
  note_allocation();
  return __libc_realloc(memory, size);
}
[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment,
                                                   std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] void free(void* memory) noexcept {
  if (memory != nullptr) note_allocation();
  __libc_free(memory);
}
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::let_run;
using rouse::test::lines_of;
using rouse::test::runtime_with;
using rouse::test::see;
using rouse::test::see_idle;
using rouse::test::see_when;
using rouse::test::Seen;
using sight::Format;
using ::testing::HasSubstr;

/// A file without a name, which takes any amount.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("dump", MFD_CLOEXEC)) { EXPECT_GE(fd_, 0); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::string content() const {
    std::string all(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), 0);
    EXPECT_EQ(::pread(fd_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  int fd_;
};

std::string written(Format format) {
  const MemoryFile file;
  const Result<void> result = sight::dump_to(file.fd(), format);
  EXPECT_TRUE(result) << result.error().message();
  return file.content();
}

TEST(DumpTo, WritesEachFormat) {
  const Runtime runtime = runtime_with(2);
  const TaskId id =
      let_run(task::Builder().name("one").spawn_on(runtime.spawner(), pending_forever<void>()));
  see_idle({id});
  const sight::Report report = sight::dump();
  EXPECT_EQ(written(Format::text), report.text());
  EXPECT_EQ(written(Format::json), report.json());
  EXPECT_EQ(written(Format::folded), report.folded());
  EXPECT_THAT(written(Format::text), HasSubstr("\"one\"  idle"));
  EXPECT_EQ(Seen(written(Format::json)).state_of(id), "idle");
  EXPECT_EQ(written(Format::folded), "idle;pending_forever 1\n");
}

TEST(DumpTo, WritesTextIfNobodySaysWhat) {
  const MemoryFile file;
  EXPECT_TRUE(sight::dump_to(file.fd()));
  EXPECT_EQ(file.content(), "0 tasks\n");
}

Async<void> named_wait(sync::Notify& told) { co_await told.notified(); }

/// More than its buffer, and than a pipe takes at once.
TEST(DumpTo, APipeThatIsReadSlowly) {
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  std::vector<TaskId> ids;
  for (int i = 0; i < 3000; ++i) {
    ids.push_back(let_run(task::Builder()
                              .name("number " + std::to_string(i))
                              .spawn_on(runtime.spawner(), named_wait, std::ref(told))));
  }
  see_idle(ids);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  std::string got;
  std::thread reader([&] {
    std::array<char, 777> part;
    for (;;) {
      const ssize_t size = ::read(ends[0], part.data(), part.size());
      if (size <= 0) break;
      got.append(part.data(), static_cast<std::size_t>(size));
    }
  });
  const Result<void> result = sight::dump_to(ends[1], Format::json);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(result);
  EXPECT_GT(got.size(), 65536U * 3);
  const Seen seen(got);
  EXPECT_EQ(seen.groups().size(), 3000U);
  EXPECT_EQ(seen.task(ids[1234])["name"].string(), "number 1234");
}

TEST(DumpTo, AFileAppends) {
  const std::string path = ::testing::TempDir() + "rouse_sight_dump_" + std::to_string(::getpid());
  const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(sight::dump_to(fd));
  EXPECT_TRUE(sight::dump_to(fd));
  ::close(fd);
  std::FILE* const file = std::fopen(path.c_str(), "re");
  ASSERT_NE(file, nullptr);
  std::array<char, 100> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  (void)std::fclose(file);
  ::unlink(path.c_str());
  EXPECT_EQ(std::string(text.data(), size), "0 tasks\n0 tasks\n");
}

TEST(DumpTo, ADescriptorThatIsNotOpenFails) {
  for (const int fd : {-1, 1'000'000}) {
    for (const Format format : {Format::text, Format::json}) {
      const Result<void> result = sight::dump_to(fd, format);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error(), std::errc::bad_file_descriptor);
    }
  }
}

TEST(DumpTo, ADescriptorThatIsOnlyReadFails) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const Result<void> result = sight::dump_to(fd);
  ::close(fd);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), std::errc::bad_file_descriptor);
}

TEST(DumpTo, AFullDiskFails) {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const Result<void> result = sight::dump_to(fd);
  ::close(fd);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), std::errc::no_space_on_device);
  EXPECT_EQ(written(Format::text), "0 tasks\n");  // the next one is well
}

/// Three thousand tasks that nobody ends, each a group of its own.
std::vector<TaskId> spawn_many(const Runtime& runtime) {
  std::vector<TaskId> ids;
  for (int i = 0; i < 3000; ++i) {
    ids.push_back(let_run(task::Builder()
                              .name("number " + std::to_string(i))
                              .spawn_on(runtime.spawner(), pending_forever<void>())));
  }
  see_idle(ids);
  return ids;
}

/// It does not wait for ever, nor lose the error because a later part was written.
TEST(DumpTo, APipeThatIsFullAndDoesNotBlockFails) {
  const Runtime runtime = runtime_with(2);
  spawn_many(runtime);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const Result<void> result = sight::dump_to(ends[1], Format::json);
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), std::errc::resource_unavailable_try_again);
}

/// As standard error may be, if a program that shares it has made it so.
TEST(DumpTo, APipeThatDoesNotBlockAndIsReadSlowlyGetsAll) {
  const Runtime runtime = runtime_with(2);
  const std::vector<TaskId> ids = spawn_many(runtime);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  std::string got;
  std::thread reader([&] {
    std::array<char, 777> part;
    for (;;) {
      const ssize_t size = ::read(ends[0], part.data(), part.size());
      if (size <= 0) break;
      got.append(part.data(), static_cast<std::size_t>(size));
    }
  });
  const Result<void> result = sight::dump_to(ends[1], Format::json);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_TRUE(result);
  EXPECT_EQ(Seen(got).groups().size(), ids.size());
}

/// By default that signal ends the process.
TEST(DumpTo, APipeThatNobodyReadsFailsWithoutASignal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  const Result<void> result = sight::dump_to(ends[1]);
  std::signal(SIGPIPE, before);
  ::close(ends[1]);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), std::errc::broken_pipe);
}

// --- Without malloc. ---

/// How many calls of malloc and free a dump makes.
int allocations_of_a_dump(int fd, Format format) {
  allocations = 0;
  is_forbidden = true;
  const Result<void> result = sight::dump_to(fd, format);
  is_forbidden = false;
  EXPECT_TRUE(result);
  return allocations;
}

#if defined(ROUSE_TEST_COUNTS_MALLOC)
TEST(DumpToWithoutMalloc, TheCounterCounts) {
  allocations = 0;
  is_forbidden = true;
  void* volatile memory = std::malloc(10);
  std::free(memory);
  delete new std::string(100, 'x');
  is_forbidden = false;
  EXPECT_GE(allocations, 6);
}
#endif

class DumpToWithoutMalloc : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Tasks, DumpToWithoutMalloc, ::testing::Values(1, 10'000),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(DumpToWithoutMalloc, WhateverTasksThereAre) {
  sync::Notify told;
  std::latch began(1);
  std::latch end(1);
  Runtime runtime = runtime_with(2);
  const auto count = static_cast<std::uint64_t>(GetParam());
  for (std::uint64_t i = 0; i < count; ++i) {
    // Half of them are groups of their own.
    const std::string name = i % 2 == 0 ? "the same" : "number " + std::to_string(i);
    let_run(task::Builder().name(name).spawn_on(runtime.spawner(), named_wait, std::ref(told)));
  }
  let_run(runtime.spawn_blocking([&] {
    began.count_down();
    end.wait();
  }));
  began.wait();
  LocalExecutor executor;
  let_run(executor.spawn(borrowed(named_wait(told))));
  executor.run_until(yield_now());
  see_when([&](const Seen& seen) {
    for (const rouse::test::Json* group : seen.groups()) {
      if ((*group)["state"].string() == "queued" || (*group)["state"].string() == "running") {
        return false;
      }
    }
    return true;
  });
  // The first dump of a thread, too.
  std::thread([&] {
    for (const Format format : {Format::json, Format::text, Format::folded}) {
      const MemoryFile file;
      EXPECT_EQ(allocations_of_a_dump(file.fd(), format), 0);
      EXPECT_GT(file.content().size(), 10U);
      if (format == Format::json) {
        EXPECT_EQ(Seen(file.content()).json()["tasks"].number(), count + 2);
      }
    }
  }).join();
  end.count_down();
  told.notify_waiters();
  executor.run();
  see_when([](const Seen& seen) { return seen.json()["tasks"].number() == 0; });
}

TEST(InspectorWithoutMalloc, AnswersEveryRoute) {
  const Runtime runtime = runtime_with(1);
  let_run(runtime.spawn(pending_forever<void>()));
  rouse::test::Inspected inspected;
  for (const char* const route : {"/", "/dump", "/dump?format=json", "/dump?format=folded",
                                  "/metrics", "/sites", "/slow", "/trace", "/other"}) {
    rouse::test::InspectorClient client = inspected.connect();
    client.send(rouse::test::get(route));
    allocations = 0;
    is_forbidden = true;
    inspected.turn();
    is_forbidden = false;
    EXPECT_EQ(allocations, 0) << route;
    EXPECT_NE(rouse::test::status_of(client.take()), 0) << route;
  }
}

}  // namespace
