// AsyncStream<T>: an async generator: a coroutine that gives values with `co_yield` and may await
// anything in between. It is itself a Stream.
//
//   rouse::AsyncStream<int> numbers(int count) {
//     for (int i = 0; i < count; ++i) co_yield i;
//   }
//   auto some = numbers(3);
//   while (auto n = co_await some.next()) use(*n);
//
// Nothing runs before it is polled, and nothing runs ahead: it stays suspended at its co_yield
// until somebody asks for the next item. Destroying it cancels it at its await or co_yield.
// `co_yield` copies an lvalue and moves anything else. poll_next throws what the coroutine throws;
// the stream has then ended.
//
// It is always the root of a chain (core/internal/frame.hpp): coroutines it awaits run in that
// chain, and whoever reads it polls the chain. At a co_yield the frame is suspended on nothing and
// the value lies in the promise; the poll that ran the coroutine takes it from there before it
// returns. A generator that reads another polls that chain inside its own: the stack depth grows
// with the nesting.
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

namespace internal {

/// What the compiler makes a coroutine that returns an AsyncStream of.
template <class T>
class AsyncStreamPromise : public AsyncPromiseBase<T> {
 public:
  using AsyncPromiseBase<T>::AsyncPromiseBase;

  AsyncStream<T> get_return_object(
      std::source_location where = std::source_location::current()) noexcept {
    this->set_where(where);
    return AsyncStream<T>(*this);
  }

  /// What a coroutine does at a co_yield: gives the value to whoever polls.
  struct YieldAwaiter {
    YieldAwaiter() noexcept {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> yielding) noexcept {
      internal::Frame::of(yielding).suspend_until_polled();
    }
    void await_resume() const noexcept {}
  };

  template <class U = T>
    requires std::convertible_to<U&&, T>
  YieldAwaiter yield_value(U&& value,
                           std::source_location where = std::source_location::current()) {
    static_assert(internal::aggregate_temporaries_are_safe || std::is_lvalue_reference_v<U> ||
                      !std::is_aggregate_v<U> || std::is_trivially_destructible_v<U>,
                  "GCC 12 destroys a temporary aggregate twice in a co_yield: give this type a "
                  "constructor, or co_yield a variable, which is copied");
    this->set_where(where);
    this->result_state_ = this->result_.set_value(std::forward<U>(value));
    return YieldAwaiter();
  }
  void return_void() const noexcept {}

  /// The result of the poll that just ran the chain.
  PollNext<T> take_item() {
    if (this->result_state_ == internal::OutcomeState::none) {
      return this->is_done() ? PollNext<T>::ready(std::nullopt) : PollNext<T>(pending);
    }
    const Cleared cleared(*this);
    return PollNext<T>::ready(this->take());
  }

 private:
  /// Leaves the cell empty, even if the value or the error is thrown out of it.
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

}  // namespace internal

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

  /// The next item, or an empty optional at the end and ever after. Throws what the coroutine
  /// threw.
  /// Cancel safety: dropping it loses nothing.
  /// Threads: one future at a time.
  [[nodiscard]] Next<AsyncStream> next() noexcept { return Next<AsyncStream>(*this); }

  /// Runs the coroutine until it yields a value, has to wait, or ends.
  PollNext<T> poll_next(Context& cx) {
    ROUSE_ASSERT(promise_, "use of an AsyncStream that was moved from: use the one it went to");
    if (promise_->is_done()) return PollNext<T>::ready(std::nullopt);
    // A step for each item, when it is begun: one that never waits must not run forever.
    if (promise_->is_at_rest() && !cx.take_budget()) return pending;
    promise_->poll_chain(cx);
    return promise_->take_item();
  }

  /// Whether the coroutine borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return promise_ && promise_->borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(AsyncStream, nullptr, chain)

 private:
  friend class internal::AsyncStreamPromise<T>;

  explicit AsyncStream(internal::AsyncStreamPromise<T>& promise) noexcept : promise_(&promise) {
    static_assert(alignof(internal::AsyncStreamPromise<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "AsyncStream<T> of an over-aligned T: compilers misalign it inside a coroutine "
                  "frame; give it through std::unique_ptr");
  }

  internal::AsyncStreamPromise<T>* promise_;
};

namespace internal {

/// As AsyncPromiseFor.
template <class T, class... Parameters>
class AsyncStreamPromiseFor : public AsyncStreamPromise<T> {
 public:
  AsyncStreamPromiseFor() noexcept
      : AsyncStreamPromise<T>((internal::is_borrow<Parameters> || ...)) {}
};

}  // namespace internal

}  // namespace rouse

template <class T, class... Parameters>
struct std::coroutine_traits<rouse::AsyncStream<T>, Parameters...> {
  using promise_type = rouse::internal::AsyncStreamPromiseFor<T, Parameters...>;
};
