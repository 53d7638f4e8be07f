// Async<T>: the return type of an async function. It is a lazy coroutine and itself a Future:
// nothing runs before it is polled or awaited, and destroying it cancels it at its await.
//
//   rouse::Async<int> twice(int x) { co_return 2 * x; }
//   rouse::Async<int> four() { co_return co_await twice(2); }
//
// Awaiting a child runs it in the same chain (core/internal/frame.hpp). The frame comes from the
// block pool.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/awaiters.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/frame.hpp"
#include "rouse/core/internal/outcome.hpp"
#if ROUSE_CHECKS_BORROWS
#include "rouse/core/internal/checked_promise.hpp"
#endif

namespace rouse {

template <class T>
class Async;

namespace internal {

/// F, if its size can be asked for.
template <class F>
using FutureOr = std::conditional_t<Future<F>, F, char>;

template <class T>
inline constexpr bool is_async = false;

template <class T>
inline constexpr bool is_async<Async<T>> = true;

/// What all promises share. `AsyncPromise` adds only how the result is returned.
template <class T>
class AsyncPromiseBase : public internal::Frame {
 public:
  explicit AsyncPromiseBase(bool borrows) noexcept : internal::Frame(borrows) {}
  ~AsyncPromiseBase() { result_.clear(result_state_); }

  static void* operator new(std::size_t size) { return internal::allocate_block(size); }
  static void operator delete(void* frame, std::size_t size) noexcept {
    internal::free_block(frame, size);
  }

  Async<T> get_return_object(
      std::source_location where = std::source_location::current()) noexcept {
    set_where(where);
    return Async<T>(static_cast<AsyncPromise<T>*>(this));
  }
  std::suspend_always initial_suspend() noexcept { return {}; }

  FinalAwaiter final_suspend() noexcept { return FinalAwaiter(); }

  void unhandled_exception() noexcept {
    result_.clear(result_state_);  // a destructor may throw after the value was returned
    result_state_ = keep_exception(result_.error);
  }

  template <class Awaited>
  decltype(auto) await_transform(Awaited&& awaited,
                                 std::source_location where = std::source_location::current()) {
    using F = std::remove_reference_t<Awaited>;
    static_assert(!std::is_const_v<F>,
                  "co_await of a const future: polling changes it, so take the const away");
    static_assert(Future<F> || std::is_const_v<F>,
                  "co_await needs a rouse::Future: a type with `using Output = T;` and "
                  "`rouse::Poll<T> poll(rouse::Context&)`, such as rouse::Async<T>");
    static_assert(internal::aggregate_temporaries_are_safe || std::is_lvalue_reference_v<Awaited> ||
                      !std::is_aggregate_v<F> || std::is_trivially_destructible_v<F>,
                  "GCC 12 destroys a temporary aggregate twice in a co_await expression: give this "
                  "future a constructor, or name it in a variable before the await");
    static_assert(!Future<F> || alignof(FutureOr<F>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "compilers misalign an over-aligned future inside a coroutine frame: keep its "
                  "over-aligned part behind a pointer");
    set_where(where);
    if constexpr (is_async<F>) {
      ROUSE_ASSERT(awaited.frame_,
                   "co_await of an Async that was moved from or awaited before: await the one it "
                   "went to, once, and keep its result",
                   where.function_name());
      return AwaiterRef<AsyncAwaiter<output_t<F>>>(awaited);
    } else if constexpr (requires { F::is_its_awaiter; }) {
      return AwaiterRef<F>(awaited);  // exec/parallel.hpp
    } else if constexpr (Future<F>) {
      return FutureAwaiter<F>(awaited, *this);
    } else {
      return std::suspend_never();
    }
  }

  /// The result, or throws what the coroutine threw.
  T take() {
    if (result_state_ != OutcomeState::value) [[unlikely]]
      rethrow_result(result_.error);
    return result_.take(result_state_);
  }

 protected:
  internal::OutcomeCell<T> result_;  // which of the two: Frame::result_state_
};

/// What the compiler makes a coroutine that returns an Async of.
template <class T>
class AsyncPromise : public AsyncPromiseBase<T> {
 public:
  using AsyncPromiseBase<T>::AsyncPromiseBase;

  /// A reference must bind to what outlives the coroutine, not to a temporary.
  template <class U = T>
    requires std::constructible_from<T, U&&> &&
             (!std::is_lvalue_reference_v<T> ||
              (std::is_lvalue_reference_v<U> &&
               std::convertible_to<std::remove_reference_t<U>*, std::remove_reference_t<T>*>))
  void return_value(U&& value) {
    this->result_state_ = this->result_.set_value(std::forward<U>(value));
  }
};

template <>
class AsyncPromise<void> : public AsyncPromiseBase<void> {
 public:
  using AsyncPromiseBase<void>::AsyncPromiseBase;

