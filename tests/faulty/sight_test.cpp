// A dump beside a system that says nothing about descriptors, has no memory, or takes no output.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/net/pipe.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sight/stuck.hpp"
#include "rouse/sync/mutex.hpp"

#include "faulty/errnos.hpp"
#include "faulty/harness.hpp"
#include "sight/formats.hpp"

namespace rouse::faulty {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Async<void> accept_for_ever(net::TcpListener& listener) {
  for (;;) (void)co_await listener.accept();
}
Async<void> read_for_ever(net::pipe::Receiver& pipe) {
  std::byte bytes[1];
  (void)co_await pipe.read(bytes);
}
Async<void> read_a_socket(net::TcpStream& stream) {
  std::byte bytes[1];
  (void)co_await stream.read(bytes);
}

/// Tasks that wait for descriptors of three kinds.
class Waiting {
  using Pipe = std::pair<net::pipe::Sender, net::pipe::Receiver>;

 public:
  explicit Waiting(Runtime& rt)
      : listener_(rt.block_on(net::TcpListener::bind("127.0.0.1:0"))),
        peer_(rt.block_on(net::TcpListener::bind("127.0.0.1:0"))),
        stream_(rt.block_on(net::TcpStream::connect(peer_.local_addr()))),
        pipe_(rt.block_on([]() -> Async<Pipe> { co_return net::pipe::pipe(); }())) {
    tasks_.push_back(rt.spawn(accept_for_ever, std::ref(listener_)));
    tasks_.push_back(rt.spawn(read_a_socket, std::ref(stream_)));
    tasks_.push_back(rt.spawn(read_for_ever, std::ref(pipe_.second)));
    while (!all_wait()) std::this_thread::yield();
  }
  void end(Runtime& rt) {
    for (auto& task : tasks_) task.abort();
    for (auto& task : tasks_) EXPECT_THROW(rt.block_on(std::move(task)), JoinError);
  }

 private:
  static bool all_wait() {
    const std::string text = sight::dump().text();
    std::size_t found = 0;
    for (std::size_t at = text.find("descriptor"); at != std::string::npos;
         at = text.find("descriptor", at + 1)) {
      ++found;
    }
    return found == 3;
  }

