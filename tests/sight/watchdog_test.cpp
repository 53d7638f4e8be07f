// The watchdog: a poll that takes long is told while it lasts, with the line at which it is.
#include "sight/watchdog.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/metrics.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "sight/out.hpp"
#include "sight/prometheus.hpp"
#include "sight/seen.hpp"

namespace rouse::sight {
namespace {

using namespace std::chrono_literals;
using rouse::test::Json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// What was told of a slow poll.
struct Told {
  TaskId task;
  std::string name;
  std::chrono::nanoseconds duration;
  Doing doing;
  std::string system_call;
  int descriptor;
  std::vector<std::string> lines;  // of source, of its awaits
  std::vector<std::uintptr_t> stack;
  std::string text;
};

std::string source_line_of(const std::source_location& where) {
  return rouse::test::source_line(Json::parse("{\"file\":\"" + std::string(where.file_name()) +
                                              "\",\"line\":" + std::to_string(where.line()) + "}"));
}

/// A watchdog whose reports are kept.
class Watched {
 public:
  explicit Watched(std::chrono::nanoseconds threshold = 10ms)
      : sight_(start(Options().slow_poll(threshold).on_slow_poll(
            [this](const SlowPoll& poll) { keep(poll); }))) {}

  /// Waits for a report of that task at these lines, the innermost first. (The first one may be of
  /// the time before it got there, if the thread had no CPU.)
  Told told_of(TaskId task, const std::vector<std::string>& lines = {}) {
    const auto is_it = [&](const Told& told) {
      if (told.task != task || (!lines.empty() && told.lines.size() != lines.size())) return false;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        if (told.lines[i].find(lines[i]) == std::string::npos) return false;
      }
      return true;
    };
    std::unique_lock lock(mutex_);
    const auto find = [&] { return std::find_if(told_.begin(), told_.end(), is_it); };
    if (changed_.wait_for(lock, 60s, [&] { return find() != told_.end(); })) return *find();
    ADD_FAILURE() << "no such slow poll of task " << task << " was told";
    for (const Told& told : told_) std::fputs(told.text.c_str(), stderr);
    return {};
  }
  std::vector<Told> all() {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  void keep(const SlowPoll& poll) {
    Told told{.task = poll.task,
              .name = poll.name == nullptr ? "" : poll.name,
              .duration = poll.duration,
              .doing = poll.doing,
              .system_call = poll.system_call_name == nullptr ? "" : poll.system_call_name,
              .descriptor = poll.descriptor,
              .lines = {},
              .stack = {poll.stack.begin(), poll.stack.end()},
              .text = poll.text()};
    for (const std::source_location& where : poll.awaits) {
      told.lines.push_back(source_line_of(where));
    }
    const std::lock_guard lock(mutex_);
    told_.push_back(std::move(told));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Told> told_;
  Sight sight_;  // last: it ends first
};

Runtime one_worker() { return Runtime::builder().worker_threads(1).build(); }

/// Ends when it is told. A thread sanitizer delivers a signal only where the program calls
/// something.
void stick_until(const std::atomic<bool>& is_over) {
  while (!is_over.load()) {
    if (rouse::test::sanitized) ::usleep(1);
  }
}

Async<void> stick_inside(const std::atomic<bool>* is_over) {
  co_await yield_now();  // inner
  stick_until(*is_over);
}
Async<void> stick_outside(const std::atomic<bool>* is_over) {
  co_await yield_now();
  co_await stick_inside(is_over);  // outer
}

TEST(Watchdog, NamesTheLineOfASlowPoll) {
  Watched watched;
  Runtime rt = one_worker();
  std::atomic<bool> is_over = false;
  auto task = task::Builder().name("sticky").spawn_on(rt.spawner(), stick_outside, &is_over);
  const Told told = watched.told_of(task.id(), {"// inner", "// outer"});
  is_over = true;
  rt.block_on(std::move(task));
  EXPECT_EQ(told.name, "sticky");
  EXPECT_GE(told.duration, 10ms);
  EXPECT_FALSE(told.stack.empty());
  EXPECT_THAT(told.text, HasSubstr("slow poll: "));
  EXPECT_THAT(told.text, HasSubstr("\"sticky\""));
  EXPECT_THAT(told.text, HasSubstr("stick_inside"));
  if (!rouse::test::sanitized) {  // there it sleeps now and then
    EXPECT_THAT(told.doing, AnyOf(Doing::computing, Doing::without_cpu)) << told.text;
  }
}

TEST(Watchdog, SeesTheCoroutineBeforeItsFirstAwait) {
  Watched watched;
  Runtime rt = one_worker();
  std::atomic<bool> is_over = false;
  auto task = rt.spawn(borrowed([](const std::atomic<bool>& over) -> Async<void> {  // begins here
    stick_until(over);
    co_return;
  }(is_over)));  // begins here: GCC names this line
  (void)watched.told_of(task.id(), {"// begins here"});
  is_over = true;
  rt.block_on(std::move(task));
}

/// Which of its futures it polls is known to the stack only.
TEST(Watchdog, NamesTheAwaitOfACombinator) {
  Watched watched;
  Runtime rt = one_worker();
  std::atomic<bool> is_over = false;
  auto task = rt.spawn(borrowed([](const std::atomic<bool>* over) -> Async<void> {
    co_await timeout(1h, join(sleep(1ms), stick_inside(over)));  // combined
  }(&is_over)));
  (void)watched.told_of(task.id(), {"// combined"});
  is_over = true;
  rt.block_on(std::move(task));
}

/// What is polled is no coroutine, and awaited by one.
TEST(Watchdog, NamesTheAwaitWhoseFutureIsSlow) {
  class Slow {
   public:
    using Output = void;
    explicit Slow(const std::atomic<bool>& is_over) : is_over_(&is_over) {}
    Poll<void> poll(Context&) {
      stick_until(*is_over_);
      return Poll<void>::ready();
    }

   private:
    const std::atomic<bool>* is_over_;
  };
  Watched watched;
  Runtime rt = one_worker();
  std::atomic<bool> is_over = false;
  auto task = rt.spawn(borrowed([](const std::atomic<bool>& over) -> Async<void> {
    co_await yield_now();
    co_await Slow(over);  // slow future
  }(is_over)));
  (void)watched.told_of(task.id(), {"// slow future"});
  is_over = true;
  rt.block_on(std::move(task));
}

TEST(Watchdog, TellsWhichSystemCallBlocks) {
  Watched watched;
  Runtime rt = one_worker();
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  auto task = rt.spawn(borrowed([](int from) -> Async<void> {
    char byte = 0;
    EXPECT_EQ(::read(from, &byte, 1), 0);  // restarted behind the signal
    co_return;
  }(ends[0])));
  const Told told = watched.told_of(task.id());
  ::close(ends[1]);
  rt.block_on(std::move(task));
  EXPECT_EQ(told.doing, Doing::blocked);
  if (told.system_call.empty()) GTEST_SKIP() << "the system hides calls of threads";
  EXPECT_EQ(told.system_call, "read");
  EXPECT_EQ(told.descriptor, ends[0]);
  EXPECT_THAT(told.text, HasSubstr("blocked in read, descriptor " + std::to_string(ends[0])));
  EXPECT_THAT(told.text, HasSubstr("pipe:"));
  ::close(ends[0]);
}

TEST(Watchdog, TellsThatALockBlocks) {
  Watched watched;
  Runtime rt = one_worker();
  std::mutex mutex;
  mutex.lock();
  auto task = rt.spawn(borrowed([](std::mutex* locked) -> Async<void> {
    const std::lock_guard lock(*locked);
    co_return;
  }(&mutex)));
  const Told told = watched.told_of(task.id());
  mutex.unlock();
  rt.block_on(std::move(task));
  EXPECT_EQ(told.doing, Doing::blocked);
  if (!told.system_call.empty()) {
    EXPECT_EQ(told.system_call, "futex");
  }
}

TEST(Watchdog, SeesLocalExecutorsAndCurrentThreadRuntimes) {
  Watched watched;
  std::atomic<bool> is_over = false;
  std::atomic<TaskId> id = 0;
  const auto sticky = [&]() -> Async<void> {
    id = task::id();
    co_await yield_now();
    stick_until(is_over);  // behind the yield
  };
  for (const bool is_runtime : {false, true}) {
    is_over = false;
    id = 0;
    std::thread owner([&] {
      if (is_runtime) {
        Runtime::builder().current_thread().build().block_on(sticky());
      } else {
        LocalExecutor().run_until(sticky());
      }
    });
    while (id == 0) std::this_thread::yield();
    (void)watched.told_of(id, {"yield_now"});
    is_over = true;
    owner.join();
  }
}

TEST(Watchdog, NamesTheTaskOfALocalSetThatRunsBesideARuntime) {
  Watched watched;
  Runtime rt = Runtime::builder().current_thread().build();
  LocalSet set;
  std::atomic<bool> is_over = false;
  std::atomic<TaskId> id = 0;
  std::thread owner([&] {
    set.block_on(rt, [](const std::atomic<bool>& over, std::atomic<TaskId>& own) -> Async<void> {
      own = task::id();
      co_await yield_now();
      stick_until(over);
    }(is_over, id));
  });
  while (id == 0) std::this_thread::yield();
  (void)watched.told_of(id, {"yield_now"});
  is_over = true;
  owner.join();
}

/// The task behind it is slow and is told, and nothing else is.
TEST(Watchdog, BlockInPlaceIsNotSlow) {
  Watched watched;
  Runtime rt = Runtime::builder().worker_threads(1).max_blocking_threads(1).build();
  std::atomic<int> phase = 0;
  std::atomic<bool> is_over = false;
  auto task =
      rt.spawn(borrowed([](std::atomic<int>& now, const std::atomic<bool>& over) -> Async<void> {
        co_await yield_now();
        block_in_place([&] {
          now = 1;
          while (now != 2) std::this_thread::yield();
        });
        stick_until(over);
      }(phase, is_over)));
  while (phase != 1) std::this_thread::yield();
  // Many looks later:
  {
    std::atomic<bool> is_other_over = false;
    std::atomic<TaskId> other = 0;
    std::thread beside([&] {
      LocalExecutor().run_until([](auto& over, auto& id) -> Async<void> {
        id = task::id();
        stick_until(over);
        co_return;
      }(is_other_over, other));
    });
    while (other == 0) std::this_thread::yield();
    (void)watched.told_of(other);
    is_other_over = true;
    beside.join();
  }
  for (const Told& told : watched.all()) EXPECT_NE(told.task, task.id()) << told.text;
  phase = 2;
  (void)watched.told_of(task.id());
  is_over = true;
  rt.block_on(std::move(task));
}

Async<void> work(int rounds) {
  for (int i = 0; i < rounds; ++i) co_await yield_now();
}

TEST(Watchdog, ShortPollsAndSleepersAreNotTold) {
  Watched watched(rouse::test::sanitized ? 5s : 500ms);
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const auto end = std::chrono::steady_clock::now() + (rouse::test::sanitized ? 6s : 1s);
  while (std::chrono::steady_clock::now() < end) {
    rt.block_on(rt.spawn(work, 1000));
    rt.block_on(sleep(1ms));
  }
  EXPECT_TRUE(watched.all().empty()) << watched.all()[0].text;
}

TEST(Watchdog, APlaceIsToldAgainWhenItTakesTwiceAsLong) {
  Watched watched(2ms);
  Runtime rt = one_worker();
  std::atomic<bool> is_over = false;
  auto task = rt.spawn(stick_outside, &is_over);
  while (watched.all().size() < 4) std::this_thread::sleep_for(1ms);
  is_over = true;
  rt.block_on(std::move(task));
  const std::vector<Told> all = watched.all();
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i].duration, 2 * all[i - 1].duration);
  }
}

