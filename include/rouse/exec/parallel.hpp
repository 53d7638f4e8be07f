// parallel(f...): runs all futures, on several threads where there are some, and is ready with the
// tuple of their outputs when the last one is. Unit stands for a void output, a pointer for a
// reference.
//
//   auto [a, b] = co_await parallel(left(range), right(range));
//
// It may borrow: the children end before the await does, also on exceptions and when it is
// dropped. On a ThreadPool a child that no other worker takes is run by this one, after the last,
// for the price of an await (exec/fork_region.hpp). Elsewhere they run on this thread, interleaved
// where they suspend. Either way a child may wait for another. (Without any executor, in a bare
// block_on, children that suspend are polled in turn as `join` does: nested very deep, that takes
// stack.)
// Completes when all children ended. Errors: if children throw, that of the first in order;
// std::bad_alloc if there is no memory to run one elsewhere; JoinError if the executor of one that
// ran elsewhere has ended. Dropped midway, it drops all children, and waits for those that other
// threads are polling at that moment to return from that poll.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rouse/exec/branches.hpp"

namespace rouse {

template <class... Ts>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Parallel {
  static constexpr std::size_t size = sizeof...(Ts);

 public:
  using Output = std::tuple<stored_t<Ts>...>;

  /// The frames of coroutines that were not begun, of AsyncPromise<Ts>...
  template <class... Frames>
  explicit Parallel(std::in_place_t, Frames... frames) noexcept
      : region_(size), children_{frames...} {}
  Parallel(Parallel&& other) noexcept : region_(size) {
    refuse_to_move(other.region_);
    for (std::size_t i = 0; i < size; ++i) {
      children_[i] = std::exchange(other.children_[i], nullptr);
    }
  }
  ~Parallel() {
    region_.end();
    for (std::size_t i = size; i-- > 0;) drop_branch(children_[i]);
  }

  Poll<Output> poll(Context& cx) {
    if (!is_empty() && !region_.poll_alone(children_, cx)) return pending;
    return Poll<Output>::ready(take());
  }

  [[nodiscard]] bool borrows() const noexcept {
    for (std::size_t i = 0; i < size; ++i) {
      if (children_[i] != nullptr && children_[i]->borrows()) return true;
    }
    return false;
  }

  // --- For `co_await`. ---

  BranchAwaiter<Parallel> branch_awaiter() noexcept { return BranchAwaiter<Parallel>(*this); }
  static constexpr bool is_empty() noexcept { return size == 0; }
  Transfer start(Frame& parent) noexcept {
    ROUSE_ASSERT(!region_.has_started() && children_[0] != nullptr,
                 "a parallel(...) was awaited again, or after it was moved: await it once");
    return region_.start<size>(parent, children_);
  }
  Output take() {
    region_.throw_if_lost();
    return take(std::index_sequence_for<Ts...>());
  }

 private:
  template <std::size_t... I>
  Output take(std::index_sequence<I...>) {
    return Output{take_result<Ts>(*children_[I])...};
  }

  ForkRegion region_;
  Frame* children_[size == 0 ? 1 : size];
};

template <class... Ts>
[[gnu::always_inline]] inline Parallel<Ts...> parallel_of(Async<Ts>... branches) noexcept {
  return Parallel<Ts...>(std::in_place, std::move(branches).into_frame()...);
}

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
    return parallel_of(into_branch(static_cast<std::remove_cvref_t<Fs>&&>(futures))...);
  }
}

}  // namespace rouse
