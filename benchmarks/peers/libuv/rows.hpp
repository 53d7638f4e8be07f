// One loop on one thread, and callbacks: libuv has no tasks.
#pragma once

#include <vector>

using Values = std::vector<double>;

// rows.cpp
Values timer_cancel(unsigned workers, long n);
Values timer_fire(unsigned workers, long n);
Values wake_latency(unsigned workers, long n);

// server.cpp
void serve(bool http, unsigned workers);
