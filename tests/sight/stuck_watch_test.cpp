// The watch for stuck tasks: each finding is told, once.
#include "sight/stuck_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"

namespace rouse::sight {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Async<void> lock_it_twice(sync::Mutex<int>& lock) {
  const auto one = co_await lock.lock();
  const auto other = co_await lock.lock();
}

/// A watch whose reports are kept.
class WatchedForStuck {
 public:
  WatchedForStuck()
      : sight_(start(Options().stuck(1ms).on_stuck([this](const Stuck& stuck) { keep(stuck); }))) {}

  struct Told {
    Stuck::Kind kind;
    std::vector<TaskId> tasks;
    std::string text;
  };
  /// Waits for this many; gives all that there are.
  std::vector<Told> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return told_.size() >= count; }));
    return told_;
  }

 private:
  void keep(const Stuck& stuck) {
    const std::scoped_lock lock(mutex_);
    told_.push_back({stuck.kind, stuck.tasks, stuck.text});
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Told> told_;
  Sight sight_;  // last: its thread calls keep
};

TEST(StuckWatch, TellsEachDeadlockOnce) {
  sync::Mutex<int> first;
  sync::Mutex<int> second;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  WatchedForStuck watched;
  auto one = rt.spawn(lock_it_twice, std::ref(first));
  const auto told = watched.wait_for(1);
  EXPECT_EQ(told[0].kind, Stuck::Kind::deadlock);
  EXPECT_THAT(told[0].tasks, ElementsAre(one.id()));
  EXPECT_THAT(told[0].text, HasSubstr("waits for itself"));
  // The look that finds the second one sees the first one again.
  auto other = rt.spawn(lock_it_twice, std::ref(second));
  const auto both = watched.wait_for(2);
  ASSERT_EQ(both.size(), 2);
  EXPECT_THAT(both[1].tasks, ElementsAre(other.id()));
  one.abort();
  other.abort();
}

Async<void> forget_the_waker() {
  co_await poll_fn([](Context&) -> Poll<void> { return pending; });
}

TEST(StuckWatch, TellsATaskThatNobodyCanWake) {
  LocalExecutor executor;
  WatchedForStuck watched;
  auto task = executor.spawn(forget_the_waker);
  std::vector<WatchedForStuck::Told> told;
  sync::Notify is_told;
  std::thread waiter([&] {
    told = watched.wait_for(1);
    is_told.notify_one();
  });
  executor.run_until(is_told.notified());  // it sleeps there, and is asked
  waiter.join();
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0].kind, Stuck::Kind::forgotten);
  EXPECT_THAT(told[0].tasks, ElementsAre(task.id()));
}

/// What is written to standard error comes here, as long as this lives.
class TakesStderr {
 public:
  TakesStderr() : before_(::dup(2)) {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_EQ(::dup2(ends_[1], 2), 2);
  }
  TakesStderr(const TakesStderr&) = delete;
  TakesStderr& operator=(const TakesStderr&) = delete;
  ~TakesStderr() {
    ::dup2(before_, 2);
    for (const int fd : {before_, ends_[0], ends_[1]}) ::close(fd);
  }
  /// Reads until it has read that.
  std::string read_until(const std::string& end) const {
    std::string text;
    while (text.find(end) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = ::read(ends_[0], bytes, sizeof bytes);
      if (count <= 0) break;
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int before_;
  int ends_[2] = {};
};

TEST(StuckWatch, WithoutAHookStandardErrorHasIt) {
  sync::Mutex<int> lock;
  const TakesStderr taken;
  Runtime rt = Runtime::builder().worker_threads(1).build();
  auto task = rt.spawn(lock_it_twice, std::ref(lock));
  const Sight sight = start(Options().stuck(1ms));
  EXPECT_THAT(taken.read_until("waits for itself"), StartsWith("rouse: can't go on: DEADLOCK 1"));
  task.abort();
}

}  // namespace
}  // namespace rouse::sight
