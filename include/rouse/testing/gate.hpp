// Gate<T>: a future that a test opens by hand, from any thread.
//
//   Gate<int> gate;
//   auto wait = gate.wait();   // pending ...
//   gate.open(7);              // ... until here; then ready with 7
//
// The gate closes again when a waiter takes the value, and can then be opened again. One waiter at
// a time. The waiter borrows the gate, which must outlive it and every call of `open`: join the
// opening thread before the gate is destroyed.
#pragma once

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"

namespace rouse::testing {

template <class T = void>
class Gate {
 public:
  Gate() noexcept = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Ready when the gate is open: takes the value and closes the gate.
  /// Cancel safety: dropping it loses nothing: the gate is unchanged, and stores no waker.
  class [[nodiscard("a future does nothing until it is polled")]] Wait {
   public:
    using Output = T;
    explicit Wait(Gate& gate) noexcept : gate_(&gate) {}
    Wait(Wait&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), waits_(std::exchange(other.waits_, false)) {}
    Wait& operator=(Wait&&) = delete;
    ~Wait() {
      if (waits_) gate_->waiter_.take();
    }

    Poll<T> poll(Context& cx) {
      ROUSE_ASSERT(gate_, "poll() of a Gate::Wait that was moved from or was ready before");
      gate_->polls_.fetch_add(1, memory_order_relaxed);
      waits_ = true;
      gate_->waiter_.register_waker(cx.waker());
      if (!gate_->is_open()) return pending;
      gate_->waiter_.take();
      waits_ = false;
      return std::exchange(gate_, nullptr)->take();
    }
    /// For a dump: see base/shape.hpp.
    ROUSE_SHAPE(Wait, "Gate", notify, &Wait::gate_)

   private:
    Gate* gate_;
    bool waits_ = false;
  };

  [[nodiscard]] Wait wait() noexcept { return Wait(*this); }

  /// Opens the gate with a value (none for void) and wakes the waiter.
  template <class... Args>
  void open(Args&&... value) {
    ROUSE_ASSERT(!is_open(), "Gate::open of an open gate: nobody has taken the first value yet");
    outcome_.set_value(std::forward<Args>(value)...);
    swing_open();
  }
  /// Opens the gate with an exception: the waiter's poll throws it.
  void fail(std::exception_ptr error) {
    ROUSE_ASSERT(!is_open(), "Gate::fail of an open gate: nobody has taken the first value yet");
    outcome_.set_error(std::move(error));
    swing_open();
  }

  /// ORDER: acquire; sees the value that `open` stored.
  [[nodiscard]] bool is_open() const noexcept { return open_.load(memory_order_acquire); }

  /// How often its waiters were polled so far.
  [[nodiscard]] std::size_t polls() const noexcept { return polls_.load(memory_order_relaxed); }

 private:
  void swing_open() {
    open_.store(true, memory_order_release);  // ORDER: release; publishes the outcome.
    waiter_.wake();
  }
  Poll<T> take() {
    internal::Outcome<T> taken(std::move(outcome_));
    outcome_.reset();
    open_.store(false, memory_order_release);  // ORDER: release; `open` may fill it again.
    return internal::take_ready(taken);
  }

  atomic<bool> open_{false};
  atomic<std::size_t> polls_{0};
  AtomicWaker waiter_;
  internal::Outcome<T> outcome_;
};

}  // namespace rouse::testing
