#include "rows.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <uv.h>
#include <vector>

#include "support/measure.hpp"
#include "support/random.hpp"
#include "support/wake_latency.hpp"

namespace {

using namespace std::chrono_literals;

uv_handle_t* as_handle(auto* handle) { return reinterpret_cast<uv_handle_t*>(handle); }

/// Its end closes all handles.
class Loop {
 public:
  Loop() { bench::check(uv_loop_init(&loop_) == 0); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    const auto close = [](uv_handle_t* handle, void*) {
      if (uv_is_closing(handle) == 0) uv_close(handle, nullptr);
    };
    uv_walk(&loop_, close, nullptr);
    run();
    bench::check(uv_loop_close(&loop_) == 0);
  }

  uv_loop_t* get() { return &loop_; }
  void run(uv_run_mode mode = UV_RUN_DEFAULT) { uv_run(&loop_, mode); }

 private:
  uv_loop_t loop_;
};

std::uint64_t random_ms(bench::Random& random, std::chrono::nanoseconds low,
                        std::chrono::nanoseconds high) {
  using std::chrono::ceil, std::chrono::milliseconds;
  return static_cast<std::uint64_t>(ceil<milliseconds>(random.between(low, high)).count());
}

void start_timer(Loop& loop, uv_timer_t& timer, std::uint64_t after_ms) {
  uv_timer_init(loop.get(), &timer);
  uv_timer_start(&timer, [](uv_timer_t*) {}, after_ms, 0);
}

struct Sleeper {
  uv_timer_t timer;
  std::uint64_t deadline_ns;
  std::uint64_t* worst_ns;
};

void note_lateness(uv_timer_t* timer) {
  const auto& sleeper = *static_cast<Sleeper*>(timer->data);
  const std::uint64_t now = uv_hrtime();
  if (now > sleeper.deadline_ns) {
    *sleeper.worst_ns = std::max(*sleeper.worst_ns, now - sleeper.deadline_ns);
  }
  uv_close(as_handle(timer), nullptr);
}

struct Waiter {
  bench::WakeLatency latency;
  long left;
};

void note_wake(uv_async_t* async) {
  auto& waiter = *static_cast<Waiter*>(async->data);
  waiter.latency.note();
  if (--waiter.left == 0) uv_close(as_handle(async), nullptr);
}

}  // namespace

/// A closed handle can be used again after the next turn of the loop.
Values timer_cancel(unsigned workers, long n) {
  if (workers != 1) return {};
  constexpr long count = 500'000;
  constexpr long turn = 100;
  std::vector<uv_timer_t> live(static_cast<std::size_t>(n));
  std::array<uv_timer_t, turn> timers;
  Loop loop;
  bench::Random random;
  for (uv_timer_t& timer : live) start_timer(loop, timer, random_ms(random, 60s, 120s));
  return {bench::mean_ns(count, [&] {
    for (long i = 0; i < count; i += turn) {
      for (uv_timer_t& timer : timers) {
        start_timer(loop, timer, random_ms(random, 60s, 120s));
        uv_close(as_handle(&timer), nullptr);
      }
      loop.run(UV_RUN_NOWAIT);
    }
  })};
}

Values timer_fire(unsigned workers, long n) {
  if (workers != 1) return {};
  std::uint64_t worst_ns = 0;
  const double before = bench::process_cpu_ns();
  std::vector<Sleeper> sleepers(static_cast<std::size_t>(n));
  {
    Loop loop;
    bench::Random random;
    const std::uint64_t start_ms = uv_now(loop.get());
    const std::uint64_t start_ns = uv_hrtime();
    for (Sleeper& sleeper : sleepers) {
      const auto delay = static_cast<std::uint64_t>(random.between(1500ms, 2500ms).count());
      sleeper.deadline_ns = start_ns + delay;
      sleeper.worst_ns = &worst_ns;
      sleeper.timer.data = &sleeper;
      uv_timer_init(loop.get(), &sleeper.timer);
      const std::uint64_t deadline_ms = (sleeper.deadline_ns + 999'999) / 1'000'000;
      uv_timer_start(&sleeper.timer, note_lateness, deadline_ms - start_ms, 0);
    }
    loop.run();
  }
  const double cpu_ns = bench::process_cpu_ns() - before;
  return {cpu_ns / static_cast<double>(n), static_cast<double>(worst_ns) / 1e6};
}

Values wake_latency(unsigned workers, long n) {
  if (workers != 1) return {};
  Loop loop;
  Waiter waiter{.latency = {}, .left = n};
  uv_async_t async;
  async.data = &waiter;
  uv_async_init(loop.get(), &async, note_wake);
  const std::jthread worker([&] { loop.run(); });
  return waiter.latency.measure(n, [&] { uv_async_send(&async); });
}
