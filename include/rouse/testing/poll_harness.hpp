// PollHarness: polls a future by hand, and checks that it obeys the contract.
//
//   PollHarness h(gate.wait());
//   assert(h.poll().is_pending() && h.kept_waker());   // pending, and somebody will wake it
//   gate.open();
//   assert(h.is_woken() && h.poll().is_ready());
//
// One thread polls; the wakes may come from any.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/testing/counting_waker.hpp"

namespace rouse::testing {

template <Future F>
class PollHarness {
 public:
  explicit PollHarness(F future) : future_(std::move(future)) { waker_.emplace(); }
  PollHarness(const PollHarness&) = delete;
  PollHarness& operator=(const PollHarness&) = delete;

  /// Polls once, woken or not. Throws what the future throws.
  Poll<output_t<F>> poll() {
    ++polls_;
    kept_waker_ = false;
    wakes_seen_ = waker_->count();
    Context cx(waker_->waker());
    auto polled = future_.poll(cx);
    kept_waker_ = waker_->clones() != 0 || is_woken();
    return polled;
  }

  /// Polls repeatedly, woken or not, at most `max` times. Pending if that was not enough.
  Poll<output_t<F>> poll_until_ready(std::size_t max) {
    ROUSE_ASSERT(max > 0, "poll_until_ready(0) can't poll: allow at least one poll");
    while (--max > 0) {
      if (auto polled = poll(); polled.is_ready()) return polled;
    }
    return poll();
  }

  /// Whether the waker of the latest poll was woken since that poll began.
  [[nodiscard]] bool is_woken() const noexcept { return waker_->count() != wakes_seen_; }

  /// Whether the latest poll stored a clone of its waker somewhere, or woke it. A future that
  /// returned pending and did neither would never be polled again by an executor.
  [[nodiscard]] bool kept_waker() const noexcept { return kept_waker_; }

  /// How often it was polled so far.
  [[nodiscard]] std::size_t polls() const noexcept { return polls_; }

  /// The next poll uses another waker, as when a future moves to another task. The future must then
  /// store the new one: `is_woken` and `kept_waker` refer to the new one only.
  void change_waker() {
    waker_.emplace();
    wakes_seen_ = 0;
    kept_waker_ = false;
  }

  /// The waker of the next poll.
  [[nodiscard]] const CountingWaker& waker() const noexcept { return *waker_; }
  /// What is polled.
  [[nodiscard]] F& future() noexcept { return future_; }

 private:
  std::optional<CountingWaker> waker_;
  F future_;  // destroyed first
  std::size_t polls_ = 0;
  std::size_t wakes_seen_ = 0;
  bool kept_waker_ = false;
};

}  // namespace rouse::testing
