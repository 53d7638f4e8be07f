// Utf8: whether bytes that come in pieces are UTF-8 (RFC 3629: shortest forms, no surrogates,
// nothing beyond U+10FFFF). Says no at the first byte that can't belong to any text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rouse::http {

class Utf8 {
 public:
  /// False: no text begins like this. Then it must not be called again.
  [[nodiscard]] bool take(std::span<const std::byte> bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (missing_ == 0) {
        i += leading_ascii(bytes.subspan(i));
        if (i == bytes.size()) return true;
      }
      if (!take(std::to_integer<std::uint8_t>(bytes[i]))) return false;
    }
    return true;
  }
  /// Not in the middle of a character.
  [[nodiscard]] bool is_whole() const noexcept { return missing_ == 0; }

 private:
  static std::size_t leading_ascii(std::span<const std::byte> bytes) noexcept {
    constexpr std::uint64_t high_bits = 0x8080808080808080U;
    std::size_t n = 0;
    for (std::uint64_t word = 0; bytes.size() - n >= sizeof word; n += sizeof word) {
      std::memcpy(&word, bytes.data() + n, sizeof word);
      if ((word & high_bits) != 0) break;
    }
    return n;
  }

  bool take(std::uint8_t byte) noexcept {
    if (missing_ == 0) return begin(byte);
    if (byte < least_ || byte > most_) return false;
    expect(static_cast<std::uint8_t>(missing_ - 1));
    return true;
  }
  bool begin(std::uint8_t byte) noexcept {
    if (byte < 0x80) return true;
    if (byte < 0xC2 || byte > 0xF4) return false;
    if (byte < 0xE0) return expect(1);
    if (byte < 0xF0) {
      return expect(2, byte == 0xE0 ? 0xA0 : 0x80, byte == 0xED ? 0x9F : 0xBF);
    }
    return expect(3, byte == 0xF0 ? 0x90 : 0x80, byte == 0xF4 ? 0x8F : 0xBF);
  }
  /// So many bytes more, the next of them in that range.
  bool expect(std::uint8_t missing, std::uint8_t least = 0x80, std::uint8_t most = 0xBF) noexcept {
    missing_ = missing;
    least_ = least;
    most_ = most;
    return true;
  }

  std::uint8_t missing_ = 0;
  std::uint8_t least_ = 0x80;
  std::uint8_t most_ = 0xBF;
};

/// Whether all of it is UTF-8.
[[nodiscard]] inline bool is_utf8(std::span<const std::byte> bytes) noexcept {
  Utf8 check;
  return check.take(bytes) && check.is_whole();
}

}  // namespace rouse::http