  net::TcpListener listener_;
  net::TcpListener peer_;  // which accepts nobody
  net::TcpStream stream_;
  Pipe pipe_;
  std::vector<JoinHandle<void>> tasks_;
};

TEST(FaultySight, WhatADescriptorIsMayBeUnknown) {
  Runtime rt;
  Waiting waiting(rt);
  for (const std::string_view call : {"getsockname", "getpeername", "getsockopt", "readlink"}) {
    for (const int error : errors_of_call(call)) {
      const Injection injection(Fault(call, error).always());
      const std::string text = sight::dump().text();
      EXPECT_THAT(text, HasSubstr("accept_for_ever"));
      EXPECT_THAT(text, HasSubstr("descriptor"));
      add_row(call, name_of_error(error), "dump", injection.hits(), "a descriptor without a name");
    }
  }
  waiting.end(rt);
}

TEST(FaultySight, WithoutMemoryItSaysHowManyItLeavesOut) {
  Runtime rt;
  Waiting waiting(rt);
  for (const int error : errors_of_call("mmap")) {
    const Injection injection(Fault("mmap", error).always());
    EXPECT_THAT(sight::dump().text(), HasSubstr("of them are not shown"));
    add_row("mmap", name_of_error(error), "dump", injection.hits(), "how many are left out");
  }
  for (const int error : errors_of_call("mmap")) {
    const Injection injection(Fault("mmap", error));  // the first, which is large
    EXPECT_THAT(sight::dump().text(), HasSubstr("accept_for_ever"));
    add_row("mmap", name_of_error(error), "dump", injection.hits(), "less memory will do");
  }
  waiting.end(rt);
}

Async<void> lock_twice(sync::Mutex<int>& lock) {
  const auto one = co_await lock.lock();
  const auto other = co_await lock.lock();
}

/// What may be a deadlock is looked at again in other pages than those of the dump.
TEST(FaultySight, WithoutMemoryToBeCertainNoDeadlockIsTold) {
  sync::Mutex<int> lock;
  Runtime rt;
  auto task = rt.spawn(lock_twice, std::ref(lock));
  while (sight::find_stuck().empty()) std::this_thread::yield();
  for (const int error : errors_of_call("mmap")) {
    const Injection injection(Fault("mmap", error).after(1));
    EXPECT_THAT(sight::find_stuck(), ::testing::IsEmpty());
    EXPECT_EQ(injection.hits(), 1);
    add_row("mmap", name_of_error(error), "find_stuck", injection.hits(), "no deadlock is told");
  }
  EXPECT_EQ(sight::find_stuck().size(), 1);
  task.abort();
}

TEST(FaultySight, WithoutAFenceThePoolIsNotSeen) {
  Runtime rt;
  Waiting waiting(rt);
  for (const int error : errors_of_call("membarrier")) {
    const Injection injection(Fault("membarrier", error).always());
    EXPECT_THAT(sight::dump().text(), HasSubstr("no membarrier(2)"));
    add_row("membarrier", name_of_error(error), "dump", injection.hits(), "the pool is not seen");
  }
  waiting.end(rt);
}

TEST(FaultySight, AnErrorOfTheOutputIsTold) {
  Runtime rt;
  Waiting waiting(rt);
  std::FILE* const file = std::tmpfile();
  for (const int error : errors_of_call("write")) {
    const Injection injection(Fault("write", error));
    const Result<void> dumped = sight::dump_to(::fileno(file));
    const bool is_tried_again = error == EINTR || error == EAGAIN;
    EXPECT_EQ(dumped.has_value(), is_tried_again) << name_of_error(error);
    add_row("write", name_of_error(error), "dump_to", injection.hits(),
            is_tried_again ? "tried again" : "the error");
  }
  std::fclose(file);
  waiting.end(rt);
}

/// The descriptor is used as it is, if there can be no copy of it that does not block.
TEST(FaultySight, WhatMustNotBlockIsWrittenWithoutAFreeDescriptor) {
  Runtime rt;
  Waiting waiting(rt);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  char bytes[65536];
  const auto dumped = [&] {
    EXPECT_TRUE(sight::dump_without_blocking(ends[1], sight::Format::text));
    const ssize_t count = ::read(ends[0], bytes, sizeof bytes);
    return std::string(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
  };
  for (const std::string_view call : {"fcntl(F_GETFL)", "fstat", "open"}) {
    for (const int error : errors_of_call(call)) {
      const Injection injection(error == EINTR ? Fault(call, error) : Fault(call, error).always());
      EXPECT_THAT(dumped(), HasSubstr("accept_for_ever")) << call << ' ' << name_of_error(error);
      add_row(call, name_of_error(error), "dump at a signal", injection.hits(),
              error == EINTR ? "called again" : "written with a look before");
    }
  }
  ::close(ends[0]);
  ::close(ends[1]);
  waiting.end(rt);
}

// --- Threads that are asked what they poll. ---

/// A worker in a long poll, and a Sight.
class Spinning {
 public:
  Spinning() {
    while (!has_begun_.load()) std::this_thread::yield();
  }
  void end() {
    is_over_ = true;
    rt_.block_on(std::move(task_));
  }
  static std::string dumped() {
    return sight::dump(sight::DumpOptions().patience(std::chrono::milliseconds(1))).text();
  }
  /// Beside others that want the CPU, a thread may not answer in time.
  static std::string dumped_when_answered() {
    for (;;) {
      std::string text = dumped();
      if (text.find("stack:") != text.npos) return text;
    }
  }

 private:
  static Async<void> spin(std::atomic<bool>* has_begun, const std::atomic<bool>* is_over) {
    *has_begun = true;
    while (!is_over->load()) {
    }
    co_return;
  }

  sight::Sight sight_ = sight::start(sight::Options());
  Runtime rt_;
  std::atomic<bool> has_begun_ = false;
  std::atomic<bool> is_over_ = false;
  JoinHandle<void> task_ = rt_.spawn(spin, &has_begun_, &is_over_);
};

/// Lets the call fail with each error, always or, if it is tried again then, once.
template <class Check>
void try_all(std::string_view call, std::string_view outcome, Check check) {
  for (const int error : errors_of_call(call)) {
    const bool is_retried = error == EINTR && call != "close";
    const Injection injection(is_retried ? Fault(call, error) : Fault(call, error).always());
    check(call == "tgkill" ? Spinning::dumped() : Spinning::dumped_when_answered(), is_retried);
    add_row(call, name_of_error(error), "dump of a long poll", injection.hits(),
            is_retried ? "called again" : outcome);
  }
}

TEST(FaultySight, ALongPollIsToldWithWhatThereIs) {
  Spinning spinning;
  for (const std::string_view call : {"open", "read"}) {
    try_all(call, "nobody knows what its thread does", [](const auto& text, bool is_retried) {
      EXPECT_THAT(text, HasSubstr("spin"));
      const auto unknown = HasSubstr("nobody knows what its thread does");
      EXPECT_EQ(::testing::Value(text, unknown), !is_retried) << text;
    });
  }
  try_all("close", "closed anyway", [](const auto& text, bool) {
    EXPECT_THAT(text, HasSubstr("spin"));
    EXPECT_THAT(text, HasSubstr("stack:"));
  });
  try_all("tgkill", "the task without its awaits", [](const auto& text, bool) {
    EXPECT_THAT(text, HasSubstr("running"));
    EXPECT_THAT(text, Not(HasSubstr("spin")));
  });
  try_all("process_vm_readv", "the stack without the awaits", [](const auto& text, bool) {
    EXPECT_THAT(text, HasSubstr("stack:"));
    EXPECT_THAT(text, Not(HasSubstr("at ../")));
  });
  spinning.end();
}

TEST(FaultySight, ASignalThatCannotBeCaughtIsReported) {
  for (long which : {0, 1}) {
    const Injection injection(Fault("sigaction", EINVAL).after(which));
    EXPECT_THROW((void)sight::start(sight::Options().sample_signal(SIGRTMIN + 11)),
                 std::system_error);
    add_row("sigaction", "EINVAL", "sight::start", injection.hits(), "the error");
  }
}

}  // namespace
}  // namespace rouse::faulty
