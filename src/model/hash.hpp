// Hashes of what happened. Equal histories have equal hashes; different ones differ but for chance
// (2^-64 a pair).
#pragma once

#include <cstdint>

namespace rouse::model {

using Hash = std::uint64_t;

[[nodiscard]] constexpr Hash mix(Hash a, Hash b) noexcept {
  Hash x = a * 0x9E37'79B9'7F4A'7C15U + (b ^ (b >> 29U)) * 0xBF58'476D'1CE4'E5B9U + 0x1234'5677U;
  x ^= x >> 32U;
  x *= 0x94D0'49BB'1331'11EBU;
  x ^= x >> 29U;
  return x;
}

template <class... More>
[[nodiscard]] constexpr Hash mix(Hash a, Hash b, Hash c, More... more) noexcept {
  return mix(mix(a, b), c, more...);
}

}  // namespace rouse::model
