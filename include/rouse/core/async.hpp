// Async<T>: what an async function returns. A lazy coroutine that is itself a Future: nothing runs
// before it is polled or awaited, and destroying it cancels it where it stands.
//
//   rouse::Async<int> twice(int x) { co_return 2 * x; }
//   rouse::Async<int> four() { co_return co_await twice(2); }
//
// Awaiting a child runs it in the same chain (core/frame.hpp). The frame comes from the block pool.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/block_pool.hpp"
#include "rouse/core/borrow.hpp"
#include "rouse/core/frame.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/outcome.hpp"

namespace rouse {

template <class T>
class Async;
template <class T>
class AsyncPromise;

/// Awaits a future that is no coroutine: polled at once, suspends only if that gives pending. At
/// once is when it is made, if the await follows directly: nothing may happen between the poll and
/// the suspension, or a wake in between would be lost. An exception of a later poll waits here for
/// the coroutine to be resumed. It lies in the frame of the coroutine while that is suspended, so
/// its size counts.
template <Future F>
class FutureAwaiter : Leaf {
 public:
  FutureAwaiter(F& future, Frame& awaiting) : Leaf(&poll_again), future_(&future), late_(awaiting) {
    if constexpr (awaits_follow_their_transformation) poll_once(awaiting.context());
  }
  FutureAwaiter(const FutureAwaiter&) = delete;
  ~FutureAwaiter() {
    if (threw()) [[unlikely]] {
      error_.~exception_ptr();
    } else if constexpr (!is_void) {
      if (future_ == nullptr) result_.poll.~Polled();
    }
  }

  bool await_ready() {
    if constexpr (!awaits_follow_their_transformation) poll_once(late_.awaiting->context());
    return future_ == nullptr;
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
    awaiting.promise().suspend_on(*this);
  }
  output_t<F> await_resume() {
    if (threw()) [[unlikely]]
      rethrow();
    if constexpr (!is_void) return std::move(result_.poll).unchecked();
  }

 private:
  /// Where the future puts its result: nothing is moved. It is there if the future was ready.
  using Polled = Poll<output_t<F>>;
  union Result {
    Result() noexcept {}
    ~Result() {}
    Polled poll;
  };
  /// A ready Poll<void> says nothing that future_ == nullptr does not.
  struct Nothing {
    Nothing() noexcept {}
  };
  static constexpr bool is_void = std::is_void_v<output_t<F>>;

  /// Who awaits, if that is to be known later.
  struct Known {
    explicit Known(Frame&) noexcept {}
  };
  struct Later {
    explicit Later(Frame& frame) noexcept : awaiting(&frame) {}
    Frame* awaiting;
  };
  using Late = std::conditional_t<awaits_follow_their_transformation, Known, Later>;

  bool threw() const noexcept { return this->poll == nullptr; }
  [[noreturn, gnu::noinline, gnu::cold]] void rethrow() { std::rethrow_exception(error_); }

  bool poll_once(Context& cx) {
    if constexpr (is_void) {
      if (future_->poll(cx).is_pending()) return false;
    } else {
      new (&result_.poll) Polled(future_->poll(cx));
      if (result_.poll.is_pending()) return false;  // a pending Poll holds nothing to destroy
    }
    future_ = nullptr;
    return true;
  }
  static bool poll_again(Leaf& leaf, Context& cx) noexcept {
    auto& self = static_cast<FutureAwaiter&>(leaf);
    try {
      return self.poll_once(cx);
    } catch (...) {
      self.poll = nullptr;
      new (&self.error_) std::exception_ptr(std::current_exception());
      return true;
    }
  }

  union {
    F* future_;                 // null once it was ready
    std::exception_ptr error_;  // if threw(): the future is not polled again
  };
  [[no_unique_address]] Late late_;
  [[no_unique_address]] std::conditional_t<is_void, Nothing, Result> result_;
};

/// Awaits a coroutine: runs it in the same chain.
template <class T>
class AsyncAwaiter {
 public:
  explicit AsyncAwaiter(Frame*& child) noexcept : child_(child) {}
  AsyncAwaiter(const AsyncAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  Transfer await_suspend(std::coroutine_handle<Promise> awaiting) {
    return awaiting.promise().suspend_on(child_);
  }
  /// The child's frame goes now, and not with its Async: that may be a parameter of the awaiting
  /// coroutine, and so on, and a long row of them would be destroyed inside one another.
  T await_resume() {
    const EndOfChild end(child_);
    return static_cast<AsyncPromise<T>*>(child_)->take();
  }

 private:
  class EndOfChild {
   public:
    explicit EndOfChild(Frame*& child) noexcept : child_(child) {}
    EndOfChild(const EndOfChild&) = delete;
    EndOfChild& operator=(const EndOfChild&) = delete;
    ~EndOfChild() {
      child_->destroy_ended();
      child_ = nullptr;
    }

   private:
    Frame*& child_;
  };

  Frame*& child_;
};

/// F, if its size can be asked for.
template <class F>
using FutureOr = std::conditional_t<Future<F>, F, char>;

template <class T>
inline constexpr bool is_async = false;
template <class T>
inline constexpr bool is_async<Async<T>> = true;

/// What all promises share. `AsyncPromise` adds only how the result is returned.
template <class T>
class AsyncPromiseBase : public Frame {
 public:
  explicit AsyncPromiseBase(bool borrows) noexcept : Frame(borrows) {}
  ~AsyncPromiseBase() { result_.clear(result_state_); }

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_block(frame, size); }

