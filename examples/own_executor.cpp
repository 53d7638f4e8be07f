// An executor and a spawner of one's own, on Future, Context and Waker alone. A task is a future
// that can put itself back on the queue; that is all its waker does. The queue holds 10,000 tasks:
// spawn refuses more (try --overflow), so a wake, which must never fail, always finds room. After
// the executor of the Rust async book, one of the texts that rouse began from.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <rouse/core/any_future.hpp>
#include <rouse/core/waker.hpp>

#include "support/scale.hpp"
#include "support/sleep.hpp"

namespace {

class Task;

struct TaskQueue {
  std::mutex mutex;  // guards all below
  std::condition_variable woken;
  std::deque<rouse::RefPtr<Task>> ready;
  std::size_t unfinished = 0;
};

class Task : public rouse::RefCounted<Task> {
 public:
  Task(std::shared_ptr<TaskQueue> queue, rouse::AnyFuture<void> future)
      : queue_(std::move(queue)), future_(std::move(future)) {}

  /// The waker calls this, on any thread. Only the first wake since the last poll queues the task.
  void wake() {
    if (queued_.exchange(true)) return;
    const std::lock_guard lock(queue_->mutex);
    queue_->ready.push_back(rouse::RefPtr<Task>::share(this));
    queue_->woken.notify_one();
  }

  /// The executor calls this. True: the task is done.
  bool poll() {
    queued_.exchange(false);  // a wake from here on means another poll
    if (!future_) return false;
    const rouse::Waker waker = rouse::make_waker(rouse::RefPtr<Task>::share(this));
    rouse::Context cx(waker);
    if (future_->poll(cx).is_pending()) return false;
    future_.reset();
    return true;
  }

 private:
  const std::shared_ptr<TaskQueue> queue_;
  std::atomic<bool> queued_{true};
  std::optional<rouse::AnyFuture<void>> future_;  // none: it is done
};

struct Spawner {
  std::shared_ptr<TaskQueue> queue;
  void spawn(rouse::AnyFuture<void> future) const {
    const std::lock_guard lock(queue->mutex);
    if (queue->unfinished == 10'000)
      throw std::runtime_error("task queue full: 10000 tasks are not done yet");
    queue->ready.push_back(rouse::make_ref<Task>(queue, std::move(future)));
    ++queue->unfinished;
    queue->woken.notify_one();
  }
};

class Executor {
 public:
  ~Executor() {
    std::deque<rouse::RefPtr<Task>> left;  // tasks own the queue too: this ends the circle
    const std::lock_guard lock(queue_->mutex);
    left.swap(queue_->ready);
  }
  Spawner spawner() const { return Spawner{queue_}; }

  /// Polls tasks that were woken until all are done, and sleeps when there are none.
  void run() {
    std::unique_lock lock(queue_->mutex);
    while (queue_->unfinished > 0) {
      queue_->woken.wait(lock, [this] { return !queue_->ready.empty(); });
      rouse::RefPtr<Task> task = std::move(queue_->ready.front());
      queue_->ready.pop_front();
      lock.unlock();
      const bool done = std::exchange(task, nullptr)->poll();
      lock.lock();
      if (done) --queue_->unfinished;
    }
  }

 private:
  const std::shared_ptr<TaskQueue> queue_ = std::make_shared<TaskQueue>();
};

rouse::Async<void> howdy(Scale scale) {
  std::puts("howdy!");
  co_await Sleep(scale(std::chrono::seconds(2)));
  std::puts("done!");
}

}  // namespace

int main(int argc, char** argv) try {
  const bool overflow = argc == 2 && std::string_view(argv[1]) == "--overflow";
  const Scale scale(overflow ? 1 : argc, argv);
  Executor executor;
  const Spawner spawner = executor.spawner();
  for (int i = 0; i < (overflow ? 10'001 : 1); ++i) spawner.spawn(howdy(scale));
  executor.run();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
