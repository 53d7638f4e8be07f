// One thread serves all sleeps: it keeps them in a heap, the earliest deadline on top, sleeps until
// that one and wakes whoever waits for it. Sleeps come in any order and end in the order of time.
// This is the smallest timer that needs no thread per sleep; rouse's own is a timer wheel.
// After the "heap timer" of the texts that rouse began from.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>

#include "support/scale.hpp"

namespace {

using TimePoint = Scale::Clock::time_point;

class HeapTimer {
 public:
  struct Entry {
    explicit Entry(TimePoint at) : deadline(at) {}
    const TimePoint deadline;
    bool over = false;  // this and the waker: under the timer's lock
    rouse::Waker waker;
  };

  void insert(std::shared_ptr<Entry> entry) {
    const std::lock_guard lock(mutex_);
    heap_.push_back(std::move(entry));
    std::push_heap(heap_.begin(), heap_.end(), later);
    changed_.notify_one();
  }
  bool poll(Entry& entry, rouse::Context& cx) {
    const std::lock_guard lock(mutex_);
    if (!entry.over) rouse::keep_waker(entry.waker, cx);
    return entry.over;
  }
  void forget(Entry& entry) {
    rouse::Waker dropped_without_lock;
    const std::lock_guard lock(mutex_);
    dropped_without_lock = std::exchange(entry.waker, {});
  }

 private:
  static bool later(const std::shared_ptr<Entry>& a, const std::shared_ptr<Entry>& b) {
    return a->deadline > b->deadline;
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.wait(lock, stop, [this] { return !heap_.empty(); });
      if (heap_.empty()) return;
      const TimePoint deadline = heap_.front()->deadline;
      if (Scale::Clock::now() < deadline) {
        const auto earlier_one_came = [&] { return heap_.front()->deadline < deadline; };
        changed_.wait_until(lock, stop, deadline, earlier_one_came);
        continue;
      }
      std::pop_heap(heap_.begin(), heap_.end(), later);
      rouse::Waker waker = std::exchange(heap_.back()->waker, {});
      heap_.back()->over = true;
      heap_.pop_back();
      lock.unlock();
      if (waker) std::move(waker).wake();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::shared_ptr<Entry>> heap_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

/// Ready at the deadline. Dropped before, it leaves an entry in the heap that wakes nobody.
class SleepUntil {
 public:
  using Output = void;

  SleepUntil(std::shared_ptr<HeapTimer> timer, TimePoint deadline)
      : timer_(std::move(timer)), entry_(std::make_shared<HeapTimer::Entry>(deadline)) {
    timer_->insert(entry_);
  }
  SleepUntil(SleepUntil&&) = default;
  ~SleepUntil() {
    if (timer_) timer_->forget(*entry_);
  }
  rouse::Poll<void> poll(rouse::Context& cx) {
    return timer_->poll(*entry_, cx) ? rouse::Poll<void>::ready() : rouse::pending;
  }

 private:
  std::shared_ptr<HeapTimer> timer_;
  std::shared_ptr<HeapTimer::Entry> entry_;
};

rouse::Async<void> report(SleepUntil sleep, int label, Scale scale, TimePoint start) {
  co_await sleep;
  std::printf("%dms: %ldms\n", label, scale.since(start));
}

}  // namespace

int main(int argc, char** argv) {
  const Scale scale(argc, argv);
  const auto timer = std::make_shared<HeapTimer>();
  const TimePoint start = Scale::Clock::now();
  rouse::LocalExecutor executor;
  for (const int ms : {1000, 10, 100}) {
    SleepUntil sleep(timer, start + scale(std::chrono::milliseconds(ms)));
    executor.spawn(report, std::move(sleep), ms, scale, start).detach();
  }
  executor.run();
}
