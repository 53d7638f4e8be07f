// The references: each row written by hand for this one purpose, without a runtime. They say what
// the machine itself can do.
#pragma once

#include <vector>

namespace bench {

using Values = std::vector<double>;

// fork_join.cpp: plain recursive calls.
Values fib(unsigned workers, long n);
Values skynet(unsigned workers, long n);
Values nqueens(unsigned workers, long n);
Values matmul(unsigned workers, long n);

// coroutines.cpp: bare coroutines and a queue of handles, on one thread.
Values spawn_await(unsigned workers, long n);
Values spawn_batch(unsigned workers, long n);
Values yield(unsigned workers, long n);
Values child_await(unsigned workers, long n);

// threads.cpp: what two threads can do with cache lines, a mutex, a futex.
Values ping_pong(unsigned workers, long n);
Values mpsc_1x1(unsigned workers, long n);
Values mutex(unsigned workers, long n);
Values wake_latency(unsigned workers, long n);

}  // namespace bench
