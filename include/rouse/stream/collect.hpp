// collect(s): reads `s` to its end; its output is the std::vector of all items. Another container
// is named: collect<std::set<int>>(s).
//
// Completes when `s` has ended. A stream given as an lvalue is borrowed. What `s` throws, the poll
// throws; that is its end, and what was read is lost.
// Cancel safety: dropping it loses what was read so far.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/core/future.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/source.hpp"

namespace rouse::stream {

template <Stream S, class Container>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] Collect {
 public:
  using Output = Container;

  explicit Collect(S stream) : source_(std::move(stream)) {}

  Poll<Container> poll(Context& cx) {
    ROUSE_ASSERT(!source_.is_over(), "collect(s) was polled again after it was ready");
    for (;;) {
      auto polled = source_.poll_next(cx);
      if (polled.is_pending()) return pending;
      if (!has_item(polled)) return Poll<Container>::ready(std::move(items_));
      if constexpr (requires { items_.push_back(take_item(polled)); }) {
        items_.push_back(take_item(polled));
      } else {
        items_.insert(items_.end(), take_item(polled));
      }
    }
  }

  /// Whether the stream is borrowed or borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }

 private:
  Source<S> source_;
  Container items_;
};

template <class Container = void, class S>
auto collect(S&& stream) {
  using Own = read_t<S>;
  if constexpr (can_keep_stream<Own>()) {
    using Kept = std::conditional_t<std::is_void_v<Container>, std::vector<item_t<Own>>, Container>;
    return Collect<Own, Kept>(Own(std::forward<S>(stream)));
  }
}

}  // namespace rouse::stream