TEST(Watchdog, KeepsTheLastSlowPolls) {
  Watched watched;
  Runtime rt = one_worker();
  std::atomic<bool> is_over = false;
  auto sticky = [](const std::atomic<bool>* over) -> Async<void> {
    co_await yield_now();  // kept
    stick_until(*over);
  };
  auto task = task::Builder().name("kept \"one\"").spawn_on(rt.spawner(), sticky, &is_over);
  (void)watched.told_of(task.id(), {"// kept"});
  std::string text;
  Out out(text);
  write_slow_polls(out);
  is_over = true;
  const TaskId id = task.id();
  rt.block_on(std::move(task));
  const Json all = Json::parse(text);
  ASSERT_FALSE(all.items().empty());
  EXPECT_LE(all.items().size(), SlowPolls::most_kept);
  const Json& last = all.items().back();
  EXPECT_EQ(last["task"].number(), id);
  EXPECT_EQ(last["name"].string(), "kept \"one\"");
  EXPECT_GE(last["duration_ns"].number(), 10'000'000U);
  EXPECT_THAT(rouse::test::source_line(last["at"][0]), HasSubstr("// kept"));
  EXPECT_FALSE(last["stack"].items().empty());
  std::uint64_t polls_there = 0;
  slow_polls().for_each_place([&](const SlowPlace& place) {
    const bool is_it = source_line_of(place.where).find("// kept") != std::string::npos;
    polls_there += is_it ? place.polls : 0;
  });
  EXPECT_EQ(polls_there, 1U);
  const test::Prometheus figures(metrics_text());
  EXPECT_GE(figures.sum("rouse_slow_polls_total"), 1);
  EXPECT_GE(figures.sum("rouse_slow_poll_longest_seconds"), 0.01);
}

TEST(Watchdog, ASignalThatTheProgramUsesIsRefused) {
  const int number = SIGRTMIN + 9;
  ::signal(number, [](int) {});
  try {
    (void)start(Options().sample_signal(number));
    ADD_FAILURE() << "it was taken from the program";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::device_or_resource_busy);
    EXPECT_THAT(error.what(), HasSubstr("sample_signal"));
  }
  ::signal(number, SIG_DFL);
  EXPECT_THROW((void)start(Options().sample_signal(SIGKILL)), std::system_error);
}

}  // namespace
}  // namespace rouse::sight
