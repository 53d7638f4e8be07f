// What an await costs: of a child coroutine, of a leaf that is ready, of one that is pending, of a
// generator's next value; and what a wake costs on a deep chain.
#include "rouse/core/async.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include <benchmark/benchmark.h>

#include "rouse/core/async_stream.hpp"

namespace {

using namespace rouse;

/// Ready at once.
class Ready {
 public:
  using Output = int;
  explicit Ready(int value) noexcept : value_(value) {}
  Poll<int> poll(Context&) { return Poll<int>::ready(value_); }

 private:
  int value_;
};

/// Pending once, then ready; wakes nobody: the benchmark polls anyway.
class PendingOnce {
 public:
  using Output = void;
  PendingOnce() noexcept {}
  Poll<void> poll(Context&) {
    if (polled_) return Poll<void>::ready();
    polled_ = true;
    return pending;
  }

 private:
  bool polled_ = false;
};

[[gnu::noinline]] Async<int> child(int x) { co_return x + 1; }

Async<long> await_children(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await child(i);
  co_return sum;
}
Async<long> await_ready_leaves(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += co_await Ready(i);
    benchmark::DoNotOptimize(sum);
  }
  co_return sum;
}
[[gnu::noinline]] AsyncStream<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}
Async<long> read_generator(int n) {
  long sum = 0;
  auto numbers = count(n);
  while (const auto number = co_await numbers.next()) sum += *number;
  co_return sum;
}
Async<void> suspend_for_ever() {
  for (;;) co_await PendingOnce();
}
Async<void> nest(int depth) {
  if (depth == 1) {
    co_await suspend_for_ever();
  } else {
    co_await nest(depth - 1);
  }
}

/// The limit: a coroutine with nothing but a parent and a value, its frame from a free list.
class Bare {
 public:
  class promise_type {
   public:
    static void* operator new(std::size_t size) { return take(size); }
    static void operator delete(void* frame) { give_back(frame); }
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

[[gnu::noinline]] Bare bare_child(int x) { co_return x + 1; }
Bare await_bare_children(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await bare_child(i);
  co_return sum;
}

constexpr int batch = 1000;

void bare_coroutine(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(await_bare_children(batch).run());
  state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(bare_coroutine);

template <class Make>
void poll_to_end(benchmark::State& state, Make make) {
  Context cx(Waker::noop());
  for (auto _ : state) {
    auto future = make(batch);
    benchmark::DoNotOptimize(future.poll(cx).value());
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void child_await(benchmark::State& state) { poll_to_end(state, await_children); }
BENCHMARK(child_await);

void leaf_await_ready(benchmark::State& state) { poll_to_end(state, await_ready_leaves); }
BENCHMARK(leaf_await_ready);

void generator_next(benchmark::State& state) { poll_to_end(state, read_generator); }
BENCHMARK(generator_next);

void leaf_await_pending(benchmark::State& state) {
  Context cx(Waker::noop());
  auto future = suspend_for_ever();
  for (auto _ : state) benchmark::DoNotOptimize(future.poll(cx).is_pending());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(leaf_await_pending);

/// One wake of a task whose coroutines are nested this deep: is to be the same for all.
void wake_of_a_chain(benchmark::State& state) {
  Context cx(Waker::noop());
  auto future = nest(static_cast<int>(state.range(0)));
  benchmark::DoNotOptimize(future.poll(cx).is_pending());
  for (auto _ : state) benchmark::DoNotOptimize(future.poll(cx).is_pending());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(wake_of_a_chain)->Arg(1)->Arg(10)->Arg(1000)->Arg(100000);

}  // namespace
