// Timers of several threads, which create, poll, reset and drop each other's sleeps in random order
// while each fires its own and the clock goes on. What each sleep does is checked against what is
// known about it: it is never early, is not woken without a reason, and is woken once time is up.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/time/sleep.hpp"

#include "time/timers.hpp"

namespace rouse::time {

using namespace internal;
namespace {

using namespace std::chrono_literals;

/// Who waits for a sleep: counts the wakes.
struct Waiter : RefCounted<Waiter> {
  void wake() { ++wakes; }
  std::atomic<int> wakes{0};
};

/// A sleep that belongs to one thread at a time, and what is known about it.
class Sleeper {
 public:
  Sleeper() : waiter_(make_ref<Waiter>()) {}
  ~Sleeper() { drop(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  bool is_asleep() const { return sleep_.has_value(); }
  /// Whether it was woken since it said that it would be.
  bool is_woken() const { return !waits_ || waiter_->wakes > wakes_before_; }

  void start(Nanoseconds duration) { sleep_.emplace(add(now(), duration)); }
  /// True: it has ended.
  bool poll(const Clock& clock) {
    const Waker waker = make_waker(waiter_);
    Context cx(waker);
    wakes_before_ = waiter_->wakes;
    ++reasons_;
    if (sleep_->poll(cx).is_pending()) {
      waits_ = true;
      return false;
    }
    EXPECT_LE(sleep_->deadline(), clock.now()) << "early";
    drop();
    return true;
  }
  void reset(Nanoseconds duration) {
    if (sleep_->is_elapsed()) waits_ = false;  // has to be polled again
    ++reasons_;
    sleep_->reset(add(now(), duration));
  }
  void drop() {
    sleep_.reset();
    waits_ = false;
    EXPECT_LE(waiter_->wakes, reasons_);
  }

 private:
  RefPtr<Waiter> waiter_;
  std::optional<Sleep> sleep_;
  bool waits_ = false;
  int wakes_before_ = 0;
  int reasons_ = 0;  // polls and resets: each leads to one wake at most
};

/// Sleepers that no thread has at the moment.
class Exchange {
 public:
  std::unique_ptr<Sleeper> take(std::uint64_t random) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < 1000) return std::make_unique<Sleeper>();
    std::swap(waiting_[random % waiting_.size()], waiting_.back());
    auto taken = std::move(waiting_.back());
    waiting_.pop_back();
    return taken;
  }
  void give(std::unique_ptr<Sleeper> sleeper) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(sleeper));
  }
  std::vector<std::unique_ptr<Sleeper>> take_all() { return std::move(waiting_); }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Sleeper>> waiting_;
};

class Worker {
 public:
  Worker(Clock& clock, Exchange& exchange, std::uint64_t seed)
      : clock_(clock),
        exchange_(exchange),
        timers_(acquire_timers(clock.now())),
        context_(timers_, clock, true),
        random_(seed) {}
  ~Worker() { release_timers(timers_); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run(int operations, bool moves_clock) {
    enter();
    for (int i = 0; i < operations; ++i) {
      if (i % 16 == 0) timers_.fire_due(clock_);
      if (moves_clock && i % 8 == 0) clock_.jump(add(clock_.now(), 1ms * (random_() % 3)));
      auto sleeper = exchange_.take(random_());
      operate(*sleeper);
      if (random_() % 64 != 0) exchange_.give(std::move(sleeper));
    }
    leave();
  }
  /// Lets this thread's sleeps go to these timers.
  void enter() { TimeContext::exchange_current(&context_); }
  static void leave() { TimeContext::exchange_current(nullptr); }
  /// Afterwards nothing that is due is left.
  void fire_all() {
    while (timers_.next() <= clock_.now()) timers_.fire_due(clock_);
  }
  std::size_t fired() const { return ended_; }

 private:
  void operate(Sleeper& sleeper) {
    if (!sleeper.is_asleep()) {
      sleeper.start(duration());
      ended_ += sleeper.poll(clock_) ? 1U : 0U;
      return;
    }
    switch (random_() % 8) {
      case 0:
        return sleeper.reset(duration());
      case 1:
        return sleeper.drop();
      default:
        ended_ += sleeper.poll(clock_) ? 1U : 0U;
    }
  }
  Nanoseconds duration() { return Nanoseconds(random_() % (1U << (random_() % 32))); }

  Clock& clock_;
  Exchange& exchange_;
  Timers& timers_;
  TimeContext context_;
  std::mt19937_64 random_;
  std::size_t ended_ = 0;
};

/// ROUSE_STRESS=1 makes it ten million operations.
TEST(TimersOfManyThreads, KeepTheirPromisesWhileSleepsMoveBetweenThem) {
  const bool stress = std::getenv("ROUSE_STRESS") != nullptr;
  constexpr std::size_t thread_count = 4;
  const int operations = (stress ? 10'000'000 : 200'000) / static_cast<int>(thread_count);
  Clock clock;
  clock.pause();
  Exchange exchange;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint64_t i = 0; i < thread_count; ++i) {
    workers.push_back(std::make_unique<Worker>(clock, exchange, i + 1));
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] { workers[i]->run(operations, i == 0); });
  }
  for (std::thread& thread : threads) thread.join();

  std::size_t ended = 0;
  clock.jump(add(clock.now(), 1h));
  for (auto& worker : workers) {
    worker->fire_all();
    ended += worker->fired();
  }
  EXPECT_GT(ended, 1000U);

  // Time is up for all that are left.
  workers[0]->enter();
  for (auto& sleeper : exchange.take_all()) {
    if (!sleeper->is_asleep()) continue;
    EXPECT_TRUE(sleeper->is_woken());
    if (sleeper->poll(clock)) continue;
    workers[0]->fire_all();  // it was in no wheel: it had been reset after it had fired
    EXPECT_TRUE(sleeper->poll(clock)) << "late";
  }
  Worker::leave();
}

}  // namespace
}  // namespace rouse::time
