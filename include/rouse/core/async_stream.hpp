// AsyncStream<T>: an async generator. A coroutine that gives values with `co_yield` and may await
// anything in between; itself a Stream.
//
//   rouse::AsyncStream<int> numbers(int count) {
//     for (int i = 0; i < count; ++i) co_yield i;
//   }
//   auto some = numbers(3);
//   while (auto n = co_await some.next()) use(*n);
//
// Nothing runs before it is polled, and nothing runs ahead: it stands at its co_yield until the
// next item is asked for. Destroying it cancels it where it stands. `co_yield` copies an lvalue and
// moves anything else. What it throws comes out of poll_next; that is its end, too.
//
// It is always the root of a chain (core/frame.hpp): coroutines it awaits run in there, and whoever
// reads it polls that chain. At a co_yield the frame is suspended on nothing and the value lies in
// the promise, from where the poll that ran it takes it before it returns.
// A generator that reads another polls that chain inside its own: how deep they are nested is how
// deep the stack gets.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/core/async.hpp"
#include "rouse/core/stream.hpp"

namespace rouse {

template <class T>
class AsyncStream;

template <class T>
class AsyncStreamPromise : public AsyncPromiseBase<T> {
 public:
  using AsyncPromiseBase<T>::AsyncPromiseBase;

  AsyncStream<T> get_return_object(
      std::source_location where = std::source_location::current()) noexcept {
    this->set_where(where);
    return AsyncStream<T>(*this);
  }

  struct YieldAwaiter {
    YieldAwaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> yielding) noexcept {
      yielding.promise().suspend_until_polled();
    }
    void await_resume() const noexcept {}
  };

  template <class U = T>
    requires std::convertible_to<U&&, T>
  YieldAwaiter yield_value(U&& value,
                           std::source_location where = std::source_location::current()) {
    static_assert(aggregate_temporaries_are_safe || std::is_lvalue_reference_v<U> ||
                      !std::is_aggregate_v<U> || std::is_trivially_destructible_v<U>,
                  "GCC 12 destroys a temporary aggregate twice in a co_yield: give this type a "
                  "constructor, or co_yield a variable, which is copied");
    this->set_where(where);
    this->result_state_ = this->result_.set_value(std::forward<U>(value));
    return YieldAwaiter();
  }
  void return_void() const noexcept {}

  /// What came of the poll that just ran the chain.
  PollNext<T> take_item() {
    if (this->result_state_ == OutcomeState::none) {
      return this->is_done() ? PollNext<T>::ready(std::nullopt) : PollNext<T>(pending);
    }
    const Cleared cleared(*this);
    return PollNext<T>::ready(this->take());
  }

 private:
  /// Leaves the cell empty, also if the value or the error is thrown out of there.
  class Cleared {
   public:
    explicit Cleared(AsyncStreamPromise& promise) noexcept : promise_(promise) {}
    Cleared(const Cleared&) = delete;
    Cleared& operator=(const Cleared&) = delete;
    ~Cleared() { promise_.result_state_ = promise_.result_.clear(promise_.result_state_); }

   private:
    AsyncStreamPromise& promise_;
  };
};

template <class T>
class [[nodiscard(
    "an AsyncStream does nothing until it is read: write `while (auto item = co_await "
    "s.next())`")]] AsyncStream {
  static_assert(!std::is_reference_v<T> && !std::is_void_v<T> && !std::is_const_v<T>,
                "AsyncStream<T> gives std::optional<T>: for references write AsyncStream<T*>");

 public:
  using Item = T;

  /// It may be moved at any time, but not while somebody awaits its `next()`.
  AsyncStream(AsyncStream&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
  AsyncStream& operator=(AsyncStream&& other) noexcept {
    AsyncStream old(std::move(other));
    std::swap(promise_, old.promise_);
    return *this;
  }
  ~AsyncStream() {
    if (promise_ != nullptr) promise_->destroy();
  }

  /// The next item, or nothing at the end, also when asked again. Throws what the coroutine threw.
  /// Cancel safety: dropped midway it loses nothing. One at a time.
  [[nodiscard]] Next<AsyncStream> next() noexcept { return Next<AsyncStream>(*this); }

  /// Runs the coroutine until it gives a value, waits for something, or ends.
  PollNext<T> poll_next(Context& cx) {
    ROUSE_ASSERT(promise_, "use of an AsyncStream that was moved from: use the one it went to");
    if (promise_->is_done()) return PollNext<T>::ready(std::nullopt);
    // A step for each item, when it is begun: one that never waits must not run for ever.
    if (promise_->is_at_rest() && !cx.take_budget()) return pending;
    promise_->poll_chain(cx);
    return promise_->take_item();
  }

  /// Whether the coroutine borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return promise_ && promise_->borrows(); }

 private:
  friend class AsyncStreamPromise<T>;

  explicit AsyncStream(AsyncStreamPromise<T>& promise) noexcept : promise_(&promise) {
    static_assert(alignof(AsyncStreamPromise<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "AsyncStream<T> of an over-aligned T: compilers misalign it inside a coroutine "
                  "frame; give it through std::unique_ptr");
  }

  AsyncStreamPromise<T>* promise_;
};

/// As AsyncPromiseFor.
template <class T, class... Parameters>
class AsyncStreamPromiseFor : public AsyncStreamPromise<T> {
 public:
  AsyncStreamPromiseFor() noexcept : AsyncStreamPromise<T>((is_borrow<Parameters> || ...)) {}
};

}  // namespace rouse

template <class T, class... Parameters>
struct std::coroutine_traits<rouse::AsyncStream<T>, Parameters...> {
  using promise_type = rouse::AsyncStreamPromiseFor<T, Parameters...>;
};
