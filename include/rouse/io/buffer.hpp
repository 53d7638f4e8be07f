// Buffer, BufferMut: borrowed bytes to write from and to read into. Anything that holds contiguous
// bytes or characters converts to them:
//
//   std::array<char, 4096> buf;
//   std::size_t n = co_await peer.read(buf);
//   co_await peer.write_all({buf.data(), n});
//   co_await peer.write_all("bye\n");
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>  // std::data, std::size
#include <type_traits>

namespace rouse::io {

/// The element types of a buffer: std::byte, char, unsigned char, char8_t.
template <class T>
concept ByteLike =
    std::same_as<std::remove_cv_t<T>, std::byte> || std::same_as<std::remove_cv_t<T>, char> ||
    std::same_as<std::remove_cv_t<T>, unsigned char> || std::same_as<std::remove_cv_t<T>, char8_t>;

/// A vector, an array, a string: contiguous bytes.
template <class R>
concept ByteRange = requires(std::remove_reference_t<R>& bytes) {
  requires ByteLike<std::remove_pointer_t<decltype(std::data(bytes))>>;
  { std::size(bytes) } -> std::convertible_to<std::size_t>;
};
/// A ByteRange that may be written to.
template <class R>
concept MutableByteRange = ByteRange<R> && requires(std::remove_reference_t<R>& bytes) {
  requires !std::is_const_v<std::remove_pointer_t<decltype(std::data(bytes))>>;
};

/// Bytes to read into.
class BufferMut {
 public:
  constexpr BufferMut() noexcept = default;
  template <ByteLike T>
    requires(!std::is_const_v<T>)
  BufferMut(T* data, std::size_t size) noexcept
      : data_(reinterpret_cast<std::byte*>(data)), size_(size) {}
  template <MutableByteRange R>
    requires(!std::same_as<std::remove_cvref_t<R>, BufferMut>)
  BufferMut(R&& bytes) noexcept : BufferMut(std::data(bytes), std::size(bytes)) {}

  /// The first byte.
  [[nodiscard]] constexpr std::byte* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr operator std::span<std::byte>() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes to write. A string literal, or another array of const char, ends at its first NUL, if
/// there is one: for bytes that may be zero write {data, size}, or use a std::array.
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
  Buffer(R&& bytes) noexcept : Buffer(std::data(bytes), std::size(bytes)) {}

  /// The first byte.
  [[nodiscard]] constexpr const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr operator std::span<const std::byte>() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rouse::io
