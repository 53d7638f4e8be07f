// All workers are stuck, each in its own way: a dump answers all the same, and names the lines.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <latch>
#include <malloc.h>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sync/notify.hpp"

#include "sight/seen.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::let_run;
using rouse::test::runtime_with;
using rouse::test::see_idle;
using rouse::test::see_when;
using rouse::test::Seen;
using rouse::test::source_line;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::size_t workers = 3;

Async<void> wait_meanwhile(sync::Notify& told) {
  co_await told.notified();  // not stuck
}

/// What a thread does that is wedged. Which call it is in the system may hide.
template <class Doing>
void expect_it_runs(const rouse::test::Json& group, const Doing& doing, const std::string& call) {
  EXPECT_EQ(group["state"].string(), "running");
  const rouse::test::Json& running = group["running"];
  EXPECT_THAT(running["doing"].string(), doing);
  EXPECT_GT(running["stack"].items().size(), 0U);
  if (running.has("system_call")) {
    EXPECT_EQ(running["system_call"].string(), call);
  }
}

/// Wedges all workers with `wedge`, which returns once `free()` was called.
template <class Wedge, class Free, class Doing>
void expect_a_dump_in_time(Wedge wedge, Free free, const Doing& doing, const std::string& call) {
  const sight::Sight sight = sight::start(sight::Options());
  sync::Notify told;
  Runtime runtime = runtime_with(workers);
  const TaskId other = let_run(runtime.spawn(borrowed(wait_meanwhile(told))));
  see_idle({other});
  std::latch all_began(workers);
  auto sticks = [&]() -> Async<void> {  // wedged
    all_began.count_down();
    wedge();
    co_return;
  };
  std::vector<TaskId> stuck;
  for (std::size_t i = 0; i < workers; ++i) {
    stuck.push_back(let_run(task::Builder().name("stuck").spawn_on(runtime.spawner(), sticks)));
  }
  all_began.wait();
  const TaskId behind = let_run(runtime.spawn(borrowed(wait_meanwhile(told))));
  std::thread([&] {
    for (int round = 0; round < 2; ++round) {
      const auto start = std::chrono::steady_clock::now();
      const sight::Report report = sight::dump();
      EXPECT_LT(std::chrono::steady_clock::now() - start, rouse::test::bound);
      const Seen seen(report);
      // Where a task is spawned with a call, all are one group.
      const rouse::test::Json& group = seen.task(stuck[0]);
      expect_it_runs(group, doing, call);
      EXPECT_THAT(source_line(group["waits"]["at"][0]), HasSubstr("// wedged"));
      EXPECT_EQ(group["name"].string(), "stuck");
      EXPECT_EQ(group["count"].number(), workers);
      for (const TaskId id : stuck) EXPECT_EQ(seen.find(id), &group);
      EXPECT_THAT(seen.text(), HasSubstr("\"stuck\"  running"));
      EXPECT_EQ(seen.state_of(other), "idle");
      EXPECT_THAT(source_line(seen.task(other)["waits"]["at"][0]), HasSubstr("// not stuck"));
      EXPECT_EQ(seen.state_of(behind), "queued");
    }
  }).join();
  free();
  see_when([&](const Seen& seen) { return seen.find(stuck[0]) == nullptr; });
  see_idle({behind});
  told.notify_waiters();
  see_when([](const Seen& seen) { return seen.json()["tasks"].number() == 0; });
}

TEST(Wedged, InALoop) {
  std::atomic<bool> go_on = false;
  expect_a_dump_in_time(
      [&] {
        // Thread sanitizer delivers signals in calls only.
        while (!go_on.load(std::memory_order_relaxed)) {
          if (rouse::test::thread_sanitizer) ::usleep(1);
        }
      },
      [&] { go_on = true; }, AnyOf("computing", "without_cpu", "blocked"), "clock_nanosleep");
}

TEST(Wedged, InAReadOfAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  expect_a_dump_in_time(
      [&] {
        char byte = 0;
        EXPECT_EQ(::read(ends[0], &byte, 1), 0);
      },
      [&] { ::close(ends[1]); }, "blocked", "read");
  ::close(ends[0]);
}

TEST(Wedged, InAMutex) {
  std::mutex mutex;
  mutex.lock();
  expect_a_dump_in_time([&] { const std::lock_guard lock(mutex); }, [&] { mutex.unlock(); },
                        "blocked", "futex");
}

