// Live: a member of a future that knows whether it may be polled: not once it is done, and not once
// it was moved from.
#pragma once

#include <utility>

namespace rouse::internal {

class Live {
 public:
  constexpr Live() noexcept = default;
  constexpr Live(Live&& other) noexcept : is_live_(std::exchange(other.is_live_, false)) {}
  constexpr Live& operator=(Live&& other) noexcept {
    is_live_ = std::exchange(other.is_live_, false);
    return *this;
  }

  constexpr void end() noexcept { is_live_ = false; }
  constexpr explicit operator bool() const noexcept { return is_live_; }

 private:
  bool is_live_ = true;
};

}  // namespace rouse::internal
