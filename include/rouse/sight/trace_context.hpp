// sight::TraceContext: which request of which trace something belongs to, as programs tell each
// other: the `traceparent` of W3C Trace Context.
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//
//   if (const auto caller = sight::TraceContext::parse(header)) ...          // a request comes in
//   headers.set("traceparent", sight::current_trace()->to_string());         // and another goes
//   out
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::sight {

/// A trace and a span in it. Neither is zero.
class ROUSE_API TraceContext {
 public:
  /// How long the text is.
  static constexpr std::size_t text_size = 55;

  /// What a caller sent. Nothing: it is no traceparent, or one that is to be ignored. Of versions
  /// to come it reads what this one has.
  static std::optional<TraceContext> parse(std::string_view traceparent) noexcept;
  /// A new trace, of random numbers.
  static TraceContext generate(bool is_sampled = true) noexcept;

  /// Another span of the same trace.
  [[nodiscard]] TraceContext child() const noexcept;

  /// For the header: version 00.
  [[nodiscard]] std::string to_string() const;
  /// The first half of the trace's number.
  [[nodiscard]] std::uint64_t trace_id_high() const noexcept { return trace_id_[0]; }
  /// The second half.
  [[nodiscard]] std::uint64_t trace_id_low() const noexcept { return trace_id_[1]; }
  /// The span's number.
  [[nodiscard]] std::uint64_t span_id() const noexcept { return span_id_; }
  /// Whether who began the trace keeps it.
  [[nodiscard]] bool is_sampled() const noexcept { return is_sampled_; }

  bool operator==(const TraceContext&) const noexcept = default;

 private:
  TraceContext(std::array<std::uint64_t, 2> trace_id, std::uint64_t span_id,
               bool is_sampled) noexcept
      : trace_id_(trace_id), span_id_(span_id), is_sampled_(is_sampled) {}

  std::array<std::uint64_t, 2> trace_id_;
  std::uint64_t span_id_;
  bool is_sampled_;
};

/// Of the span (sight/span.hpp) that is polled here. Nothing: there is none.
ROUSE_API std::optional<TraceContext> current_trace() noexcept;

}  // namespace rouse::sight
