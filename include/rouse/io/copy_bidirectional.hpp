// copy_bidirectional: connects two streams, as a proxy does.
#pragma once

#include <cstdint>
#include <optional>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/copy.hpp"

namespace rouse::io {

/// How many bytes went in each direction.
struct CopiedBothWays {
  CopiedBothWays(std::uint64_t first_way, std::uint64_t other_way) noexcept
      : a_to_b(first_way), b_to_a(other_way) {}
  std::uint64_t a_to_b;  ///< bytes that were copied
  std::uint64_t b_to_a;  ///< bytes that were copied
};

}  // namespace rouse::io

namespace rouse::internal {

/// One direction: copies, then shuts the writer down.
class OneWay {
 public:
  template <class R, class W>
  Poll<Result<void>> poll(Context& cx, R& reader, W& writer) {
    if (!copied_) {
      const Poll<Result<std::uint64_t>> polled = copying_.poll(cx, reader, writer);
      if (polled.is_pending()) return pending;
      if (!polled.value()) return Poll<Result<void>>::ready(polled.value().error());
      copied_ = *polled.value();
    }
    if (!done_) {
      Poll<Result<void>> polled = writer.poll_shutdown(cx);
      if (polled.is_pending() || !polled.value()) return polled;
      done_ = true;
    }
    return Poll<Result<void>>::ready(Result<void>());
  }
  /// How many bytes so far.
  [[nodiscard]] std::uint64_t copied() const noexcept { return copied_.value_or(0); }

 private:
  Copying copying_;
  std::optional<std::uint64_t> copied_;
  bool done_ = false;
};

}  // namespace rouse::internal

namespace rouse::io {

/// Copies from each stream to the other. When one reaches end of file, the other is shut down, so
/// that its peer reads end of file too. Completes when both directions have ended, or with the
/// first error.
/// Cancel safety: not safe; bytes that were read and not yet written are lost.
template <class A, class B>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] CopyBidirectional
    : public ResultFuture<CopyBidirectional<A, B>, CopiedBothWays> {
 public:
  CopyBidirectional(A& a, B& b) noexcept : a_(&a), b_(&b) {}

  Poll<Result<CopiedBothWays>> poll_result(Context& cx) {
    using Polled = Poll<Result<CopiedBothWays>>;
    // In turns: a direction that is always ready may use up the task's budget and starve the other.
    back_first_ = !back_first_;
    const Poll<Result<void>> first = back_first_ ? poll_back(cx) : poll_there(cx);
    if (first.is_ready() && !first.value()) return Polled::ready(first.value().error());
    const Poll<Result<void>> second = back_first_ ? poll_there(cx) : poll_back(cx);
    if (second.is_ready() && !second.value()) return Polled::ready(second.value().error());
    if (first.is_pending() || second.is_pending()) return pending;
    return Polled::ready(CopiedBothWays(a_to_b_.copied(), b_to_a_.copied()));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(CopyBidirectional, "copy_bidirectional", any_of, &CopyBidirectional::a_,
              &CopyBidirectional::b_)

 private:
  Poll<Result<void>> poll_there(Context& cx) { return a_to_b_.poll(cx, *a_, *b_); }
  Poll<Result<void>> poll_back(Context& cx) { return b_to_a_.poll(cx, *b_, *a_); }

  A* a_;
  B* b_;
  internal::OneWay a_to_b_;
  internal::OneWay b_to_a_;
  bool back_first_ = true;
};

/// Copies both ways until both have ended. See CopyBidirectional.
template <class A, class B>
  requires(AsyncRead<A> && AsyncWrite<A> && AsyncRead<B> && AsyncWrite<B>)
CopyBidirectional<A, B> copy_bidirectional(A& a ROUSE_LIFETIMEBOUND, B& b ROUSE_LIFETIMEBOUND) {
  return CopyBidirectional<A, B>(a, b);
}

}  // namespace rouse::io
