// select_all(range): runs all futures of a range until the first of them is ready. The output says
// which it was, and gives its value and the others, which can go on.
//
//   auto [index, value, rest] = co_await select_all(std::move(jobs));
//   auto second = co_await std::move(rest);       // its index is still that in `jobs`
//
// Unit stands for a void output, a pointer for a reference. Only woken children are polled, as in
// FuturesUnordered; of those that are ready at once, the first in the range is taken first. If the
// first to complete threw, select_all throws that; the others are dropped with it. It may be moved
// at any time. A block of memory for each future. An empty range is refused. Cancel safety:
// dropping it, or the rest, drops all its futures midway.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rouse/core/future.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/future/internal/range.hpp"
#include "rouse/future/map.hpp"

namespace rouse {

namespace internal {

/// Says which future an output is of.
template <class T>
class Numbering {
 public:
  explicit Numbering(std::size_t index) noexcept : index_(index) {}
  std::pair<std::size_t, stored_t<T>> operator()(T&& output) const {
    if constexpr (std::is_reference_v<T>) {
      return {index_, address_of(output)};
    } else {
      return {index_, std::move(output)};
    }
  }

 private:
  std::size_t index_;
};
template <>
class Numbering<void> {
 public:
  explicit Numbering(std::size_t index) noexcept : index_(index) {}
  std::pair<std::size_t, Unit> operator()() const { return {index_, Unit()}; }

 private:
  std::size_t index_;
};

}  // namespace internal

template <Future F>
class Selected;

template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] SelectAll {
  using Number = internal::Numbering<output_t<F>>;

 public:
  using Output = Selected<F>;

  /// Adds one, before the first poll.
  void add(F&& future, std::size_t index) {
    running_.push_before_poll({std::move(future), Number(index)});
  }

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(!running_.empty(),
                 "select_all of nothing never ends, or it was polled again after it was ready");
    auto polled = running_.poll_next(cx);
    if (polled.is_pending()) return pending;
    auto& [index, value] = *polled.value();
    return Poll<Output>::ready(Output(index, std::move(value), std::move(*this)));
  }

  /// Whether there are none left to wait for.
  [[nodiscard]] bool empty() const noexcept { return running_.empty(); }
  /// Whether one of the futures borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return running_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SelectAll, "select_all", any_of, &SelectAll::running_)

 private:
  FuturesUnordered<Map<F, Number>> running_;
};

/// What select_all gives.
template <Future F>
class Selected {
 public:
  Selected(std::size_t at, stored_t<output_t<F>>&& output, SelectAll<F>&& others)
      : index(at), value(std::move(output)), rest(std::move(others)) {}

  std::size_t index;  ///< of the future in the range
  stored_t<output_t<F>> value;
  SelectAll<F> rest;  ///< the others; not to be awaited if it is empty
};

template <class Range>
auto select_all(Range&& range) {
  if constexpr (internal::can_keep_range<Range>()) {
    using F = std::remove_cvref_t<internal::element_t<Range>>;
    SelectAll<F> all;
    std::size_t index = 0;
    for (auto&& future : range) all.add(F(static_cast<internal::given_t<Range>>(future)), index++);
    return all;
  }
}

}  // namespace rouse
