// Outcome<T>: how a computation ended: not yet, a value, or an exception. Coroutines, tasks and
// combinators keep their results in it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/core/poll.hpp"

namespace rouse {

/// Stands for void where a type is needed: void children of join and select.
struct Unit {
  constexpr Unit() noexcept = default;
  friend constexpr bool operator==(Unit, Unit) noexcept = default;
};

/// `Unit` for void, a pointer for a reference, else T itself.
template <class T>
using stored_t =
    std::conditional_t<std::is_void_v<T>, Unit,
                       std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>>;

enum class OutcomeState : std::uint8_t { none, value, error };

/// The value or the exception, without the mark that says which: whoever has room for one byte
/// elsewhere (a coroutine frame) keeps it there. Trivial to make and destroy.
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
      std::construct_at(&value, std::addressof(args)...);
    } else {
      std::construct_at(&value, std::forward<Args>(args)...);
    }
    return OutcomeState::value;
  }
  OutcomeState set_error(std::exception_ptr thrown) noexcept {
    std::construct_at(&error, std::move(thrown));
    return OutcomeState::error;
  }
  /// The value, moved out; or throws the exception. The cell stays as set as it was.
  T take(OutcomeState state) {
    if (state != OutcomeState::value) [[unlikely]]
      rethrow(state);
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(*value);
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(value);
    }
  }
  OutcomeState clear(OutcomeState state) noexcept {
    if (state == OutcomeState::value) std::destroy_at(&value);
    if (state == OutcomeState::error) std::destroy_at(&error);
    return OutcomeState::none;
  }
  [[noreturn, gnu::noinline, gnu::cold]] void rethrow(OutcomeState state) {
    ROUSE_ASSERT(state == OutcomeState::error, "the result is not there yet");
    std::rethrow_exception(error);
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
      std::construct_at(&cell_.value, std::move(other.cell_.value));
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

/// Polls `future` once and keeps what came of it, an exception too. True once there is something.
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
    outcome.set_error(std::current_exception());
  }
  return true;
}

}  // namespace rouse
