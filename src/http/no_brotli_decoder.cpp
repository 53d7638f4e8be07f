// In place of brotli_decoder.cpp where brotli is not installed.
#include "http/decoder.hpp"

namespace rouse::http {

internal::Box<Decoder> make_brotli_decoder() { return {}; }

}  // namespace rouse::http
