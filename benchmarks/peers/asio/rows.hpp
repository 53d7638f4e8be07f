#pragma once

#include <vector>

using Values = std::vector<double>;

// tasks.cpp
Values spawn_await(unsigned workers, long n);
Values spawn_batch(unsigned workers, long n);
Values yield(unsigned workers, long n);
Values idle_task_bytes(unsigned workers, long n);
Values wake_latency(unsigned workers, long n);
Values start_stop(unsigned workers, long n);

// channels.cpp
Values ping_pong_mpsc(unsigned workers, long n);
Values mpsc_1x1(unsigned workers, long n);
Values mpsc_4x1(unsigned workers, long n);

// timers.cpp
Values timer_cancel(unsigned workers, long n);
Values timer_fire(unsigned workers, long n);
Values sleeping_task_bytes(unsigned workers, long n);

// server.cpp
void serve(bool http, unsigned workers);