  Async<T> get_return_object(
      std::source_location where = std::source_location::current()) noexcept {
    set_where(where);
    return Async<T>(static_cast<AsyncPromise<T>*>(this));
  }
  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    FinalAwaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    Transfer await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      return ended.promise().finish();
    }
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return FinalAwaiter(); }

  void unhandled_exception() noexcept {
    result_.clear(result_state_);  // a destructor may throw after the value was returned
    result_state_ = result_.set_error(std::current_exception());
  }

  template <class Awaited>
  auto await_transform(Awaited&& awaited,
                       std::source_location where = std::source_location::current()) {
    using F = std::remove_reference_t<Awaited>;
    static_assert(!std::is_const_v<F>,
                  "co_await of a const future: polling changes it, so take the const away");
    static_assert(Future<F> || std::is_const_v<F>,
                  "co_await needs a rouse::Future: a type with `using Output = T;` and "
                  "`rouse::Poll<T> poll(rouse::Context&)`, such as rouse::Async<T>");
    static_assert(aggregate_temporaries_are_safe || std::is_lvalue_reference_v<Awaited> ||
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
      return AsyncAwaiter<output_t<F>>(awaited.frame_);
    } else if constexpr (requires { awaited.branch_awaiter(); }) {
      return awaited.branch_awaiter();  // exec/parallel.hpp
    } else if constexpr (Future<F>) {
      return FutureAwaiter<F>(awaited, *this);
    } else {
      return std::suspend_never();
    }
  }

  T take() { return result_.take(result_state_); }

 protected:
  OutcomeCell<T> result_;  // which of the two: Frame::result_state_
};

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

template <class T = void>
class ROUSE_TRIVIAL_ABI [[nodiscard(
    "an Async does nothing until it is run: write `co_await f()`, `rouse::spawn(f, args...)` or "
    "`rouse::block_on(f())`")]] Async {
 public:
  using Output = T;

  Async(Async&& other) noexcept : frame_(other.release()) {}
  Async& operator=(Async&& other) noexcept {
    cancel(std::exchange(frame_, other.release()));  // last: `other` may be inside of this
    return *this;
  }
  [[gnu::always_inline]] ~Async() { cancel(frame_); }

  /// Runs the coroutine until it waits for something or ends. Throws what it threw.
  [[gnu::always_inline]] Poll<T> poll(Context& cx) {
    ROUSE_ASSERT(frame_,
                 "poll() of an Async that was moved from or awaited: poll the one it went to");
    if (!frame_->poll_chain(cx)) return pending;
    auto& promise = static_cast<AsyncPromise<T>&>(*frame_);
    if constexpr (std::is_void_v<T>) {
      promise.take();
      return Poll<T>::ready();
    } else {
      return Poll<T>::ready(promise.take());
    }
  }

  /// Gives the coroutine away; whoever takes it destroys it.
  [[nodiscard]] Frame* into_frame() && noexcept { return release(); }

  /// Whether the coroutine was polled before.
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

  /// The await it is suspended at itself (see `visit_awaits` for what that one waits for).
  [[nodiscard]] std::source_location where() const noexcept {
    return frame_ ? frame_->where() : std::source_location();
  }

  /// The async backtrace: calls `fn(source_location)` for each await this coroutine is suspended
  /// at, innermost first.
  template <class Fn>
  void visit_awaits(Fn&& fn) const {
    if (frame_) frame_->visit_chain([&](const Frame& frame) { fn(frame.where()); });
  }

 private:
  template <class>
  friend class AsyncPromiseBase;

  explicit Async(AsyncPromise<T>* promise) noexcept : frame_(promise) {
    static_assert(alignof(AsyncPromise<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "Async<T> of an over-aligned T: compilers misalign it inside a coroutine frame; "
                  "return it through std::unique_ptr");
  }

  /// While another coroutine awaits it, an Async stays where it is.
  [[gnu::always_inline]] Frame* release() noexcept {
    if (frame_ != nullptr && frame_->is_awaited()) [[unlikely]]
      refuse(*frame_);
    return std::exchange(frame_, nullptr);
  }
  // These take the frame and not the Async: one whose address nobody knows can stay in a register.
  [[gnu::always_inline]] static void cancel(Frame* frame) noexcept {
    if (frame == nullptr) return;
    if (frame->is_done()) [[likely]]
      return frame->destroy_ended();
    cancel_unfinished(*frame);
  }
  [[gnu::noinline]] static void cancel_unfinished(Frame& frame) noexcept {
    if (frame.is_awaited()) refuse(frame);
    frame.destroy();
  }
  [[noreturn, gnu::noinline, gnu::cold]] static void refuse(Frame& frame) noexcept {
    assert_failed(__FILE__, __LINE__,
                  "an Async was moved or destroyed while another coroutine awaits it: leave it "
                  "where it is until that await is over",
                  frame.where().function_name());
  }

  Frame* frame_;
};

/// The promise of a coroutine with these parameters: knows whether they borrow. That is asked in
/// the constructor's body and not in the traits: a lambda's closure is complete only after its
/// body.
template <class T, class... Parameters>
class AsyncPromiseFor : public AsyncPromise<T> {
 public:
  AsyncPromiseFor() noexcept : AsyncPromise<T>((is_borrow<Parameters> || ...)) {}
};

}  // namespace rouse

template <class T, class... Parameters>
struct std::coroutine_traits<rouse::Async<T>, Parameters...> {
  using promise_type = rouse::AsyncPromiseFor<T, Parameters...>;
};
