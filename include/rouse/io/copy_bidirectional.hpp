// copy_bidirectional: joins two streams: what a proxy does.
#pragma once

#include <cstdint>
#include <optional>

#include "rouse/base/attributes.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/copy.hpp"

namespace rouse::io {

/// How many bytes went which way.
struct CopiedBothWays {
  CopiedBothWays(std::uint64_t first_way, std::uint64_t other_way) noexcept
      : a_to_b(first_way), b_to_a(other_way) {}
  std::uint64_t a_to_b;
  std::uint64_t b_to_a;
};

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
  [[nodiscard]] std::uint64_t copied() const noexcept { return copied_.value_or(0); }

 private:
  Copying copying_;
  std::optional<std::uint64_t> copied_;
  bool done_ = false;
};

/// Copies from each stream to the other. When one has ended, the other is shut down, so that who is
/// at its far end reads the end, too. Completes when both directions have ended, or with the first
/// error. Not cancel safe: dropped midway, bytes that were read and not yet written are lost.
template <class A, class B>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] CopyBidirectional
    : public Fallible<CopyBidirectional<A, B>, CopiedBothWays> {
 public:
  CopyBidirectional(A& a, B& b) noexcept : a_(a), b_(b) {}

  Poll<Result<CopiedBothWays>> poll_result(Context& cx) {
    using Polled = Poll<Result<CopiedBothWays>>;
    // In turns: one that always goes on may use up the task's budget, and the other gets none.
    back_first_ = !back_first_;
    const Poll<Result<void>> first = back_first_ ? poll_back(cx) : poll_there(cx);
    if (first.is_ready() && !first.value()) return Polled::ready(first.value().error());
    const Poll<Result<void>> second = back_first_ ? poll_there(cx) : poll_back(cx);
    if (second.is_ready() && !second.value()) return Polled::ready(second.value().error());
    if (first.is_pending() || second.is_pending()) return pending;
    return Polled::ready(CopiedBothWays(a_to_b_.copied(), b_to_a_.copied()));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  Poll<Result<void>> poll_there(Context& cx) { return a_to_b_.poll(cx, a_, b_); }
  Poll<Result<void>> poll_back(Context& cx) { return b_to_a_.poll(cx, b_, a_); }

  A& a_;
  B& b_;
  OneWay a_to_b_;
  OneWay b_to_a_;
  bool back_first_ = true;
};

template <class A, class B>
  requires(AsyncRead<A> && AsyncWrite<A> && AsyncRead<B> && AsyncWrite<B>)
CopyBidirectional<A, B> copy_bidirectional(A& a ROUSE_LIFETIMEBOUND, B& b ROUSE_LIFETIMEBOUND) {
  return CopyBidirectional<A, B>(a, b);
}

}  // namespace rouse::io
