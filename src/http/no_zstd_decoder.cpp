// In place of zstd_decoder.cpp where zstd is not installed.
#include "http/decoder.hpp"

namespace rouse::http {

internal::Box<Decoder> make_zstd_decoder() { return {}; }

}  // namespace rouse::http
