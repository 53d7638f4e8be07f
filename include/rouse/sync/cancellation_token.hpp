// CancellationToken: tells tasks to stop. A task checks it, waits for it, or runs a part of its
// work only until the cancellation.
//
//   sync::CancellationToken token;
//   spawn(serve, token.child());      // there: co_await token.run_until_cancelled(accept(...))
//   token.cancel();                   // cancels all children too
//
// Tokens form a tree: `cancel` cancels a token and all below it, never those above. Copies of a
// token are the same token. Dropping tokens cancels nothing and keeps the others connected:
// cancelling an ancestor still reaches all descendants. A cancelled token stays cancelled.
// Threads: any.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::internal {
struct CancellationNode;
}  // namespace rouse::internal

namespace rouse::sync {

class ROUSE_API CancellationToken {
 public:
  class Cancelled;
  class DropGuard;
  template <Future F>
  class RunUntilCancelled;

  /// A new tree. Throws std::bad_alloc.
  CancellationToken();
  CancellationToken(const CancellationToken& other) noexcept;
  CancellationToken(CancellationToken&& other) noexcept
      : node_(std::exchange(other.node_, nullptr)) {}
  CancellationToken& operator=(CancellationToken other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~CancellationToken();

  /// A child of this token; cancelled if this one is. Throws std::bad_alloc.
  [[nodiscard]] CancellationToken child() const;
  /// The same token, as a copy.
  [[nodiscard]] CancellationToken clone() const noexcept { return *this; }

  /// Cancels this token and all below it, and wakes their waiters.
  void cancel() const noexcept;
  /// Whether it, or one above it, was cancelled.
  [[nodiscard]] bool is_cancelled() const noexcept;

  /// Completes when the token is cancelled. Keeps the token alive.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Cancelled cancelled() const noexcept;

  /// Runs `future` until it completes or the token is cancelled, whichever comes first; the token
  /// is checked first. The output is std::optional (bool if `future` is void): empty (false) if it
  /// was cancelled, and then the future is dropped. Throws what `future` throws. Keeps the token
  /// alive.
  /// Cancel safety: dropping it drops `future`.
  template <class F>
  [[nodiscard]] auto run_until_cancelled(F&& future) const {
    using Kept = std::remove_cvref_t<F>;
    static_assert(Future<Kept>,
                  "run_until_cancelled needs a future: did you pass a function instead of calling "
                  "it? write run_until_cancelled(f())");
    if constexpr (Future<Kept>) return RunUntilCancelled<Kept>(*this, std::forward<F>(future));
  }

  /// Cancels this token when the guard is destroyed.
  [[nodiscard]] DropGuard drop_guard() const noexcept;

 private:
  explicit CancellationToken(internal::CancellationNode& counted) noexcept : node_(&counted) {}
  internal::CancellationNode& node() const noexcept;

  internal::CancellationNode* node_;  // null: moved from
};

class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] CancellationToken::
    Cancelled {
 public:
  using Output = void;

  explicit Cancelled(CancellationToken token) noexcept : token_(std::move(token)) {}
  Cancelled(Cancelled&&) noexcept = default;
  ~Cancelled();

  Poll<> poll(Context& cx);
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Cancelled, "CancellationToken", notify, &Cancelled::token_)

 private:
  struct Waiting : internal::Waiter {};
  CancellationToken token_;
  Waiting waiter_;
};

inline CancellationToken::Cancelled CancellationToken::cancelled() const noexcept {
  return Cancelled(*this);
}

class [[nodiscard(
    "a drop guard that is dropped at once cancels at once: name it")]] CancellationToken::
    DropGuard {
 public:
  explicit DropGuard(CancellationToken token) noexcept : token_(std::move(token)) {}
  DropGuard(DropGuard&& other) noexcept : token_(std::exchange(other.token_, std::nullopt)) {}
  DropGuard& operator=(DropGuard&&) = delete;
  ~DropGuard() {
    if (token_) token_->cancel();
  }

  /// Its destruction no longer cancels.
  void disarm() noexcept { token_.reset(); }

 private:
  std::optional<CancellationToken> token_;
};

inline CancellationToken::DropGuard CancellationToken::drop_guard() const noexcept {
  return DropGuard(*this);
}

template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]]
CancellationToken::RunUntilCancelled {
  using Inner = output_t<F>;

 public:
  using Output = std::conditional_t<std::is_void_v<Inner>, bool, std::optional<stored_t<Inner>>>;

  RunUntilCancelled(CancellationToken token, F future)
      : cancelled_(std::move(token)), future_(std::in_place, std::move(future)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(future_.has_value(), "run_until_cancelled was polled again after it was ready");
    if (cancelled_.poll(cx).is_ready()) {
      future_.reset();
      return Poll<Output>::ready(Output());
    }
    internal::Outcome<Inner> outcome;
    if (!internal::poll_into(outcome, *future_, cx)) return pending;
    future_.reset();
    if (outcome.is_error()) std::rethrow_exception(outcome.error());
    if constexpr (std::is_void_v<Inner>) {
      return Poll<Output>::ready(true);
    } else {
      return Poll<Output>::ready(std::move(outcome.stored()));
    }
  }
  [[nodiscard]] bool borrows() const noexcept {
    return future_ && internal::future_borrows(*future_);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(RunUntilCancelled, "run_until_cancelled", any_of, &RunUntilCancelled::cancelled_,
              &RunUntilCancelled::future_)

 private:
  Cancelled cancelled_;
  internal::Maybe<F> future_;
};

}  // namespace rouse::sync
