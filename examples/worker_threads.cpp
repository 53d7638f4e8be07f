// Several worker threads poll tasks from one global queue. A pending task is known only to its
// waker: whoever makes its event happen puts it back on the queue, and the next free worker polls
// it, often another one than before. Written on Future, Context and Waker alone; rouse's own thread
// pool steals work instead of sharing one queue. After the text on executors and wakers that rouse
// began from.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <rouse/core/any_future.hpp>
#include <rouse/core/waker.hpp>

#include "support/scale.hpp"
#include "support/sleep.hpp"

using rouse::RefPtr;

namespace {

class Task;

struct GlobalQueue {
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::deque<RefPtr<Task>> woken;
  int unfinished = 0;
};

class Task : public rouse::RefCounted<Task> {
 public:
  Task(std::shared_ptr<GlobalQueue> queue, rouse::AnyFuture<void> future)
      : queue_(std::move(queue)), future_(std::move(future)) {}

  /// The waker calls this, on any thread.
  void wake() {
    if (queued_.exchange(true)) return;
    const std::lock_guard lock(queue_->mutex);
    queue_->woken.push_back(RefPtr<Task>::share(this));
    queue_->changed.notify_one();
  }

  /// A worker calls this. True: the task is done.
  bool poll() {
    const std::lock_guard lock(polling_);  // woken during a poll, it may be on two workers at once
    queued_.exchange(false);
    if (!future_) return false;
    const rouse::Waker waker = rouse::make_waker(RefPtr<Task>::share(this));
    rouse::Context cx(waker);
    if (future_->poll(cx).is_pending()) return false;
    future_.reset();
    return true;
  }

 private:
  const std::shared_ptr<GlobalQueue> queue_;
  std::atomic<bool> queued_{true};
  std::mutex polling_;  // guards future_
  std::optional<rouse::AnyFuture<void>> future_;
};

thread_local int worker_number = -1;

void work(GlobalQueue& queue, int number) {
  worker_number = number;
  std::unique_lock lock(queue.mutex);
  for (;;) {
    queue.changed.wait(lock, [&] { return !queue.woken.empty() || queue.unfinished == 0; });
    if (queue.woken.empty()) return;
    RefPtr<Task> task = std::move(queue.woken.front());
    queue.woken.pop_front();
    lock.unlock();
    const bool done = task->poll();
    task = nullptr;  // not under the lock: it may be the last owner
    lock.lock();
    if (done && --queue.unfinished == 0) queue.changed.notify_all();
  }
}

/// A function, because a coroutine that goes on elsewhere might keep a thread_local's old address.
[[gnu::noinline]] int current_worker() { return worker_number; }

rouse::Async<void> wait_a_second(int number, Scale scale) {
  const int before = current_worker();
  co_await Sleep(scale(std::chrono::seconds(1)));
  std::printf("task %d: began on worker %d, ended on worker %d\n", number, before,
              current_worker());
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int workers = 3;
  constexpr int tasks = 6;
  const Scale scale(argc, argv);
  const auto start = Scale::Clock::now();
  const auto queue = std::make_shared<GlobalQueue>();
  for (int i = 1; i <= tasks; ++i) {
    queue->woken.push_back(rouse::make_ref<Task>(queue, wait_a_second(i, scale)));
    ++queue->unfinished;
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i <= workers; ++i) threads.emplace_back(work, std::ref(*queue), i);
  }
  std::printf("%d tasks on %d workers waited 1000ms each: %ldms\n", tasks, workers,
              scale.since(start));
}
