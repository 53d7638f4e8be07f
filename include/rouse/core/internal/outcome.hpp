// Outcome<T>: how a computation ended: not yet, a value, or an exception. Coroutines, tasks and
// combinators store their results in it.
#pragma once

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/core/unit.hpp"

namespace rouse::internal {

enum class OutcomeState : std::uint8_t { none, value, error };

/// Constructs the exception that is handled now: in a handler, that of every coroutine.
ROUSE_API void store_current_exception(std::exception_ptr& uninitialized) noexcept;
/// For a result that is an exception, or is not there.
[[noreturn]] ROUSE_API void rethrow_outcome(OutcomeState state, const std::exception_ptr& error);

/// The value or the exception, without the tag that says which: an owner with a spare byte
/// elsewhere (a coroutine frame) stores it there. Trivial to create and destroy.
template <class T>
union OutcomeCell {
  using Stored = stored_t<T>;

  OutcomeCell() noexcept {}
  OutcomeCell(const OutcomeCell&) = delete;
  OutcomeCell& operator=(const OutcomeCell&) = delete;
  ~OutcomeCell() {}

  template <class... Args>
  OutcomeState set_value(Args&&... args) {
    if constexpr (std::is_reference_v<T>) {
      internal::construct(&value, internal::address_of(args)...);
    } else {
      internal::construct_handed_on(&value, std::forward<Args>(args)...);
    }
    return OutcomeState::value;
  }
  OutcomeState set_error(std::exception_ptr thrown) noexcept {
    internal::construct(&error, std::move(thrown));
    return OutcomeState::error;
  }
  OutcomeState set_current_exception() noexcept {
    store_current_exception(error);
    return OutcomeState::error;
  }
  /// The value, moved out; or throws the exception. The cell stays as set as it was.
  T take(OutcomeState state) {
    if (state != OutcomeState::value) [[unlikely]]
      rethrow_outcome(state, error);
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(*value);
    } else if constexpr (!std::is_void_v<T>) {
      return internal::hand_on(std::move(value));
    }
  }
  OutcomeState clear(OutcomeState state) noexcept {
    if (state == OutcomeState::value) internal::destroy(&value);
    if (state == OutcomeState::error) internal::destroy(&error);
    return OutcomeState::none;
  }

  Stored value;
  std::exception_ptr error;
};

template <class T>
class Outcome {
 public:
  Outcome() noexcept = default;
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;
  Outcome(Outcome&& other) noexcept(std::is_nothrow_move_constructible_v<stored_t<T>>) {
    if (other.state_ == OutcomeState::value) {
      internal::construct(&cell_.value, std::move(other.cell_.value));
    } else if (other.state_ == OutcomeState::error) {
      cell_.set_error(std::move(other.cell_.error));
    }
    state_ = other.state_;
  }
  ~Outcome() { cell_.clear(state_); }

  bool is_set() const noexcept { return state_ != OutcomeState::none; }
  bool is_error() const noexcept { return state_ == OutcomeState::error; }

  /// Not to be set twice.
  template <class... Args>
  void set_value(Args&&... args) {
    state_ = cell_.set_value(std::forward<Args>(args)...);
  }
  void set_error(std::exception_ptr error) noexcept { state_ = cell_.set_error(std::move(error)); }
  void set_current_exception() noexcept { state_ = cell_.set_current_exception(); }

  /// The value, moved out; or throws the exception. Leaves the outcome set.
  T take() { return cell_.take(state_); }

  const std::exception_ptr& error() const noexcept { return cell_.error; }
  stored_t<T>& stored() noexcept { return cell_.value; }

  void reset() noexcept { state_ = cell_.clear(state_); }

 private:
  OutcomeCell<T> cell_;
  OutcomeState state_ = OutcomeState::none;
};

/// The value as a ready Poll; or throws the exception.
template <class T>
Poll<T> take_ready(Outcome<T>& outcome) {
  if constexpr (std::is_void_v<T>) {
    outcome.take();
    return Poll<T>::ready();
  } else {
    return Poll<T>::ready(outcome.take());
  }
}

/// Polls `future` once and stores its outcome, even an exception. True once there is one.
template <class F, class T>
bool poll_into(Outcome<T>& outcome, F& future, auto& cx) {
  try {
    auto poll = future.poll(cx);
    if (poll.is_pending()) return false;
    if constexpr (std::is_void_v<T>) {
      outcome.set_value();
    } else {
      outcome.set_value(std::move(poll).value());
    }
  } catch (...) {
    outcome.reset();
    outcome.set_current_exception();
  }
  return true;
}

}  // namespace rouse::internal
