// Function<R(Args...)>: an owned callable, for hooks. It converts from a function, a lambda or a
// std::function. Copies share what they call. std::function would do, but its header makes the
// compiler read the hash tables and algorithms of the standard library.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/ref_ptr.hpp"

namespace rouse {

/// Anything that can be called with such arguments and gives such a result: see above.
template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  /// Empty: not to be called.
  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}
  /// Stores `fn`. Empty for a null pointer or an empty std::function.
  template <class Fn>
    requires(!std::same_as<std::remove_cvref_t<Fn>, Function> &&
             std::is_invocable_r_v<R, std::decay_t<Fn>&, Args...>)
  Function(Fn&& fn) {
    if (!empty(fn)) held_ = make_ref<Holder<std::decay_t<Fn>>>(std::forward<Fn>(fn));
  }

  /// Whether there is something to call.
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(held_); }
  /// Calls it. Must not be empty.
  R operator()(Args... args) const {
    ROUSE_ASSERT(held_, "call of an empty Function: ask `if (function)` first");
    return held_->call(static_cast<Args&&>(args)...);
  }

 private:
  class Held : public RefCounted<Held> {
   public:
    Held() noexcept = default;
    virtual ~Held() = default;
    virtual R call(Args&&... args) = 0;
  };
  template <class Fn>
  class Holder final : public Held {
   public:
    explicit Holder(const Fn& fn) : fn_(fn) {}
    explicit Holder(Fn&& fn) : fn_(std::move(fn)) {}
    R call(Args&&... args) override {
      if constexpr (std::is_void_v<R>) {
        internal::invoke(fn_, static_cast<Args&&>(args)...);
      } else {
        return internal::invoke(fn_, static_cast<Args&&>(args)...);
      }
    }

   private:
    Fn fn_;
  };

  /// Null pointers, and functions that know that they are empty.
  template <class Fn>
  static bool empty(const Fn& fn) noexcept {
    if constexpr (std::is_pointer_v<Fn> || std::is_member_pointer_v<Fn>) {
      return fn == nullptr;
    } else if constexpr (requires { fn.operator bool(); }) {
      return !static_cast<bool>(fn);
    } else {
      return false;
    }
  }

  RefPtr<Held> held_;
};

}  // namespace rouse
