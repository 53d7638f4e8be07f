// tls::Version: the versions of the protocol that are spoken here. Older ones are broken.
#pragma once

#include <cstdint>

namespace rouse::tls {

enum class Version : std::uint8_t {
  tls_1_2,
  tls_1_3,
};

}  // namespace rouse::tls
