// Buffer, BufferMut: what is written from and read into: bytes that belong to somebody else. Made
// from whatever holds bytes or characters one after another:
//
//   std::array<char, 4096> buf;
//   std::size_t n = co_await peer.read(buf);
//   co_await peer.write_all({buf.data(), n});
//   co_await peer.write_all("bye\n");
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

namespace rouse::io {

template <class T>
concept ByteLike =
    std::same_as<std::remove_cv_t<T>, std::byte> || std::same_as<std::remove_cv_t<T>, char> ||
    std::same_as<std::remove_cv_t<T>, unsigned char> || std::same_as<std::remove_cv_t<T>, char8_t>;

template <class R>
concept ByteRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                    ByteLike<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Bytes to read into.
class BufferMut {
 public:
  constexpr BufferMut() noexcept = default;
  template <ByteLike T>
    requires(!std::is_const_v<T>)
  BufferMut(T* data, std::size_t size) noexcept
      : data_(reinterpret_cast<std::byte*>(data)), size_(size) {}
  template <ByteRange R>
    requires(!std::same_as<std::remove_cvref_t<R>, BufferMut> &&
             !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
  BufferMut(R&& bytes) noexcept : BufferMut(std::ranges::data(bytes), std::ranges::size(bytes)) {}

  [[nodiscard]] constexpr std::byte* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr operator std::span<std::byte>() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes to write. Of a string literal, or another array of const char, what is before its first
/// NUL, or all if there is none: for bytes that may be zero say {data, size}, or have a std::array.
class Buffer {
 public:
  constexpr Buffer() noexcept = default;
  template <ByteLike T>
  Buffer(const T* data, std::size_t size) noexcept
      : data_(reinterpret_cast<const std::byte*>(data)), size_(size) {}
  template <std::size_t n>
  Buffer(const char (&text)[n]) noexcept : Buffer(text, ::strnlen(text, n)) {}
  /// Of a pointer to text; an array is no pointer.
  template <class P>
    requires(std::same_as<P, const char*> || std::same_as<P, char*>)
  Buffer(const P& text) noexcept : Buffer(text, std::strlen(text)) {}
  Buffer(const BufferMut& bytes) noexcept : Buffer(bytes.data(), bytes.size()) {}
  template <ByteRange R>
    requires(!std::same_as<std::remove_cvref_t<R>, Buffer>)
  Buffer(R&& bytes) noexcept : Buffer(std::ranges::data(bytes), std::ranges::size(bytes)) {}

  [[nodiscard]] constexpr const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr operator std::span<const std::byte>() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rouse::io
