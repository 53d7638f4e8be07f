// CancellationToken: tells tasks that they should end. A task looks at it, waits for it, or runs a
// part of its work only until it comes.
//
//   sync::CancellationToken token;
//   spawn(serve, token.child());      // there: co_await token.run_until_cancelled(accept(...))
//   token.cancel();                   // everything below ends, too
//
// Tokens form a tree: `cancel` cancels a token and all below it, never those above. Copies of a
// token are the same token. Dropping tokens cancels nothing and leaves the others connected: what
// is above still reaches what is below. Cancelled is for ever. Any thread.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/borrow.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/outcome.hpp"
#include "rouse/sync/wait_list.hpp"

namespace rouse::sync {

struct CancellationNode;

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

  /// A token below this one; cancelled if this one is. Throws std::bad_alloc.
  [[nodiscard]] CancellationToken child() const;
  /// The same token, as a copy.
  [[nodiscard]] CancellationToken clone() const noexcept { return *this; }

  /// Cancels this token and all below it, and wakes who waits for them.
  void cancel() const noexcept;
  [[nodiscard]] bool is_cancelled() const noexcept;

  /// Completes when the token is cancelled. Dropped midway, it loses nothing. Keeps the token.
  [[nodiscard]] Cancelled cancelled() const noexcept;

  /// Runs `future` until it is done or the token is cancelled, whichever is seen first; the token
  /// is looked at first. The output is std::optional (bool if `future` gives nothing): empty
  /// (false) if it was cancelled, and then the future is dropped. Throws what `future` throws.
  /// Dropped midway, it drops `future`. Keeps the token.
  template <class F>
  [[nodiscard]] auto run_until_cancelled(F&& future) const {
    using Kept = std::remove_cvref_t<F>;
    static_assert(Future<Kept>,
                  "run_until_cancelled needs a future: did you pass a function instead of calling "
                  "it? write run_until_cancelled(f())");
    if constexpr (Future<Kept>) return RunUntilCancelled<Kept>(*this, std::forward<F>(future));
  }

  /// Cancels this token when the guard goes.
  [[nodiscard]] DropGuard drop_guard() const noexcept;

 private:
  explicit CancellationToken(CancellationNode& counted) noexcept : node_(&counted) {}
  CancellationNode& node() const noexcept;

  CancellationNode* node_;  // null: moved from
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

 private:
  struct Waiting : Waiter {};
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

  /// Its end cancels nothing any more.
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
      : cancelled_(std::move(token)), future_(std::move(future)) {}

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(future_.has_value(), "run_until_cancelled was polled again after it was ready");
    if (cancelled_.poll(cx).is_ready()) {
      future_.reset();
      return Poll<Output>::ready(Output());
    }
    Outcome<Inner> outcome;
    if (!poll_into(outcome, *future_, cx)) return pending;
    future_.reset();
    if (outcome.is_error()) outcome.take();
    if constexpr (std::is_void_v<Inner>) {
      return Poll<Output>::ready(true);
    } else {
      return Poll<Output>::ready(std::move(outcome.stored()));
    }
  }
  [[nodiscard]] bool borrows() const noexcept { return future_ && future_borrows(*future_); }

 private:
  Cancelled cancelled_;
  std::optional<F> future_;
};

}  // namespace rouse::sync
