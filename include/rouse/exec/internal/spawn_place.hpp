// SpawnPlace: where a task was spawned, in one word: a source location or, where the call has
// arguments behind which no default argument can stand, the address of the code that called.
#pragma once

#include <cstdint>
#include <source_location>

namespace rouse::internal {

class SpawnPlace {
 public:
  SpawnPlace(std::source_location where = {}) noexcept
      : word_(__builtin_bit_cast(std::uintptr_t, where)) {}
  SpawnPlace(const void* code) noexcept : word_(reinterpret_cast<std::uintptr_t>(code) | is_code) {}

  /// Empty, if only the code is known.
  [[nodiscard]] std::source_location source() const noexcept {
    return __builtin_bit_cast(std::source_location, (word_ & is_code) != 0 ? 0 : word_);
  }
  /// 0, if the source is known.
  [[nodiscard]] std::uintptr_t code() const noexcept {
    return (word_ & is_code) != 0 ? word_ & ~is_code : 0;
  }

  /// The same as a number, and back: equal for tasks that one call spawned.
  [[nodiscard]] std::uintptr_t word() const noexcept { return word_; }
  [[nodiscard]] static SpawnPlace of_word(std::uintptr_t word) noexcept {
    SpawnPlace place;
    place.word_ = word;
    return place;
  }

 private:
  // No address of a program has its highest bit.
  static constexpr std::uintptr_t is_code = ~(UINTPTR_MAX >> 1);
  std::uintptr_t word_;
};

}  // namespace rouse::internal