  void return_void() noexcept { result_state_ = result_.set_value(); }
};

}  // namespace internal

template <class T = void>
class ROUSE_TRIVIAL_ABI [[gnu::warn_unused]] [[nodiscard(
    "an Async does nothing until it is run: write `co_await f()`, `rouse::spawn(f, args...)` or "
    "`rouse::block_on(f())`")]] Async : private internal::AsyncAwaiter<T> {
  using Awaiter = internal::AsyncAwaiter<T>;
  using Awaiter::frame_;

 public:
  using Output = T;

  Async(Async&& other) noexcept : Awaiter(other.release()) {}
  Async& operator=(Async&& other) noexcept {
    drop(std::exchange(frame_, other.release()));  // last: `other` may be inside of this
    return *this;
  }
  [[gnu::always_inline]] ~Async() { drop(frame_); }

  /// Runs the coroutine until it has to wait or ends. Throws what it threw.
  [[gnu::always_inline]] Poll<T> poll(Context& cx) {
    ROUSE_ASSERT(frame_,
                 "poll() of an Async that was moved from or awaited: poll the one it went to");
    if (!frame_->poll_chain(cx)) return pending;
    auto& promise = static_cast<internal::AsyncPromise<T>&>(*frame_);
    if constexpr (std::is_void_v<T>) {
      promise.take();
      return Poll<T>::ready();
    } else {
      return Poll<T>::ready(promise.take());
    }
  }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Async, nullptr, chain)
  /// For the library: the coroutine, null if there is none.
  [[nodiscard]] const internal::Frame* frame() const noexcept { return frame_; }
  /// Hands the coroutine to the caller, who destroys it.
  [[nodiscard]] internal::Frame* into_frame() && noexcept { return release(); }

  /// The coroutines of Asyncs that lie one behind another.
  [[nodiscard]] static internal::Frame** frames_of(Async* first) noexcept {
    static_assert(sizeof(Async) == sizeof(internal::Frame*));
    return &first->frame_;
  }

  /// Whether the coroutine has been polled.
  [[nodiscard]] bool is_started() const noexcept {
    ROUSE_ASSERT(frame_, "use of an Async that was moved from or awaited: use the one it went to");
    return !frame_->is_fresh();
  }

  /// Whether the coroutine took references, pointers, views, `this` or a lambda's captures, and so
  /// must not outlive its caller. `spawn` refuses such a coroutine.
  [[nodiscard]] bool borrows() const noexcept { return frame_ && frame_->borrows(); }

  /// The coroutine's name, with its parameters, as the compiler spells it.
  [[nodiscard]] const char* name() const noexcept {
    return frame_ ? frame_->where().function_name() : "(moved from or awaited)";
  }

  /// The await it is suspended at (`visit_awaits` shows what that await waits for).
  [[nodiscard]] std::source_location where() const noexcept {
    return frame_ ? frame_->where() : std::source_location();
  }

  /// The async backtrace: calls `fn(source_location)` for each await this coroutine is suspended
  /// at, innermost first.
  template <class Fn>
  void visit_awaits(Fn&& fn) const {
    if (frame_) frame_->visit_chain([&](const internal::Frame& frame) { fn(frame.where()); });
  }

 private:
  template <class>
  friend class internal::AsyncPromiseBase;

  explicit Async(internal::AsyncPromise<T>* promise) noexcept : Awaiter(promise) {
    static_assert(alignof(internal::AsyncPromise<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "Async<T> of an over-aligned T: compilers misalign it inside a coroutine frame; "
                  "return it through std::unique_ptr");
  }

  [[gnu::always_inline]] internal::Frame* release() noexcept {
    if (frame_ != nullptr && frame_->is_awaited()) [[unlikely]]
      frame_->refuse_move();
    return std::exchange(frame_, nullptr);
  }
  // Takes the frame and not the Async: one whose address nobody knows can stay in a register.
  [[gnu::always_inline]] static void drop(internal::Frame* frame) noexcept {
    if (frame == nullptr) return;
    if (frame->is_done()) [[likely]]
      return frame->destroy_ended();
    frame->drop_unfinished();
  }
};

namespace internal {

/// The promise of a coroutine with these parameters: knows whether they borrow. That is asked in
/// the constructor's body and not in the traits: a lambda's closure is complete only after its
/// body.
template <class T, class... Parameters>
class AsyncPromiseFor : public AsyncPromise<T> {
 public:
  AsyncPromiseFor() noexcept : AsyncPromise<T>((internal::is_borrow<Parameters> || ...)) {}
};

}  // namespace internal

}  // namespace rouse

template <class T, class... Parameters>
struct std::coroutine_traits<rouse::Async<T>, Parameters...> {
#if ROUSE_CHECKS_BORROWS
  using promise_type =
      rouse::internal::CheckedPromise<rouse::internal::AsyncPromise<T>, Parameters...>;
#else
  using promise_type = rouse::internal::AsyncPromiseFor<T, Parameters...>;
#endif
};
