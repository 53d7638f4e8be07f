// parallel(f...): runs all futures, on several threads where available (fork/join), and is ready
// with the tuple of their outputs when the last one is. Unit stands for a void output, a pointer
// for a reference.
//
//   auto [a, b] = co_await parallel(left(range), right(range));
//
// Children may borrow: they end before the await does, also on exceptions and when it is dropped.
// On a ThreadPool this worker runs a child that no other worker steals, after the last child, for
// the price of an await (exec/internal/fork_region.hpp). Elsewhere they run on this thread,
// interleaved where they suspend. Either way a child may wait for another. (Without any executor,
// in a bare block_on, children that suspend are polled in turn as in `join`: deep nesting then
// takes stack.) Completes when all children have ended.
// Cancel safety: dropping it drops all children, and waits until other threads have returned from
// polling one of them.
// Errors: if children throw, that of the first in order; std::bad_alloc if there is no memory to
// run one elsewhere; JoinError if the executor of one that ran elsewhere has ended.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/exec/internal/branches.hpp"

namespace rouse {

template <class... Ts>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Parallel {
  static constexpr std::size_t size = sizeof...(Ts);

 public:
  using Output = std::tuple<stored_t<Ts>...>;

  /// The frames of coroutines that have not begun, of AsyncPromise<Ts>...
  template <class... Frames>
  explicit Parallel(std::in_place_t, Frames... frames) noexcept
      : region_(size), children_{frames...} {}
  Parallel(Parallel&& other) noexcept : region_(size) {
    internal::refuse_to_move(other.region_);
    for (std::size_t i = 0; i < size; ++i) {
      children_[i] = std::exchange(other.children_[i], nullptr);
    }
  }
  ~Parallel() {
    if (!is_empty()) [[unlikely]]
      drop_children();
  }

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(size == 0 || !is_empty(),
                 "a parallel(...) was polled after it was ready, or after it was moved");
    if (!await_ready() && !region_.poll_alone(children_, cx)) return pending;
    return Poll<Output>::ready(await_resume());
  }

  [[nodiscard]] bool borrows() const noexcept {
    for (std::size_t i = 0; i < size && !is_empty(); ++i) {
      if (children_[i] != nullptr && children_[i]->borrows()) return true;
    }
    return false;
  }

  // --- For `co_await`, which waits with this itself: no awaiter lies beside it in the frame. ---

  static constexpr bool is_its_awaiter = true;
  bool await_ready() const noexcept { return size == 0; }
  /// Begins the last child, and offers the others. For coroutines with our frames only.
  template <std::derived_from<internal::Frame> Promise>
  [[gnu::always_inline]] internal::Transfer await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    ROUSE_ASSERT(!region_.has_started() && children_[0] != nullptr,
                 "a parallel(...) was awaited again, or after it was moved: await it once");
    return region_.start<size>(parent.promise(), children_);
  }
  /// The outputs, once all children have ended. Their frames go now, while it is known that they
  /// have ended.
  [[gnu::always_inline]] Output await_resume() { return take(std::index_sequence_for<Ts...>()); }

 private:
  /// Whether it was moved, or its outputs were taken.
  bool is_empty() const noexcept { return !region_.has_started() && children_[0] == nullptr; }
  [[gnu::noinline]] void drop_children() noexcept {
    region_.end();
    for (std::size_t i = size; i-- > 0;) internal::drop_branch(children_[i]);
  }
  template <std::size_t... I>
  [[gnu::always_inline]] Output take(std::index_sequence<I...>) {
    region_.throw_if_lost();
    Output outputs{internal::take_result<Ts>(*children_[I])...};
    (children_[size - 1 - I]->destroy_ended(), ...);
    region_.forget();
    children_[0] = nullptr;
    return outputs;
  }

  internal::ForkRegion region_;
  internal::Frame* children_[size == 0 ? 1 : size];
};

namespace internal {

/// Of coroutines that were not begun.
template <class... Ts>
[[gnu::always_inline]] inline Parallel<Ts...> parallel_of(Async<Ts>... branches) noexcept {
  return Parallel<Ts...>(std::in_place, std::move(branches).into_frame()...);
}
/// By value: see `wrap_as_branch`.
template <class... Fs>
[[gnu::noinline]] auto parallel_of_any(Fs... futures) {
  return parallel_of(internal::into_branch(std::move(futures))...);
}

}  // namespace internal

/// Inlined, so that the futures it is given need not lie in memory.
template <class... Fs>
[[gnu::always_inline]] inline auto parallel(Fs&&... futures) {
  constexpr bool are_futures = (Future<std::remove_cvref_t<Fs>> && ...);
  static_assert(are_futures,
                "parallel needs futures: did you pass a function instead of calling it? write "
                "parallel(f(), g())");
  constexpr bool can_keep = (std::constructible_from<std::remove_cvref_t<Fs>, Fs> && ...);
  static_assert(!are_futures || can_keep,
                "parallel keeps its futures by value and one of these can't be copied: write "
                "parallel(std::move(f), std::move(g))");
  if constexpr (are_futures && can_keep) {
    if constexpr ((internal::is_async<std::remove_cvref_t<Fs>> && ...)) {
      if ((!futures.is_started() && ...)) [[likely]]
        return internal::parallel_of(std::forward<Fs>(futures)...);
    }
    return internal::parallel_of_any(std::forward<Fs>(futures)...);
  }
}

}  // namespace rouse
