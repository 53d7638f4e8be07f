#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "references/rows.hpp"
#include "support/measure.hpp"

namespace bench {
namespace {

/// Frames of one size that are kept for the next coroutine.
class FreeList {
 public:
  static void* operator new(std::size_t size) { return take(size); }
  static void operator delete(void* frame) { give_back(frame); }

 private:
  [[gnu::noinline]] static void* take(std::size_t size) {
    if (free == nullptr) return ::operator new(size);
    return std::exchange(free, *static_cast<void**>(free));
  }
  [[gnu::noinline]] static void give_back(void* frame) {
    *static_cast<void**>(frame) = std::exchange(free, frame);
  }
  static inline void* free = nullptr;
};

/// Frames from malloc.
class Malloc {};

/// A coroutine with nothing but a parent and a value.
template <class Allocation>
class Bare {
 public:
  class promise_type : public Allocation {
   public:
    Bare get_return_object() {
      return Bare(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        return ended.promise().parent;
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(long returned) { value = returned; }
    void unhandled_exception() { std::terminate(); }

    std::coroutine_handle<> parent = std::noop_coroutine();
    long value = 0;
  };

  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() { handle_.destroy(); }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    handle_.promise().parent = parent;
    return handle_;
  }
  long await_resume() const { return handle_.promise().value; }
  long run() {
    handle_.resume();
    return handle_.promise().value;
  }

 private:
  explicit Bare(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

[[gnu::noinline]] Bare<Malloc> return_one() { co_return 1; }

[[gnu::noinline]] Bare<FreeList> child(long x) { co_return x + 1; }
Bare<FreeList> await_children(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += co_await child(i);
  co_return sum;
}

/// A coroutine that is made suspended, waits in the queue, and is destroyed by who made it.
class Queued {
 public:
  class promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  /// First in, first out, linked through the promises.
  class Queue {
   public:
    void push(Handle handle);
    void run();

   private:
    promise_type* first_ = nullptr;
    promise_type* last_ = nullptr;
  };

  /// Goes to the end of the queue.
  struct Yield {
    bool await_ready() const { return false; }
    void await_suspend(Handle handle) const { queue.push(handle); }
    void await_resume() const {}
    Queue& queue;
  };

  class promise_type {
   public:
    Handle get_return_object() { return Handle::from_promise(*this); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(long returned) { value = returned; }
    void unhandled_exception() { std::terminate(); }

    promise_type* next = nullptr;
    long value = 0;
  };

  Queued(Handle handle) : handle_(handle) {}  // NOLINT: what get_return_object() returns
  Queued(Queued&& from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  Queued& operator=(Queued&&) = delete;
  ~Queued() {
    if (handle_) handle_.destroy();
  }
  Handle handle() const { return handle_; }
  long value() const { return handle_.promise().value; }

 private:
  Handle handle_;
};

void Queued::Queue::push(Handle handle) {
  promise_type& added = handle.promise();
  added.next = nullptr;
  if (first_ == nullptr) {
    first_ = &added;
  } else {
    last_->next = &added;
  }
  last_ = &added;
}

void Queued::Queue::run() {
  while (first_ != nullptr) {
    promise_type& now = *first_;
    first_ = now.next;
    Handle::from_promise(now).resume();
  }
}

[[gnu::noinline]] Queued return_one_queued() { co_return 1; }

[[gnu::noinline]] Queued yield_often(Queued::Queue& queue, long times) {
  for (long i = 0; i < times; ++i) co_await Queued::Yield{queue};
  co_return times;
}

/// Makes `count` coroutines, runs them in turns, adds up what they return and destroys them.
template <class Make>
long run_all(Queued::Queue& queue, long count, const Make& make) {
  std::vector<Queued> tasks;
  tasks.reserve(static_cast<std::size_t>(count));
  for (long i = 0; i < count; ++i) queue.push(tasks.emplace_back(make()).handle());
  queue.run();
  long sum = 0;
  for (const Queued& task : tasks) sum += task.value();
  return sum;
}

}  // namespace

Values spawn_await(unsigned workers, long n) {
  if (workers != 1) return {};
  return {mean_ns(n, [&] {
    long sum = 0;
    for (long i = 0; i < n; ++i) sum += return_one().run();
    check(sum == n);
  })};
}

Values spawn_batch(unsigned workers, long n) {
  if (workers != 1) return {};
  Queued::Queue queue;
  return {mean_ns(n, [&] { check(run_all(queue, n, return_one_queued) == n); })};
}

Values yield(unsigned workers, long n) {
  if (workers != 1) return {};
  constexpr long tasks = 1000;
  Queued::Queue queue;
  const auto make = [&] { return yield_often(queue, n); };
  return {mean_ns(tasks * n, [&] { check(run_all(queue, tasks, make) == tasks * n); })};
}

Values child_await(unsigned workers, long n) {
  if (workers != 1) return {};
  return {mean_ns(n, [&] { check(await_children(n).run() == n * (n + 1) / 2); })};
}

}  // namespace bench
