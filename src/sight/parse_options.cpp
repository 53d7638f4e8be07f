#include "sight/parse_options.hpp"

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <system_error>
#include <utility>

namespace rouse::sight {
namespace {

/// All of `text`, at most `largest`.
std::optional<std::uint64_t> number(std::string_view text, std::uint64_t largest) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > largest) return {};
  return value;
}

struct Suffix {
  std::string_view name;
  std::uint64_t factor;
};
/// A number with one of these behind it.
std::optional<std::uint64_t> quantity(std::string_view text,
                                      std::initializer_list<Suffix> suffixes) {
  constexpr std::uint64_t most = 1'000'000;
  for (const Suffix& suffix : suffixes) {
    if (!text.ends_with(suffix.name)) continue;
    const auto count = number(text.substr(0, text.size() - suffix.name.size()), most);
    if (count && *count != 0) return *count * suffix.factor;
  }
  return {};
}

std::optional<int> signal_number(std::string_view name) {
  constexpr std::pair<std::string_view, int> known[] = {
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"WINCH", SIGWINCH}, {"URG", SIGURG}};
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const auto& [spelled, value] : known) {
    if (name == spelled) return value;
  }
  const auto value = number(name, 64);
  if (!value || *value == 0) return {};
  return static_cast<int>(*value);
}

bool set_tcp(Options& options, std::string_view port) {
  const auto value = number(port, 65535);
  if (value) options.tcp(static_cast<std::uint16_t>(*value));
  return value.has_value();
}

bool set_dump(Options& options, std::string_view signal) {
  const auto value = signal_number(signal);
  if (value) options.dump_on_signal(*value);
  return value.has_value();
}

bool set_time(Options& options, Options& (Options::*set)(std::chrono::nanoseconds) noexcept,
              std::string_view text) {
  const auto time = quantity(text, {{"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}});
  if (time) (options.*set)(std::chrono::nanoseconds(*time));
  return time.has_value();
}

bool set_record(Options& options, std::string_view text) {
  const auto size = quantity(text, {{"KiB", 1 << 10}, {"MiB", 1 << 20}});
  if (!size || *size > std::uint64_t{1} << 30) return false;
  options.record(*size);
  return true;
}

bool set(Options& options, std::string_view part) {
  const std::size_t equals = part.find('=');
  const std::string_view name = part.substr(0, equals);
  const bool has_value = equals != std::string_view::npos;
  const std::string_view value = has_value ? part.substr(equals + 1) : std::string_view();
  if (has_value && value.empty()) return false;
  if (part == "1") {
    options.socket().dump_on_signal(SIGQUIT).watch().slow_poll().stuck();
    return true;
  }
  if (name == "socket") return options.socket(std::string(value)), true;
  if (name == "tcp") return set_tcp(options, has_value ? value : "0");
  if (name == "dump") return set_dump(options, value);
  if (name == "watch" && !has_value) return options.watch(), true;
  if (name == "slow_poll")
    return set_time(options, &Options::slow_poll, has_value ? value : "10ms");
  if (name == "stuck") return set_time(options, &Options::stuck, has_value ? value : "1s");
  if (name == "record") return set_record(options, has_value ? value : "1MiB");
  return false;
}

}  // namespace

ParsedOptions parse_options(std::string_view text) {
  Options options;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    if (!set(options, part)) return {.options = {}, .wrong = "'" + std::string(part) + "'"};
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return {.options = std::move(options), .wrong = {}};
}

}  // namespace rouse::sight
