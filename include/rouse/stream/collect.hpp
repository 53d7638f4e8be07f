// collect(s): reads `s` to its end; the output is the std::vector of all items. For another
// container name it: collect<std::set<int>>(s).
//
// Completes when `s` has ended. A stream passed as an lvalue is borrowed. The poll throws what `s`
// throws; that ends it, and the items read so far are lost.
// Cancel safety: dropping it loses the items read so far.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/core/future.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/internal/source.hpp"

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
      if (!internal::has_item(polled)) return Poll<Container>::ready(std::move(items_));
      if constexpr (requires { items_.push_back(internal::take_item(polled)); }) {
        items_.push_back(internal::take_item(polled));
      } else {
        items_.insert(items_.end(), internal::take_item(polled));
      }
    }
  }

  /// Whether the stream is borrowed or borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return source_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Collect, nullptr, one, &Collect::source_)

 private:
  internal::Source<S> source_;
  Container items_;
};

template <class Container = void, class S>
auto collect(S&& stream) {
  using Own = internal::read_t<S>;
  if constexpr (internal::can_keep_stream<Own>()) {
    using Kept = std::conditional_t<std::is_void_v<Container>, std::vector<item_t<Own>>, Container>;
    return Collect<Own, Kept>(Own(std::forward<S>(stream)));
  }
}

}  // namespace rouse::stream
