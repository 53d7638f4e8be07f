#include "http/date.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>

#include "sys/clock.hpp"

namespace rouse::http {
namespace {

constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Two or four digits, and nothing else.
std::optional<int> digits_in(std::string_view text) noexcept {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

void append_digits(std::string& text, unsigned number, std::size_t digits) {
  const std::string shown = std::to_string(number);
  if (shown.size() < digits) text.append(digits - shown.size(), '0');
  text += shown;
}

class Cached {
 public:
  std::string_view now() {
    const std::int64_t seconds = sys::unix_seconds();
    if (seconds != seconds_ || text_.empty()) {
      text_ = format_date(seconds);
      seconds_ = seconds;
    }
    return text_;
  }

 private:
  std::int64_t seconds_ = 0;
  std::string text_;
};

}  // namespace

std::string format_date(std::int64_t seconds) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds(seconds)};
  const sys_days day = floor<std::chrono::days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::string text(http::days[weekday(day).c_encoding()]);
  text += ", ";
  append_digits(text, static_cast<unsigned>(date.day()), 2);
  text += ' ';
  text += http::months[static_cast<unsigned>(date.month()) - 1];
  text += ' ';
  append_digits(text, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  text += ' ';
  append_digits(text, static_cast<unsigned>(clock.hours().count()), 2);
  text += ':';
  append_digits(text, static_cast<unsigned>(clock.minutes().count()), 2);
  text += ':';
  append_digits(text, static_cast<unsigned>(clock.seconds().count()), 2);
  return text += " GMT";
}

std::optional<std::int64_t> parse_date(std::string_view text) noexcept {
  using namespace std::chrono;
  if (text.size() != 29 || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) {
    return std::nullopt;
  }
  const auto day_of_month = digits_in(text.substr(5, 2));
  const auto year_number = digits_in(text.substr(12, 4));
  const auto hour = digits_in(text.substr(17, 2));
  const auto minute = digits_in(text.substr(20, 2));
  const auto second = digits_in(text.substr(23, 2));
  unsigned month_number = 0;
  while (month_number < 12 && http::months[month_number] != text.substr(8, 3)) ++month_number;
  if (!day_of_month || !year_number || !hour || !minute || !second || month_number == 12) {
    return std::nullopt;
  }
  const year_month_day date(year(*year_number), month(month_number + 1),
                            day(static_cast<unsigned>(*day_of_month)));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto time =
      sys_days(date) + hours(*hour) + minutes(*minute) + std::chrono::seconds(*second);
  return duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string_view date_now() {
  static thread_local Cached cached;
  return cached.now();
}

}  // namespace rouse::http