/// malloc_stats holds it while it writes, and nobody reads what it writes.
[[noreturn]] void wedge_with_mallocs_lock(int dumps_to) {
  std::array<int, 2> full{};
  if (::pipe2(full.data(), O_NONBLOCK) != 0) ::_exit(1);
  char bytes[4096] = {};
  while (::write(full[1], bytes, sizeof bytes) > 0) {
  }
  while (::write(full[1], bytes, 1) > 0) {
  }
  ::fcntl(full[1], F_SETFL, 0);
  const sight::Sight sight = sight::start(sight::Options().dump_on_signal(SIGUSR2, dumps_to));
  const Runtime runtime = runtime_with(1);
  ::dup2(full[1], 2);
  let_run(runtime.spawn([]() -> Async<void> {  // holds the lock
    ::malloc_stats();
    co_return;
  }));
  if (::write(dumps_to, "ready\n", 6) != 6) ::_exit(1);
  for (;;) ::pause();
}

/// What there is until the last line of a dump's stack; empty: nothing in time.
std::string read_for(int fd, std::chrono::milliseconds time) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + time;
  while (text.find("stack:") == std::string::npos || !text.ends_with("\n")) {
    const auto left = end - std::chrono::steady_clock::now();
    pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    if (ms <= 0 || ::poll(&watched, 1, static_cast<int>(ms)) <= 0) break;
    char bytes[4096];
    const ssize_t count = ::read(fd, bytes, sizeof bytes);
    if (count <= 0) break;
    text.append(bytes, static_cast<std::size_t>(count));
  }
  return text;
}

TEST(Wedged, WithTheLockOfMallocHeld) {
  if (rouse::test::sanitized) GTEST_SKIP() << "its malloc is another one";
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) wedge_with_mallocs_lock(ends[1]);
  char ready[6];
  EXPECT_EQ(::read(ends[0], ready, sizeof ready), 6);
  // The task gets there some time: then each dump says so.
  std::string text;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (text.find("blocked") == std::string::npos && std::chrono::steady_clock::now() < end) {
    ::kill(child, SIGUSR2);
    text = read_for(ends[0], 1s);
  }
  EXPECT_THAT(text, HasSubstr("blocked"));
  EXPECT_THAT(text, HasSubstr("wedged_test.cpp"));
  EXPECT_THAT(text, HasSubstr("malloc_stats"));
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  ::close(ends[0]);
  ::close(ends[1]);
}

/// A current-thread runtime that is stuck hides its own tasks only, but the one that it polls.
TEST(Wedged, AThreadBesideOthers) {
  const sight::Sight sight = sight::start(sight::Options());
  sync::Notify told;
  std::latch began(1);
  std::atomic<bool> go_on = false;
  Runtime stuck = Runtime::builder().current_thread().build();
  const Runtime runtime = runtime_with(1);
  const TaskId other = let_run(runtime.spawn(borrowed(wait_meanwhile(told))));
  std::thread owner([&] {
    stuck.block_on([](auto& start, auto& end) -> Async<void> {  // stuck
      start.count_down();
      while (!end.load()) std::this_thread::yield();
      co_return;
    }(began, go_on));  // stuck: GCC names this line
  });
  began.wait();
  see_idle({other});
  const auto start = std::chrono::steady_clock::now();
  const Seen seen(sight::dump());
  EXPECT_LT(std::chrono::steady_clock::now() - start, rouse::test::bound);
  EXPECT_EQ(seen.state_of(other), "idle");
  EXPECT_THAT(seen.text(), HasSubstr("not seen: "));
  const std::vector<const rouse::test::Json*> running = seen.at("// stuck");
  EXPECT_EQ(running.size(), 1U) << seen.text();
  for (const auto* task : running) EXPECT_EQ((*task)["state"].string(), "running");
  go_on = true;
  owner.join();
  told.notify_waiters();
  see_when([&](const Seen& now) { return now.find(other) == nullptr; });
}

/// The patience of a dump is for all of them, not for each.
TEST(Wedged, ManyThreadsOfTheirOwn) {
  constexpr std::size_t count = 16;
  constexpr auto patience = 500ms;
  std::latch all_began(count);
  std::atomic<bool> go_on = false;
  std::vector<std::thread> owners;
  for (std::size_t i = 0; i < count; ++i) {
    owners.emplace_back([&] {
      auto sticks = [&]() -> Async<void> {
        all_began.count_down();
        while (!go_on.load()) std::this_thread::sleep_for(1ms);
        co_return;
      };
      LocalExecutor executor;
      executor.run_until(sticks());
    });
  }
  all_began.wait();
  const auto start = std::chrono::steady_clock::now();
  const std::string text = sight::dump(sight::DumpOptions().patience(patience)).text();
  EXPECT_LT(std::chrono::steady_clock::now() - start, count * patience);
  EXPECT_THAT(text, HasSubstr("not seen: "));
  go_on = true;
  for (std::thread& owner : owners) owner.join();
}

}  // namespace
