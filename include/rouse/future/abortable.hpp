// abortable(f): a future, and a handle that ends it from elsewhere.
//
//   auto [download, handle] = abortable(fetch(url));
//   spawn(std::move(download)).detach();
//   handle.abort();                                 // the fetch is dropped, at its next poll
//
// Completes when `f` does, or at the first poll after `abort`, which wakes it: then `f` is
// destroyed midway. A CancellationToken does the same for many at once. Cancel safety: dropping it
// drops `f` midway. Threads: any for the handle, and for its copies. Errors:
// std::errc::operation_canceled, and those of `f`, which are in `result()` too. If `f` can only
// throw, like an Async, `result()` throws as well.
#pragma once

#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/future/internal/child.hpp"

namespace rouse {

namespace internal {

class AbortState : public RefCounted<AbortState> {
 public:
  atomic<bool> is_aborted{false};
  AtomicWaker waiter;
};

}  // namespace internal

/// Ends an Abortable. It may be copied, and outlive the future.
class AbortableHandle {
 public:
  explicit AbortableHandle(RefPtr<internal::AbortState> state) noexcept
      : state_(std::move(state)) {}

  /// Does nothing if the future is done.
  void abort() const {
    state_->is_aborted.store(true, memory_order_relaxed);  // `wake` publishes it
    state_->waiter.wake();
  }
  /// Whether `abort` was called.
  [[nodiscard]] bool is_aborted() const noexcept {
    return state_->is_aborted.load(memory_order_relaxed);
  }

 private:
  RefPtr<internal::AbortState> state_;
};

template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Abortable
    : public ResultFuture<Abortable<F>, output_t<F>> {
 public:
  Abortable(F&& future, RefPtr<internal::AbortState> state)
      : future_(std::in_place, std::move(future)), state_(std::move(state)) {}
  Abortable(Abortable&&) = default;
  ~Abortable() {
    if (state_) state_->waiter.take();
  }

  Poll<Result<output_t<F>>> poll_result(Context& cx) {
    using Ready = Poll<Result<output_t<F>>>;
    ROUSE_ASSERT(state_ && future_.has_value(), "abortable: polled after its end, or moved from");
    state_->waiter.register_waker(cx.waker());  // first the waker, then the look
    if (state_->is_aborted.load(memory_order_relaxed)) {
      future_.reset();
      return Ready::ready(Result<output_t<F>>(std::errc::operation_canceled));
    }
    return internal::finish_as_result(future_, cx);
  }

  /// Whether the future borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    return future_ && internal::future_borrows(*future_);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Abortable, nullptr, one, &Abortable::future_)

 private:
  internal::Maybe<F> future_;
  RefPtr<internal::AbortState> state_;
};

template <class F>
auto abortable(F&& future) {
  using Kept = std::remove_cvref_t<F>;
  constexpr bool can_keep = Future<Kept> && internal::Keepable<F>;
  static_assert(can_keep, "abortable needs a future that it can keep: write std::move(f)");
  if constexpr (can_keep) {
    auto state = make_ref<internal::AbortState>();
    return std::pair(Abortable<Kept>(Kept(std::forward<F>(future)), state), AbortableHandle(state));
  }
}

}  // namespace rouse
