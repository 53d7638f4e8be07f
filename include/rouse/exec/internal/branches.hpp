// Branches: the children of `parallel` and `parallel_all`: coroutines that have not begun, owned as
// bare frames, and the region that runs them. Movable until it is started.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/exec/internal/fork_region.hpp"

namespace rouse::internal {

/// A future as a coroutine.
template <Future F>
Async<output_t<F>> as_coroutine(F future) {
  co_return co_await future;
}
/// The same; the second parameter makes it known as a borrower.
template <Future F>
Async<output_t<F>> as_borrowing_coroutine(F future, const void*) {
  co_return co_await future;
}

/// Of one that may be polled already. By value: what is passed by reference would have to lie in
/// the memory of the awaiting frame.
template <Future F>
[[gnu::noinline]] Async<output_t<F>> wrap_as_branch(F future) {
  if (future_borrows(future)) return as_borrowing_coroutine(std::move(future), nullptr);
  return as_coroutine(std::move(future));
}

/// A coroutine that does what `future` does and was not begun. May throw: take the frames out when
/// all are there.
template <Future F>
[[gnu::always_inline]] inline Async<output_t<F>> into_branch(F&& future) {
  if constexpr (is_async<F>) {
    if (!future.is_started()) [[likely]]
      return std::forward<F>(future);
  }
  return wrap_as_branch(std::forward<F>(future));
}

/// The outcome of a child that has ended.
template <class T>
stored_t<T> take_result(Frame& child) {
  auto& promise = static_cast<AsyncPromise<T>&>(child);
  if constexpr (std::is_void_v<T>) {
    promise.take();
    return Unit();
  } else if constexpr (std::is_reference_v<T>) {
    return &promise.take();
  } else {
    return promise.take();
  }
}

/// Aborts the program if a future that children refer to is moved.
inline void refuse_to_move(const ForkRegion& region) {
  ROUSE_ASSERT(!region.has_started(),
               "a parallel(...) was moved after its first poll: move it before, or keep it in a "
               "rouse::AnyFuture, which may be moved at any time");
}

/// Destroys a child that has not ended.
[[gnu::noinline]] inline void drop_unfinished(Frame* child) noexcept {
  if (child == nullptr) return;
  ROUSE_ASSERT(!child->is_awaited(),
               "a parallel(...) was destroyed while a coroutine awaits it: leave it where it is "
               "until that await is over",
               child->where().function_name());
  child->destroy();
}
inline void drop_branch(Frame* child) noexcept {
  if (child != nullptr && child->is_done()) [[likely]] {
    child->destroy_ended();
  } else {
    drop_unfinished(child);
  }
}

}  // namespace rouse::internal
