#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <exception>
#include <future>
#include <latch>
#include <utility>

#include "rows.hpp"
#include "runtime.hpp"
#include "support/measure.hpp"
#include "support/wake_latency.hpp"

namespace {

using Signal = asio::experimental::concurrent_channel<Executor, void(error_code)>;

Awaitable<long> return_one() { co_return 1; }

Awaitable<long> spawn_and_await(long n) {
  const Executor executor = co_await asio::this_coro::executor;
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    const auto [error, value] =
        co_await asio::co_spawn(executor, return_one(), asio::as_tuple(deferred));
    sum += value;
  }
  co_return sum;
}

/// The completion handlers count down by what the tasks return.
Awaitable<> spawn_batch_of(long n, std::latch& sum) {
  const Executor executor = co_await asio::this_coro::executor;
  for (long i = 0; i < n; ++i) {
    asio::co_spawn(executor, return_one(),
                   [&sum](std::exception_ptr, long value) { sum.count_down(value); });
  }
}

Awaitable<> yield_often(long n, std::latch& done) {
  for (long i = 0; i < n; ++i) co_await asio::post(deferred);
  done.count_down();
}
Awaitable<> spawn_yielding(long tasks, long n, std::latch& done) {
  const Executor executor = co_await asio::this_coro::executor;
  for (long i = 0; i < tasks; ++i) {
    asio::co_spawn(executor, yield_often(n, done), asio::detached);
  }
}

Awaitable<> wait_for_ever(Signal& never, std::latch& started) {
  started.count_down();
  co_await never.async_receive(deferred);
}
Awaitable<> spawn_idle(long tasks, Signal& never, std::latch& started) {
  const Executor executor = co_await asio::this_coro::executor;
  for (long i = 0; i < tasks; ++i) {
    asio::co_spawn(executor, wait_for_ever(never, started), asio::detached);
    if (i % 64 == 0) co_await asio::post(deferred);  // what grows is their memory, not a queue
  }
}

Awaitable<> note_wakes(long n, Signal& signal, bench::WakeLatency& latency) {
  for (long i = 0; i < n; ++i) {
    co_await signal.async_receive(deferred);
    latency.note();
  }
}

Awaitable<> do_nothing() { co_return; }

}  // namespace

Values spawn_await(unsigned workers, long n) {
  Runtime runtime(workers);
  return {bench::mean_ns(n, [&] { bench::check(runtime.block_on(spawn_and_await(n)) == n); })};
}

Values spawn_batch(unsigned workers, long n) {
  Runtime runtime(workers);
  return {bench::mean_ns(n, [&] {
    std::latch sum(n);
    runtime.block_on(spawn_batch_of(n, sum));
    sum.wait();
  })};
}

Values yield(unsigned workers, long n) {
  constexpr long tasks = 1000;
  Runtime runtime(workers);
  return {bench::mean_ns(tasks * n, [&] {
    std::latch done(tasks);
    runtime.block_on(spawn_yielding(tasks, n, done));
    done.wait();
  })};
}

Values idle_task_bytes(unsigned workers, long n) {
  Runtime runtime(workers);
  Signal never(runtime.executor());
  std::latch started(n);
  const long before = bench::resident_bytes();
  runtime.block_on(spawn_idle(n, never, started));
  started.wait();
  return {static_cast<double>(bench::resident_bytes() - before) / static_cast<double>(n)};
}

Values wake_latency(unsigned workers, long n) {
  Runtime runtime(workers);
  Signal signal(runtime.executor(), 1);
  bench::WakeLatency latency;
  std::future<void> done =
      asio::co_spawn(runtime.executor(), note_wakes(n, signal, latency), asio::use_future);
  Values values = latency.measure(n, [&] { signal.try_send(error_code()); });
  done.get();
  return values;
}

Values start_stop(unsigned workers, long n) {
  return {bench::mean_ns(n,
                         [&] {
                           for (long i = 0; i < n; ++i) Runtime(workers).block_on(do_nothing());
                         }) /
          1e3};
}
