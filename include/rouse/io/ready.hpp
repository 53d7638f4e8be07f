// Interest: what a task waits for. Ready: the readiness of a descriptor at some moment.
#pragma once

#include <cstdint>

namespace rouse::io {

enum class Interest : std::uint8_t { readable = 1, writable = 2, both = 3 };

/// The readiness of a descriptor at one moment. Each event of the kernel adds to it and advances
/// its tick, so that a reader who found nothing to read clears what it saw, and not what arrived
/// meanwhile.
///
///   tick (36 bits) | generation (20 bits) | flags (8 bits)
class Ready {
 public:
  static constexpr std::uint64_t readable = 1;
  static constexpr std::uint64_t writable = 2;
  static constexpr std::uint64_t read_closed = 4;
  static constexpr std::uint64_t write_closed = 8;
  static constexpr std::uint64_t error = 16;
  static constexpr std::uint64_t urgent = 32;  // a mark among the bytes, at which a read stops
  static constexpr std::uint64_t runtime_ended = 128;
  static constexpr std::uint64_t flags = 0xff;

  constexpr Ready() noexcept = default;
  explicit constexpr Ready(std::uint64_t word) noexcept : word_(word) {}

  /// A read may give bytes, end of file, or an error.
  [[nodiscard]] constexpr bool is_readable() const noexcept { return is(Interest::readable); }
  /// A write may succeed, or fail.
  [[nodiscard]] constexpr bool is_writable() const noexcept { return is(Interest::writable); }
  /// The peer has shut down its writing side.
  [[nodiscard]] constexpr bool is_read_closed() const noexcept {
    return (word_ & read_closed) != 0;
  }
  /// The peer reads no more: writes will fail.
  [[nodiscard]] constexpr bool is_write_closed() const noexcept {
    return (word_ & write_closed) != 0;
  }
  /// The system has an error for it.
  [[nodiscard]] constexpr bool is_error() const noexcept { return (word_ & error) != 0; }

  /// Whether it is ready for this interest.
  [[nodiscard]] constexpr bool is(Interest interest) const noexcept {
    return (word_ & flags_of(interest)) != 0;
  }
  /// All of it: tick, generation and flags.
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }

  /// Any of these wakes a waiter.
  static constexpr std::uint64_t flags_of(Interest interest) noexcept {
    const auto bits = static_cast<std::uint64_t>(interest);
    return ((bits & 1) != 0 ? readable | read_closed | error | urgent : 0) |
           ((bits & 2) != 0 ? writable | write_closed | error : 0);
  }

 private:
  std::uint64_t word_ = 0;
};

}  // namespace rouse::io
