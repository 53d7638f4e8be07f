// Input: the bytes of one fuzz run, taken from the front as the values a target asks for. When they
// are used up every value is 0, so each input is a whole run and a shorter one is a prefix of it.
// require: what a target demands; a broken demand ends the program, which is how libFuzzer learns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

namespace rouse::fuzz {

inline void require(bool holds, const char* demand,
                    std::source_location where = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: does not hold: %s\n", where.file_name(),
               static_cast<unsigned>(where.line()), demand);
  std::abort();
}

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) noexcept : left_(data, size) {}

  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }

  std::uint8_t byte() noexcept {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  bool flag() noexcept { return (byte() & 1U) != 0; }
  /// From 0 to n - 1, of one byte: n is at most 256.
  std::size_t below(std::size_t n) noexcept { return byte() % n; }
  /// Lowest byte first.
  std::uint64_t number(std::size_t bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  /// So many bytes, or what is left.
  std::string text(std::size_t size) {
    const auto taken = left_.first(std::min(size, left_.size()));
    left_ = left_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }
  std::string rest() { return text(left_.size()); }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace rouse::fuzz
