// OwnedCall: the future behind `spawn(fn, args...)`. It owns the function, its captures and its
// arguments, as a std thread does, and calls the function at its first poll, on the executor. What
// the coroutine borrows from them (a lambda's captures, a `const T&`) lives as long as the task.
// Where it can borrow nothing, the future takes their place.
#pragma once

#include <concepts>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/construct.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/base/internal/pack.hpp"
#include "rouse/base/shape.hpp"
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

/// Whether a call leaves nothing that its future may refer to: of a function whose parameters are
/// made of what is kept, of the same types, and are not references.
template <class Fn, class... Args>
inline constexpr bool is_used_up_by_call = false;
template <class R, bool no_throw, class... Args>
inline constexpr bool is_used_up_by_call<R (*)(Args...) noexcept(no_throw), Args...> =
    std::is_nothrow_move_constructible_v<std::remove_cvref_t<R>>;

template <class Fn, class... Args>
struct KeptCall {
  template <class G, class... As>
  explicit KeptCall(G&& of, As&&... with)
      : fn(std::forward<G>(of)), args(std::in_place, std::forward<As>(with)...) {}
  decltype(auto) operator()() {
    return args.give_to([this](Args&&... with) -> decltype(auto) {
      return internal::invoke(fn, static_cast<Args&&>(with)...);
    });
  }
  [[no_unique_address]] Fn fn;
  [[no_unique_address]] Pack<Args...> args;
};

/// The call, and then the future in its place.
template <class Call, class Called, bool in_one_place>
struct CallAndFuture {
  template <class... Args>
  explicit CallAndFuture(std::in_place_t, Args&&... args) : call(std::forward<Args>(args)...) {}
  ~CallAndFuture() {}
  void make_future() {
    Called made = call();
    internal::destroy(&call);
    internal::construct(&future, std::move(made));
  }
  void drop(bool was_called) noexcept {
    if (was_called) {
      internal::destroy(&future);
    } else {
      internal::destroy(&call);
    }
  }
  ROUSE_SHAPE(CallAndFuture, nullptr, one, &CallAndFuture::future)
  union {
    Call call;
    Called future;
  };
};
/// The call, and then the future beside it.
template <class Call, class Called>
struct CallAndFuture<Call, Called, false> {
  template <class... Args>
  explicit CallAndFuture(std::in_place_t, Args&&... args) : call(std::forward<Args>(args)...) {}
  ~CallAndFuture() {}
  void make_future() { new (&future) Called(call()); }
  void drop(bool was_called) noexcept {
    if (was_called) internal::destroy(&future);
  }
  ROUSE_SHAPE(CallAndFuture, nullptr, one, &CallAndFuture::future)
  [[no_unique_address]] Call call;
  union {
    Called future;
  };
};

/// For a Task, whose header knows whether it was called: it says so to `drop`, which comes before
/// the destructor.
template <class Fn, class... Args>
class OwnedCall {
  using Call = KeptCall<Fn, Args...>;
  using Called = std::remove_cvref_t<std::invoke_result_t<Fn&, Args&&...>>;
  static constexpr bool in_one_place = is_used_up_by_call<Fn, Args...>;

 public:
  using Output = output_t<Called>;
  static constexpr bool begins_as_call = true;

  template <class G, class... As>
  explicit OwnedCall(G&& fn, As&&... args)
      : kept_(std::in_place, std::forward<G>(fn), std::forward<As>(args)...) {}
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;

  /// Before the first poll.
  [[gnu::noinline]] void call() { kept_.make_future(); }
  void drop(bool was_called) noexcept { kept_.drop(was_called); }

  // --- Once it was called. ---

  [[gnu::always_inline]] Poll<Output> poll(Context& cx) { return kept_.future.poll(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(OwnedCall, nullptr, one, &OwnedCall::kept_)
  /// See Async::frame.
  const Frame* frame() const noexcept {
    if constexpr (is_async<Called>) return kept_.future.frame();
    return nullptr;
  }
  /// Where the coroutine begins, or is: for messages about it.
  std::source_location origin() const noexcept {
    if constexpr (is_async<Called>) return kept_.future.where();
    return {};
  }

 private:
  CallAndFuture<Call, Called, in_one_place> kept_;
};

}  // namespace rouse::internal
