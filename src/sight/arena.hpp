// Arena: memory for a dump, straight from the system: a dump works while malloc's lock is held.
// What is used of it is never given back before all of it is.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

#include "sys/memory.hpp"

namespace rouse::sight {

class Arena {
 public:
  /// Pages that are not used cost nothing. If there are not so many (RLIMIT_AS), less will do for
  /// the tables of a dump and some hundred groups.
  Arena() noexcept {
    for (const std::size_t size : {std::size_t{64} << 20, std::size_t{16} << 20}) {
      memory_ = static_cast<char*>(sys::map_pages(size, page));
      capacity_ = size;
      if (memory_ != nullptr) return;
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    if (memory_ != nullptr) sys::unmap_pages(memory_, capacity_);
  }

  [[nodiscard]] bool is_there() const noexcept { return memory_ != nullptr; }
  /// All zero; null if there is no room for so many.
  template <class T>
  T* make(std::size_t count) noexcept {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 16);
    const std::size_t size = (count * sizeof(T) + 15) & ~std::size_t{15};
    if (memory_ == nullptr || count > capacity_ / sizeof(T) || size > capacity_ - used_) {
      return nullptr;
    }
    char* const place = memory_ + used_;
    used_ += size;
    return std::launder(reinterpret_cast<T*>(place));
  }
  /// A copy, cut after `longest` bytes; null for null, or without room.
  const char* copy(const char* text, std::size_t longest) noexcept {
    if (text == nullptr) return nullptr;
    const std::size_t length = ::strnlen(text, longest);
    char* const made = make<char>(length + 1);
    if (made != nullptr) std::memcpy(made, text, length);
    return made;
  }

 private:
  static constexpr std::size_t page = 65536;
  char* memory_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace rouse::sight
