// What a coroutine does at a co_await and at its end: how a future that is not a coroutine, a
// coroutine, and whoever awaits this one take their turns in the chain (core/internal/frame.hpp,
// where it says how coroutines hand over, and how GCC differs).
//
// An awaiter is made for each type that is awaited, and inlined into each coroutine that awaits it:
// what can be done without the type is in a base or in the library.
#pragma once

#include <coroutine>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/frame.hpp"
#include "rouse/core/internal/outcome.hpp"

namespace rouse::internal {

template <class T>
class AsyncPromise;

/// What the awaiters of all futures share: the future, seen without its type, or what it threw.
class FutureAwaiterBase : public Leaf {
 public:
  FutureAwaiterBase(const FutureAwaiterBase&) = delete;
  FutureAwaiterBase& operator=(const FutureAwaiterBase&) = delete;

  void await_suspend(std::coroutine_handle<> awaiting) noexcept {
    Frame::of(awaiting).suspend_on(*this);
  }

 protected:
  FutureAwaiterBase(const LeafType& leaf_type, void* future) noexcept
      : Leaf(leaf_type), future_(future) {}
  ~FutureAwaiterBase() = default;  // trivial: a constructor that may throw needs no way to undo it

  bool threw() const noexcept { return type == nullptr; }
  std::exception_ptr& error() noexcept {
    static_assert(sizeof(std::exception_ptr) == sizeof(void*));
    return *std::launder(reinterpret_cast<std::exception_ptr*>(&future_));
  }
  /// In a handler, of a later poll: the future is not polled again.
  void keep_exception() noexcept {
    type = nullptr;
    store_current_exception(*reinterpret_cast<std::exception_ptr*>(&future_));
  }

  void* future_;  // null once it was ready; if threw(), an exception_ptr has its place
};

/// A future that gives a Result (core/result_future.hpp): what it throws is thrown where it is
/// resumed.
template <class F>
concept GivesResult = requires(F& future, Context& cx) {
  typename F::FailsWithResult;
  future.poll_or_throw(cx);
};

/// A future with a poll of which one copy is enough: it makes a system call, polls others, or moves
/// more than a few words. The poll of any other is part of each coroutine that awaits it.
template <class F>
concept PolledOutOfLine = requires { requires F::polled_out_of_line; };

/// Awaits a future that is not a coroutine. The future is polled at once, and the coroutine
/// suspends only if it is pending. "At once" means in the constructor, if the await follows
/// directly: nothing may happen between the poll and the suspension, or a wake in between would be
/// lost. An exception of a later poll is stored here until the coroutine is resumed. The awaiter
/// lies in the frame of the suspended coroutine, so its size counts.
template <Future F>
class FutureAwaiter : public FutureAwaiterBase {
 public:
  FutureAwaiter(F& future, Frame& awaiting)
      : FutureAwaiterBase(leaf_type, const_cast<void*>(static_cast<const void*>(&future))),
        late_(awaiting) {
    if constexpr (awaits_follow_their_transformation) poll_now(awaiting.context());
  }
  ~FutureAwaiter() {
    if (threw()) [[unlikely]] {
      error().~exception_ptr();
    } else if constexpr (!is_void) {
      if (future_ == nullptr) destroy_result();
    }
  }

  bool await_ready() {
    if constexpr (!awaits_follow_their_transformation) poll_now(late_.awaiting->context());
    return future_ == nullptr;
  }
  output_t<F> await_resume() {
    if (threw()) [[unlikely]]
      rethrow_outcome(OutcomeState::error, error());
    if constexpr (GivesResult<F>) {
      auto& result = result_.poll.value();
      if (!result.has_value()) [[unlikely]]
        F::fail(result);
      return *std::move(result);
    } else if constexpr (!is_void) {
      return internal::hand_on(std::move(result_.poll).unchecked());
    }
  }

 private:
  static auto polled_by(F& future, Context& cx) {
    if constexpr (GivesResult<F>) {
      return future.poll_or_throw(cx);
    } else {
      return future.poll(cx);
    }
  }
  /// The future puts its result here, so nothing is moved. Set if the future was ready.
  using Polled = decltype(polled_by(std::declval<F&>(), std::declval<Context&>()));
  union Result {
    Result() noexcept {}
    ~Result() {}
    Polled poll;
  };
  /// A ready Poll<void> says nothing that future_ == nullptr does not.
  struct Nothing {
    Nothing() noexcept {}
  };
  static constexpr bool is_void = std::is_same_v<Polled, Poll<void>>;

  /// The awaiting frame, if it is needed later.
  struct Known {
    explicit Known(Frame&) noexcept {}
  };
  struct Later {
    explicit Later(Frame& frame) noexcept : awaiting(&frame) {}
    Frame* awaiting;
  };
  using Late = std::conditional_t<awaits_follow_their_transformation, Known, Later>;

  void poll_now(Context& cx) {
    if constexpr (PolledOutOfLine<F>) {
      poll_out_of_line(cx);
    } else {
      poll_once(cx);
    }
  }
  [[gnu::noinline]] bool poll_out_of_line(Context& cx) { return poll_once(cx); }
  void destroy_result() noexcept {
    if constexpr (PolledOutOfLine<F> && !std::is_trivially_destructible_v<Polled>) {
      destroy_out_of_line();
    } else {
      result_.poll.~Polled();
    }
  }
  [[gnu::noinline]] void destroy_out_of_line() noexcept { result_.poll.~Polled(); }

  bool poll_once(Context& cx) {
    F& future = *static_cast<F*>(future_);
    if constexpr (is_void) {
      if (future.poll(cx).is_pending()) return false;
    } else {
      new (&result_.poll) Polled(polled_by(future, cx));
      if (result_.poll.is_pending()) return false;  // a pending Poll holds nothing to destroy
    }
    future_ = nullptr;
    return true;
  }
  static bool poll_again(Leaf& leaf, Context& cx) noexcept {
    auto& self = static_cast<FutureAwaiter&>(leaf);
    try {
      if constexpr (PolledOutOfLine<F>) {
        return self.poll_out_of_line(cx);
      } else {
        return self.poll_once(cx);
      }
    } catch (...) {
      self.keep_exception();
      return true;
    }
  }

  static constexpr LeafType leaf_type{&poll_again, &shape_of<F>, sizeof(Leaf)};

  [[no_unique_address]] Late late_;
  [[no_unique_address]] std::conditional_t<is_void, Nothing, Result> result_;
};

/// What a coroutine does at its end: goes on with whoever awaits it.
struct FinalAwaiter {
  FinalAwaiter() noexcept {}
  bool await_ready() const noexcept { return false; }
  Transfer await_suspend(std::coroutine_handle<> ended) noexcept {
    return Frame::of(ended).finish();
  }
  void await_resume() const noexcept {}
};

/// Awaits a coroutine: runs it in the same chain. The base of its Async, so that no awaiter with
/// the address of that Async lies beside it in the awaiting frame.
template <class T>
class AsyncAwaiter {
 public:
  explicit AsyncAwaiter(Frame* frame) noexcept : frame_(frame) {}

  bool await_ready() const noexcept { return false; }
  Transfer await_suspend(std::coroutine_handle<> awaiting) {
    return Frame::of(awaiting).suspend_on(frame_);
  }
  /// Destroys the child's frame now, and not with its Async. That Async may be a parameter of the
  /// awaiting coroutine, and so on: a long chain of them would be destroyed recursively.
  T await_resume() {
    const EndOfChild end(frame_);
    return static_cast<AsyncPromise<T>*>(frame_)->take();
  }

 protected:
  Frame* frame_;

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
};

}  // namespace rouse::internal
