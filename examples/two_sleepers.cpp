// Two tasks on one thread: while the first sleeps, the second runs. The sleep is a hand-written
// future, like every leaf future: if the event has not happened, it stores the waker and returns
// pending; whoever makes the event happen (here a thread) calls wake(). After "Task, Executor,
// Waker" of the text that rouse began from.
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <rouse/rouse.hpp>

#include "support/scale.hpp"

using namespace std::chrono_literals;

namespace {

// [sleep]
class SleepFuture {
 public:
  using Output = const char*;

  explicit SleepFuture(std::chrono::steady_clock::duration time) : time_(time) {}

  rouse::Poll<const char*> poll(rouse::Context& cx) {
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->asleep) return rouse::Poll<const char*>::ready("wake from sleep!");
    std::puts("...zzz");
    rouse::keep_waker(shared_->waker, cx);
    if (!thread_.joinable()) thread_ = std::jthread(sleep_then_wake, shared_, time_);
    return rouse::pending;
  }

 private:
  struct Shared {
    std::mutex mutex;
    bool asleep = true;
    rouse::Waker waker;
  };

  static void sleep_then_wake(const std::shared_ptr<Shared>& shared,
                              std::chrono::steady_clock::duration time) {
    std::this_thread::sleep_for(time);
    rouse::Waker waker;
    {
      const std::lock_guard lock(shared->mutex);
      shared->asleep = false;
      waker = std::exchange(shared->waker, {});
    }
    std::move(waker).wake();
  }

  std::chrono::steady_clock::duration time_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::jthread thread_;  // joined when the future is destroyed, even if that has to wait
};
// [/sleep]

// A coroutine is a future too: the compiler makes the states Start, Sleeping and End out of this.
rouse::Async<const char*> start_sleep_end(std::chrono::steady_clock::duration time) {
  std::puts("start");
  co_await rouse::yield_now();
  std::puts(co_await SleepFuture(time));
  co_return "end";
}

rouse::Async<void> run_task(std::string name, rouse::AnyFuture<const char*> future) {
  std::puts(co_await future);
  std::printf("Task %s completed!\n", name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Scale scale(argc, argv);
  rouse::LocalExecutor executor;
  executor.spawn(run_task, "sleeper", SleepFuture(scale(3s))).detach();
  executor.spawn(run_task, "start-sleep-end", start_sleep_end(scale(6s))).detach();
  executor.run();  // until no task is left
}
