// Durations and clocks, without the calendars, time zones and streams of <chrono>: in libstdc++
// they are a header of their own, which <mutex> and <thread> use too.
#pragma once

#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>  // IWYU pragma: export
#else
#include <chrono>  // IWYU pragma: export
#endif
