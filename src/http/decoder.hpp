// Decoders: undo the Content-Encoding of a body as it is read. What comes out is bounded by the
// buffer of the reader, so no small body becomes a large one behind anybody's back.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "rouse/base/internal/box.hpp"
#include "rouse/base/result.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/internal/body_source.hpp"

namespace rouse::http {

class Decoder {
 public:
  struct Progress {
    std::size_t used = 0;
    std::size_t given = 0;
    bool is_end = false;  // of what was encoded
  };

  Decoder() noexcept = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  /// Fails with ClientError::bad_encoding. More may come out of what was used: it is empty only
  /// when it leaves room in `out`.
  virtual Result<Progress> decode(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

/// Each may be null: that library was not there when this was built.
internal::Box<Decoder> make_gzip_decoder();
internal::Box<Decoder> make_deflate_decoder();
internal::Box<Decoder> make_brotli_decoder();
internal::Box<Decoder> make_zstd_decoder();

/// For Accept-Encoding.
[[nodiscard]] std::string_view known_encodings();
/// The body as it was before it was encoded as `headers` say, which then say it no more. As it is,
/// if that encoding is not known here.
[[nodiscard]] internal::Box<internal::BodySource> decoded(internal::Box<internal::BodySource> body,
                                                          Headers& headers);

}  // namespace rouse::http
