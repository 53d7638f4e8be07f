#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <cstddef>
#include <latch>
#include <vector>

#include "rows.hpp"
#include "runtime.hpp"
#include "support/measure.hpp"
#include "support/random.hpp"

namespace {

using namespace std::chrono_literals;
using bench::Clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

/// The end of a timer cancels it and queues its handler, which has to run as well.
Awaitable<double> make_and_cancel(long live) {
  constexpr long count = 500'000;
  constexpr long turn = 100;
  const Executor executor = co_await asio::this_coro::executor;
  bench::Random random;
  const Clock::time_point start = Clock::now();
  std::vector<Timer> timers;
  timers.reserve(static_cast<std::size_t>(live));
  for (long i = 0; i < live; ++i) {
    timers.emplace_back(executor, start + random.between(60s, 120s)).async_wait([](error_code) {});
  }
  bench::Repetitions repetitions;
  while (repetitions.next()) {
    for (long i = 0; i < count; ++i) {
      Timer timer(executor, start + random.between(60s, 120s));
      timer.async_wait([](error_code) {});
      timer.cancel();
      if (i % turn == 0) co_await asio::post(deferred);
    }
  }
  co_return repetitions.mean_ns() / count;
}

struct Fired {
  explicit Fired(long count) : left(count) {}
  void note(Clock::duration late) {
    Clock::rep seen = worst.load(std::memory_order_relaxed);
    while (seen < late.count() && !worst.compare_exchange_weak(seen, late.count())) {
    }
    left.count_down();
  }
  std::latch left;
  std::atomic<Clock::rep> worst = 0;
};

Awaitable<> sleep_until(Clock::time_point deadline, Fired& fired) {
  Timer timer(co_await asio::this_coro::executor, deadline);
  co_await timer.async_wait(deferred);
  fired.note(Clock::now() - deadline);
}
Awaitable<> spawn_sleepers(long n, Fired& fired) {
  const Executor executor = co_await asio::this_coro::executor;
  bench::Random random;
  const Clock::time_point start = Clock::now();
  for (long i = 0; i < n; ++i) {
    asio::co_spawn(executor, sleep_until(start + random.between(1500ms, 2500ms), fired),
                   asio::detached);
  }
}

Awaitable<> sleep_long(std::latch& started) {
  Timer timer(co_await asio::this_coro::executor, 1h);
  started.count_down();
  co_await timer.async_wait(deferred);
}
Awaitable<> spawn_sleeping(long n, std::latch& started) {
  const Executor executor = co_await asio::this_coro::executor;
  for (long i = 0; i < n; ++i) {
    asio::co_spawn(executor, sleep_long(started), asio::detached);
    if (i % 64 == 0) co_await asio::post(deferred);  // what grows is their memory, not a queue
  }
}

}  // namespace

Values timer_cancel(unsigned workers, long n) {
  Runtime runtime(workers);
  return {runtime.block_on(make_and_cancel(n))};
}

Values timer_fire(unsigned workers, long n) {
  Runtime runtime(workers);
  Fired fired(n);
  const double before = bench::process_cpu_ns();
  runtime.block_on(spawn_sleepers(n, fired));
  fired.left.wait();
  const double cpu_ns = bench::process_cpu_ns() - before;
  const auto worst = Clock::duration(fired.worst);
  return {cpu_ns / static_cast<double>(n), bench::ns_between({}, Clock::time_point(worst)) / 1e6};
}

Values sleeping_task_bytes(unsigned workers, long n) {
  Runtime runtime(workers);
  std::latch started(n);
  const long before = bench::resident_bytes();
  runtime.block_on(spawn_sleeping(n, started));
  started.wait();
  return {static_cast<double>(bench::resident_bytes() - before) / static_cast<double>(n)};
}
