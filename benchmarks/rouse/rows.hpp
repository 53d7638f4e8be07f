// The rows of `./dev bench` on rouse. Each runs on a runtime of `workers` workers (0: on the
// current thread) with the size `n`, and gives what tools/bench/rows.py says of it. What a row does
// is the same in every program under benchmarks/peers.
#pragma once

#include <vector>

#include "rouse/runtime/runtime.hpp"

#include "support/programs.hpp"

namespace bench {

using Values = std::vector<double>;

inline rouse::Runtime make_runtime(unsigned workers) {
  if (workers == 0) return rouse::Runtime::builder().current_thread().build();
  return rouse::Runtime::builder().worker_threads(workers).build();
}

// fork_join.cpp
Values fib(unsigned workers, long n);
Values skynet(unsigned workers, long n);
Values nqueens(unsigned workers, long n);
Values matmul(unsigned workers, long n);

// tasks.cpp
Values spawn_await(unsigned workers, long n);
Values spawn_batch(unsigned workers, long n);
Values yield(unsigned workers, long n);
Values yield_watched(unsigned workers, long n);
Values dump(unsigned workers, long n);
Values idle_task_bytes(unsigned workers, long n);
Values start_stop(unsigned workers, long n);

// sync.cpp
Values ping_pong_oneshot(unsigned workers, long n);
Values ping_pong_mpsc(unsigned workers, long n);
Values mpsc_1x1(unsigned workers, long n);
Values mpsc_4x1(unsigned workers, long n);
Values mutex(unsigned workers, long n);
Values wake_latency(unsigned workers, long n);

// timers.cpp
Values timer_cancel(unsigned workers, long n);
Values timer_fire(unsigned workers, long n);
Values sleeping_task_bytes(unsigned workers, long n);

// await.cpp: without a runtime
Values child_await(unsigned workers, long n);
Values ready_await(unsigned workers, long n);
Values pending_poll(unsigned workers, long n);
Values generator_next(unsigned workers, long n);

// serve.cpp
[[noreturn]] void serve(bool with_http, unsigned workers);

}  // namespace bench
