#include "rouse/signal/signal.hpp"

#include <system_error>
#include <utility>

#include "sys/fd.hpp"
#include "sys/signal.hpp"

namespace rouse::signal {
namespace {

/// A descriptor of its own: a reactor watches each only once.
io::AsyncFd watch_signals(Kind kind) {
  if (const Result<void> counted = sys::count_signal(kind.number()); !counted) {
    throw std::system_error(counted.error(), "rouse::signal::Signal");
  }
  return io::AsyncFd(sys::duplicate(sys::signal_event()).value(), io::Interest::readable);
}

}  // namespace

Signal::Signal(Kind kind)
    : kind_(kind), event_(watch_signals(kind)), seen_(sys::signal_count(kind.number())) {}

bool Signal::take_news() noexcept {
  const std::uint64_t count = sys::signal_count(kind_.number());
  return std::exchange(seen_, count) != count;
}

/// Reads the count after it has seen the descriptor's readiness and before it clears that: a signal
/// that arrives after the read is a new edge, which the clear does not touch.
Poll<Result<void>> Signal::poll_recv(Context& cx) {
  using Received = Poll<Result<void>>;
  if (!cx.take_budget()) return pending;
  if (take_news()) return Received::ready(Result<void>());
  const auto look = [&](const Result<io::Ready>& seen) -> Received {
    if (!seen) return Received::ready(seen.error());
    if (take_news()) return Received::ready(Result<void>());
    return Received::ready(Result<void>(std::errc::operation_would_block));
  };
  return internal::poll_when_ready(event_, cx, io::Interest::readable, look);
}

Poll<std::optional<Kind>> Signal::poll_next(Context& cx) {
  using Next = Poll<std::optional<Kind>>;
  const auto polled = poll_recv(cx);
  if (polled.is_pending()) return pending;
  return Next::ready(polled.value() ? std::optional(kind_) : std::nullopt);
}

}  // namespace rouse::signal
