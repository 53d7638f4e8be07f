// sight::in_span and sight::event: what a program adds to its own trace (sight/trace.hpp).
//
//   co_await sight::in_span("request", serve(peer), {{"peer", peer_name}, {"number", 17}});
//   sight::event("cache miss", {{"key", key}});
//
// A span is the time that a future takes, on whichever threads and through all of its awaits. Spans
// nest: what begins inside belongs to the one around it, also in children of `parallel`. A span is
// part of a trace (sight/trace_context.hpp), which may have begun in another process.
//
// While nothing is recorded a span is its future, and an event is a load and a branch. Names and
// values are copied, at most 96 bytes of each.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/internal/recording.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/exec/internal/task_local_node.hpp"
#include "rouse/sight/trace_context.hpp"

namespace rouse::sight {

/// What a field says: a text, a number or a bool. A text must live until the call returns.
class Value {
 public:
  enum class Kind : std::uint8_t { text, integer, negative, real, boolean };

  template <class T>
    requires std::convertible_to<const T&, std::string_view>
  Value(const T& value) noexcept : text_(value), kind_(Kind::text) {}
  template <std::integral T>
  Value(T value) noexcept
      : integer_(static_cast<std::uint64_t>(value)),
        kind_(std::same_as<T, bool> ? Kind::boolean
              : value < T{}         ? Kind::negative
                                    : Kind::integer) {}
  Value(double value) noexcept : real_(value), kind_(Kind::real) {}

  /// Which of these it is.
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Of a text.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// Of a number; a negative one as its complement.
  [[nodiscard]] std::uint64_t integer() const noexcept { return integer_; }
  /// Of a real number.
  [[nodiscard]] double real() const noexcept { return real_; }

 private:
  union {
    std::string_view text_;
    std::uint64_t integer_;
    double real_;
  };
  Kind kind_;
};

/// A name and what it stands for.
class Field {
 public:
  Field() noexcept : key_(), value_("") {}
  Field(std::string_view key, Value value) noexcept : key_(key), value_(value) {}
  /// Empty: there is no such field.
  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  /// What was given.
  [[nodiscard]] const Value& value() const noexcept { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

/// Up to eight fields, in braces.
class Fields {
 public:
  static constexpr std::size_t max = 8;

  // No initializer_list: in a co_await GCC 12 can't make one.
  Fields(Field a = Field(), Field b = Field(), Field c = Field(), Field d = Field(),
         Field e = Field(), Field f = Field(), Field g = Field(), Field h = Field()) noexcept
      : fields_{a, b, c, d, e, f, g, h} {}
  /// With those that were not given, whose keys are empty.
  [[nodiscard]] const std::array<Field, max>& all() const noexcept { return fields_; }

 private:
  std::array<Field, max> fields_;
};

}  // namespace rouse::sight

namespace rouse::internal {

/// A span that has begun, and ends with this at the latest.
class ROUSE_API OpenSpan {
 public:
  /// 0: there is none.
  explicit OpenSpan(std::uint64_t id = 0) noexcept : id_(id) {}
  OpenSpan(OpenSpan&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  OpenSpan& operator=(OpenSpan&&) = delete;
  ~OpenSpan() { end(); }
  void end() noexcept {
    if (id_ != 0) [[unlikely]]
      record_end(std::exchange(id_, 0));
  }

 private:
  static void record_end(std::uint64_t id) noexcept;

  std::uint64_t id_;
};

/// A span, and what says which one it is to what is polled in it; null: there is none.
struct BegunSpan {
  RefPtr<TaskLocalNode> node;
  OpenSpan open;
};
/// While something is recorded, or with a caller. Throws std::bad_alloc.
[[nodiscard]] ROUSE_API BegunSpan begin_span(std::string_view name, const sight::Fields& fields,
                                             const sight::TraceContext* caller);
ROUSE_API void record_event(std::string_view name, const sight::Fields& fields) noexcept;

}  // namespace rouse::internal

namespace rouse::sight {

/// What `in_span` gives.
template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] InSpan {
 public:
  using Output = output_t<F>;

  template <class G>
  InSpan(internal::BegunSpan span, G&& future)
      : span_(std::move(span)), future_(std::in_place, std::forward<G>(future)) {}
  InSpan(InSpan&&) = default;
  InSpan& operator=(InSpan&&) = delete;
  ~InSpan() {
    if (span_.node) internal::drop_in_scope(*span_.node, [this] { future_.reset(); });
  }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(InSpan, nullptr, one, &InSpan::future_)
  Poll<Output> poll(Context& cx) {
    polled_.set_polled();
    if (!span_.node) [[likely]]
      return (*future_).poll(cx);
    const internal::TaskLocalPoll in_scope(span_.node);
    Poll<Output> polled = (*future_).poll(cx);
    if (polled.is_ready()) span_.open.end();
    return polled;
  }

  /// Whether the future borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return internal::future_borrows(*future_); }

 private:
  internal::BegunSpan span_;
  internal::Maybe<F> future_;  // optional, so that it can end inside the span
  [[no_unique_address]] internal::MovableUntilPolled polled_;
};

/// A future that runs `future` as a span, which begins now. Completes when `future` does, and
/// throws what it throws.
/// Cancel safety: dropping it drops `future` while the span is still the current one, and ends it.
/// Threads: may be polled on one thread after another.
template <class F>
auto in_span(std::string_view name, F&& future, const Fields& fields = Fields()) {
  using Kept = std::remove_cvref_t<F>;
  static_assert(Future<Kept>, "in_span needs a future: write in_span(name, f(), fields)");
  if (internal::are_spans_recorded()) [[unlikely]] {
    return InSpan<Kept>(internal::begin_span(name, fields, nullptr), std::forward<F>(future));
  }
  return InSpan<Kept>(internal::BegunSpan(), std::forward<F>(future));
}
/// The same for a span whose parent is in another process, which sent `caller`. While nothing is
/// recorded, `current_trace()` is the caller's, to be passed on.
template <class F>
auto in_span(std::string_view name, F&& future, const Fields& fields, const TraceContext& caller) {
  using Kept = std::remove_cvref_t<F>;
  static_assert(Future<Kept>, "in_span needs a future: write in_span(name, f(), fields, caller)");
  return InSpan<Kept>(internal::begin_span(name, fields, &caller), std::forward<F>(future));
}

/// Something has happened, in the current span.
/// Threads: any.
inline void event(std::string_view name, const Fields& fields = Fields()) noexcept {
  if (internal::are_spans_recorded()) [[unlikely]]
    internal::record_event(name, fields);
}

}  // namespace rouse::sight
