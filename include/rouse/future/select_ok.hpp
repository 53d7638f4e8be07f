// select_ok(range): runs all futures of a range until the first of them succeeds; the output is
// its value. If all fail, it fails as the last one did.
//
//   std::vector<AsyncResult<TcpStream>> attempts = ...;
//   TcpStream peer = co_await select_ok(std::move(attempts));
//
// A failure is an exception, or an error in a Result output. Only woken children are polled, as in
// FuturesUnordered. The others are destroyed before the value is returned. It may be moved at any
// time. A block of memory for each future. An empty range is refused.
// Cancel safety: dropping it drops all futures midway; so are the losers.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/future/internal/range.hpp"

namespace rouse {

template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] SelectOk {
 public:
  using Output = output_t<F>;

  /// Adds one, before the first poll.
  void add(F&& future) { running_.push_before_poll(std::move(future)); }

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(!running_.empty(),
                 "select_ok of nothing never ends, or it was polled again after it was ready");
    for (;;) {
      try {
        auto polled = running_.poll_next(cx);
        if (polled.is_pending()) return pending;
        if constexpr (internal::is_result<Output>) {
          if (!*polled.value() && !running_.empty()) continue;
        }
        static_cast<void>(FuturesUnordered<F>(std::move(running_)));  // drops the losers
        if constexpr (std::is_void_v<Output>) {
          return Poll<Output>::ready();
        } else if constexpr (std::is_reference_v<Output>) {
          return Poll<Output>::ready(**std::move(polled).value());
        } else {
          return Poll<Output>::ready(*std::move(polled).value());
        }
      } catch (...) {
        if (running_.empty()) throw;
      }
    }
  }

  /// Whether one of the futures borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return running_.borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SelectOk, "select_ok", any_of, &SelectOk::running_)

 private:
  FuturesUnordered<F> running_;
};

template <class Range>
auto select_ok(Range&& range) {
  if constexpr (internal::can_keep_range<Range>()) {
    using F = std::remove_cvref_t<internal::element_t<Range>>;
    SelectOk<F> all;
    for (auto&& future : range) all.add(F(static_cast<internal::given_t<Range>>(future)));
    return all;
  }
}

}  // namespace rouse
