#include <new>
#include <zstd.h>

#include "rouse/http/client_error.hpp"

#include "http/decoder.hpp"

namespace rouse::http {
namespace {

/// As RFC 9659 has it: a window of 8 MiB at most.
constexpr int most_window_log = 23;

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, most_window_log);
  }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  Result<Progress> decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t hint = ZSTD_decompressStream(context_, &to, &from);
    if (ZSTD_isError(hint) != 0) return ClientError::bad_encoding;
    Progress progress;
    progress.used = from.pos;
    progress.given = to.pos;
    progress.is_end = hint == 0;
    return progress;
  }

 private:
  ZSTD_DCtx* context_;
};

}  // namespace

internal::Box<Decoder> make_zstd_decoder() { return internal::Box<Decoder>(new ZstdDecoder()); }

}  // namespace rouse::http
