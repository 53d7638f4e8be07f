// What a task costs: spawned and awaited, spawned by the million, yielding, idle; and the runtime
// itself.
#include <atomic>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sight/start.hpp"

#include "rows.hpp"
#include "support/measure.hpp"

namespace bench {
namespace {

using namespace rouse;

Async<int> one() { co_return 1; }

Async<long> spawn_one_by_one(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += co_await spawn(one);
  co_return sum;
}

Async<long> spawn_all(long n) {
  std::vector<JoinHandle<int>> handles;
  handles.reserve(static_cast<std::size_t>(n));
  for (long i = 0; i < n; ++i) handles.push_back(spawn(one));
  long sum = 0;
  for (auto& handle : handles) sum += co_await handle;
  co_return sum;
}

Async<void> yield_times(long n) {
  for (long i = 0; i < n; ++i) co_await yield_now();
}
Async<void> yield_in_tasks(long tasks, long yields) {
  std::vector<JoinHandle<>> handles;
  handles.reserve(static_cast<std::size_t>(tasks));
  for (long i = 0; i < tasks; ++i) handles.push_back(spawn(yield_times, yields));
  for (auto& handle : handles) co_await handle;
}

std::atomic<long> idle_tasks{0};

Async<void> idle() {
  ++idle_tasks;
  co_await pending_forever<void>();
}
/// Lets them run now and then, so that what grows is their memory, not the run queue.
Async<void> spawn_idle(long n) {
  idle_tasks = 0;
  for (long i = 0; i < n; ++i) {
    spawn(idle).detach();
    if (i % 64 == 0) co_await yield_now();
  }
  while (idle_tasks != n) co_await yield_now();
}

}  // namespace

Values spawn_await(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  return {mean_ns(n, [&] { check(rt.block_on(spawn_one_by_one(n)) == n); })};
}

Values spawn_batch(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  return {mean_ns(n, [&] { check(rt.block_on(spawn_all(n)) == n); })};
}

Values yield(unsigned workers, long n) {
  constexpr long tasks = 1000;
  Runtime rt = make_runtime(workers);
  return {mean_ns(tasks * n, [&] { rt.block_on(yield_in_tasks(tasks, n)); })};
}

Values yield_watched(unsigned workers, long n) {
  const sight::Sight sight = sight::start(sight::Options().watch());
  return yield(workers, n);
}

Values dump(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  rt.block_on(spawn_idle(n));
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  check(nowhere >= 0);
  const double ns = mean_ns(1, [&] { check(sight::dump_to(nowhere).has_value()); });
  ::close(nowhere);
  return {ns / 1e6};
}

Values idle_task_bytes(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  const auto before = resident_bytes();
  rt.block_on(spawn_idle(n));
  return {static_cast<double>(resident_bytes() - before) / static_cast<double>(n)};
}

Values start_stop(unsigned workers, long n) {
  const auto run_one = [&] {
    Runtime rt = make_runtime(workers);
    rt.block_on([]() -> Async<void> { co_await spawn(one); }());
  };
  return {mean_ns(n,
                  [&] {
                    for (long i = 0; i < n; ++i) run_one();
                  }) /
          1e3};
}

}  // namespace bench
