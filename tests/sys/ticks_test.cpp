// The clock of ticks, beside the monotonic clock.
#include "sys/ticks.hpp"

#include <gtest/gtest.h>

#include "sys/clock.hpp"

namespace rouse::sys {
namespace {

TEST(Ticks, AreWorthWhatTheMonotonicClockSays) {
  prepare_ticks();
  const std::uint64_t before = monotonic_ns();
  const std::uint64_t begin = ticks();
  const std::uint64_t begun = monotonic_ns();
  while (monotonic_ns() - begun < 20'000'000) {
  }
  const std::uint64_t at_least = monotonic_ns() - begun;
  const std::uint64_t end = ticks();
  const std::uint64_t at_most = monotonic_ns() - before;
  const std::uint64_t measured = ns_between(begin, end);
  EXPECT_GE(measured, at_least - at_least / 100);
  EXPECT_LE(measured, at_most + at_most / 100);
}

TEST(Ticks, ATimeThatGoesBackIsNone) {
  prepare_ticks();
  EXPECT_EQ(ns_between(2, 1), 0U);
  EXPECT_EQ(ns_between(2, 2), 0U);
}

}  // namespace
}  // namespace rouse::sys
