// Closed<Core>: the future of `tx.closed()` of a channel, a broadcast or a watch: waits until
// nobody receives any more. Core has `poll_no_receiver` and `stop_waiting_for_receivers`.
#pragma once

#include "rouse/core/future.hpp"
#include "rouse/sync/internal/wait_list.hpp"

namespace rouse::sync {

/// Completes when the channel is closed, or its last receiver is gone. Borrows the sender.
/// Cancel safety: dropping it loses nothing.
/// Threads: any.
template <class Core>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Closed {
 public:
  using Output = void;

  explicit Closed(Core& core) noexcept : core_(&core) {}
  Closed(Closed&&) noexcept = default;
  ~Closed() { core_->stop_waiting_for_receivers(waiter_); }

  Poll<> poll(Context& cx) {
    if (!cx.take_budget() || !core_->poll_no_receiver(waiter_, cx)) return pending;
    return Poll<>::ready();
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Closed, "closed", notify, &Closed::core_)

 private:
  struct Waiting : internal::Waiter {};
  Core* core_;
  Waiting waiter_;
};

}  // namespace rouse::sync
