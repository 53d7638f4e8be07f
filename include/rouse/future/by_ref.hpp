// by_ref(f): borrows the future `f`, so that it outlives what drops it: one future for all rounds
// of a loop.
//
//   auto deadline = rouse::sleep(5s);
//   for (;;) {
//     auto first = co_await rouse::select(rouse::by_ref(deadline), lines.next_line());
//     if (first.index() == 0) break;
//     ...
//   }
//
// `f` must neither move nor be destroyed before it. Once `f` is ready, do not poll it again.
// Completes when `f` does. Cancel safety: dropping it leaves `f` as it is. Threads: as `f`.
#pragma once

#include "rouse/core/future.hpp"
#include "rouse/core/stream.hpp"

namespace rouse {

/// The future of by_ref: see there.
template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] FutureRef {
 public:
  using Output = output_t<F>;

  explicit FutureRef(F& future) noexcept : future_(&future) {}

  Poll<Output> poll(Context& cx) {
    const internal::PollOfNoTask here(cx);  // another task may go on with it
    return future_->poll(cx);
  }
  /// See Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FutureRef, nullptr, one, &FutureRef::future_)

 private:
  F* future_;
};

template <class F>
  requires(Future<F> || !Stream<F>)  // streams have their own
auto by_ref(F& future) noexcept {
  static_assert(Future<F>, "by_ref needs a rouse::Future that is not const");
  if constexpr (Future<F>) return FutureRef<F>(future);
}

}  // namespace rouse
