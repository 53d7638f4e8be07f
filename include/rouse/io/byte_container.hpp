// ByteContainer: a container to read an unknown number of bytes into: a std::vector<std::byte>, a
// std::string.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "rouse/io/buffer.hpp"

namespace rouse::io {

template <class C>
concept ByteContainer = ByteRange<C&> && requires(C& bytes, std::size_t n) {
  bytes.resize(n);
  bytes.reserve(n);
  { bytes.capacity() } -> std::convertible_to<std::size_t>;
};

}  // namespace rouse::io

namespace rouse::internal {

/// At its end.
template <io::ByteContainer C>
void append_bytes(C& to, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t old = to.size();
  to.resize(old + bytes.size());
  std::memcpy(to.data() + old, bytes.data(), bytes.size());
}

}  // namespace rouse::internal
