// What every public future has to keep, checked on any future that is made over gates:
//   (a) destroyed after its k-th poll, for every k, nothing is left, and old wakers may be called;
//   (b) polls that nobody asked for are tolerated;
//   (c) the waker of the latest poll is the one that is woken;
//   (d) an exception thrown by the k-th poll of any child leaves nothing behind.
// Gates are opened in order, one after each pending poll.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "future/helpers.hpp"

namespace rouse::test {

using Gates = std::vector<Gate<int>>;

/// `make(Gates&)` returns the future.
template <class Make>
class Contracts {
 public:
  Contracts(int gates, Make make) : count_(gates), make_(std::move(make)) {}

  void check() {
    check_dropped_after_every_poll();
    check_spurious_polls();
    check_latest_waker();
    check_exceptions();
  }

 private:
  using F = std::invoke_result_t<Make&, Gates&>;
  static_assert(Future<F>);
  static_assert(!std::is_aggregate_v<F>);
  static_assert(std::move_constructible<F>);

  /// More than any future here needs to end.
  int enough() const { return count_ + 3; }

  void open_next(Gates& gates, int& next) {
    if (next < count_) gates[static_cast<std::size_t>(next)].open(next);
    ++next;
  }

  void expect_nothing_left(Gates& gates) {
    for (Gate<int>& gate : gates) {
      EXPECT_EQ(gate.alive(), 0);
      gate.wake_all_kept();
      gate.open(0);
    }
  }

  void check_dropped_after_every_poll() {
    for (int polls = 0; polls <= enough(); ++polls) {
      SCOPED_TRACE("dropped after poll " + std::to_string(polls));
      Gates gates(static_cast<std::size_t>(count_));
      CountingWaker waker;
      std::optional<F> future(make_(gates));
      int next = 0;
      for (int i = 0; i < polls; ++i) {
        if (future->poll(waker.cx).is_ready()) break;
        open_next(gates, next);
      }
      future.reset();
      expect_nothing_left(gates);
    }
  }

  void check_spurious_polls() {
    Gates gates(static_cast<std::size_t>(count_));
    CountingWaker waker;
    {
      F future = make_(gates);
      bool ready = false;
      for (int next = 0; !ready && next < enough(); open_next(gates, next)) {
        for (int i = 0; !ready && i < 3; ++i) ready = future.poll(waker.cx).is_ready();
      }
      EXPECT_EQ(ready, ends_);
    }
    expect_nothing_left(gates);
  }

  void check_latest_waker() {
    Gates gates(static_cast<std::size_t>(count_));
    {
      F future = make_(gates);
      for (int next = 0; next < count_;) {
        CountingWaker earlier;
        if (future.poll(earlier.cx).is_ready()) break;
        CountingWaker latest;
        if (future.poll(latest.cx).is_ready()) break;
        const int before = latest.wakes();
        const int earlier_before = earlier.wakes();
        open_next(gates, next);
        EXPECT_GT(latest.wakes(), before) << "opening gate " << next - 1;
        EXPECT_EQ(earlier.wakes(), earlier_before);
      }
    }
    expect_nothing_left(gates);
  }

  void check_exceptions() {
    for (int thrower = 0; thrower < count_; ++thrower) {
      for (int at = 1; at <= enough(); ++at) {
        SCOPED_TRACE("gate " + std::to_string(thrower) + " throws at poll " + std::to_string(at));
        Gates gates(static_cast<std::size_t>(count_));
        Gate<int>& gate = gates[static_cast<std::size_t>(thrower)];
        gate.throw_at_poll(at);
        CountingWaker waker;
        bool caught = false;
        {
          F future = make_(gates);
          try {
            for (int next = 0; next < enough(); open_next(gates, next)) {
              if (future.poll(waker.cx).is_ready()) break;
              if (gate.has_thrown()) {
                EXPECT_EQ(gate.alive(), 0);
              }
            }
          } catch (const TestError&) {
            caught = true;
          }
          EXPECT_EQ(caught, gate.has_thrown());
        }
        expect_nothing_left(gates);
      }
    }
  }

  int count_;
  Make make_;

 public:
  bool ends_ = true;
};

template <class Make>
void check_contracts(int gates, Make make) {
  Contracts<Make>(gates, std::move(make)).check();
}

}  // namespace rouse::test
