// SeekFrom: a position in a file, or in anything else that can seek.
#pragma once

#include <cstdint>

namespace rouse::io {

class SeekFrom {
 public:
  /// Where an offset begins.
  enum class Base : std::uint8_t { start, current, end };

  /// This many bytes from the start. What no file can reach is an error of the seek.
  static SeekFrom start(std::uint64_t offset) noexcept {
    return SeekFrom(Base::start, static_cast<std::int64_t>(offset));
  }
  /// This many bytes from the current position.
  static SeekFrom current(std::int64_t offset) noexcept { return SeekFrom(Base::current, offset); }
  /// This many bytes from the end; negative: before it.
  static SeekFrom end(std::int64_t offset) noexcept { return SeekFrom(Base::end, offset); }

  /// Where the offset begins.
  [[nodiscard]] Base base() const noexcept { return base_; }
  /// How many bytes from there. From the start, a negative one is out of reach.
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }

 private:
  SeekFrom(Base base, std::int64_t offset) noexcept : base_(base), offset_(offset) {}

  Base base_;
  std::int64_t offset_;
};

}  // namespace rouse::io
