// OwnedCall: the future behind `spawn(fn, args...)`. It owns the function, its captures and its
// arguments, as a std thread does, and calls the function at its first poll, on the executor. What
// the coroutine borrows from them (a lambda's captures, a `const T&`) lives as long as the task.
#pragma once

#include <concepts>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/future.hpp"

namespace rouse::internal {

/// Whether calling a kept Fn with kept Args gives a future.
template <class Fn, class... Args>
struct CallGivesFuture : std::false_type {};
template <class Fn, class... Args>
  requires std::invocable<Fn&, Args&&...>
struct CallGivesFuture<Fn, Args...>
    : std::bool_constant<Future<std::remove_cvref_t<std::invoke_result_t<Fn&, Args&&...>>>> {};

template <class Fn, class... Args>
class OwnedCall {
  using Called = std::remove_cvref_t<std::invoke_result_t<Fn&, Args&&...>>;

 public:
  using Output = output_t<Called>;

  template <class G, class... As>
  explicit OwnedCall(G&& fn, As&&... args)
      : fn_(std::forward<G>(fn)), args_(std::in_place, std::forward<As>(args)...) {}
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;
  ~OwnedCall() {
    if (called_) future_.~Called();
  }

  [[gnu::always_inline]] Poll<Output> poll(Context& cx) {
    if (!called_) [[unlikely]]
      call();
    return future_.poll(cx);
  }

  /// See Async::frame.
  const Frame* frame() const noexcept {
    if constexpr (is_async<Called>) {
      if (called_) return future_.frame();
    }
    return nullptr;
  }
  /// Where the coroutine begins, or is: for messages about it.
  std::source_location origin() const noexcept {
    if constexpr (is_async<Called>) {
      if (called_) return future_.where();
    }
    return {};
  }

 private:
  [[gnu::noinline]] void call() {
    args_.give_to([this](Args&&... args) {
      new (&future_) Called(internal::invoke(fn_, static_cast<Args&&>(args)...));
    });
    called_ = true;
  }

  [[no_unique_address]] Fn fn_;
  [[no_unique_address]] Pack<Args...> args_;
  bool called_ = false;
  union {
    Called future_;
  };
};

}  // namespace rouse::internal
