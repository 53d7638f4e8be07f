// Dates of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rouse::http {

/// Of seconds since 1970.
[[nodiscard]] std::string format_date(std::int64_t seconds);
/// Nothing for the two older forms, which nobody sends, and for what is no date.
[[nodiscard]] std::optional<std::int64_t> parse_date(std::string_view text) noexcept;
/// Now. Valid until the next call of this thread.
[[nodiscard]] std::string_view date_now();

}  // namespace rouse::http
