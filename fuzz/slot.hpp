// Slot<F>: holds a future of a channel or a task, polled by hand once at a time, or none. Token: a
// value that knows how many of its kind are alive, so that one that is lost or doubled is seen.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "input.hpp"

namespace rouse::fuzz {

template <Future F>
class Slot {
 public:
  [[nodiscard]] bool empty() const noexcept { return !future_; }
  /// It was polled, is not ready, and nothing has woken it since.
  [[nodiscard]] bool is_asleep() const noexcept { return is_polled_ && !future_->is_woken(); }
  [[nodiscard]] bool is_pending() const noexcept { return is_polled_; }

  void fill(F future) { future_.emplace(std::move(future)); }
  void drop() noexcept {
    is_polled_ = false;
    future_.reset();
  }
  /// The output if it is ready, and then the slot is empty. Now and then with another waker.
  std::optional<output_t<F>> poll(Input& input) {
    if (input.below(8) == 7) future_->change_waker();
    auto polled = future_->poll();
    is_polled_ = polled.is_pending();
    if (is_polled_) {
      require(future_->kept_waker(), "who is pending has left a waker");
      return std::nullopt;
    }
    std::optional<output_t<F>> output(std::move(polled).value());
    drop();
    return output;
  }

 private:
  std::optional<testing::PollHarness<F>> future_;
  bool is_polled_ = false;
};

/// A future without output as one of true.
template <Future F>
class Told {
 public:
  using Output = bool;
  explicit Told(F future) : future_(std::move(future)) {}
  Poll<bool> poll(Context& cx) {
    return future_.poll(cx).map([] { return true; });
  }

 private:
  F future_;
};

class Token {
 public:
  explicit Token(int id) noexcept : id_(id) { ++alive; }
  Token(const Token& other) noexcept : id_(other.id_) { ++alive; }
  Token(Token&& other) noexcept : id_(std::exchange(other.id_, moved_from)) { ++alive; }
  Token& operator=(Token other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Token() { --alive; }

  /// Of one that has its value still.
  [[nodiscard]] int id() const {
    require(id_ != moved_from, "a value that was moved from is not given to anybody");
    return id_;
  }
  static inline std::size_t alive = 0;

 private:
  static constexpr int moved_from = -1;
  int id_;
};

}  // namespace rouse::fuzz
