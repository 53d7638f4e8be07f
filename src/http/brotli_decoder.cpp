#include <brotli/decode.h>
#include <new>

#include "rouse/http/client_error.hpp"

#include "http/decoder.hpp"

namespace rouse::http {
namespace {

class BrotliDecoder final : public Decoder {
 public:
  BrotliDecoder() : state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  BrotliDecoder(const BrotliDecoder&) = delete;
  BrotliDecoder& operator=(const BrotliDecoder&) = delete;
  ~BrotliDecoder() override { BrotliDecoderDestroyInstance(state_); }

  Result<Progress> decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    const auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    auto* next_out = reinterpret_cast<std::uint8_t*>(out.data());
    std::size_t in_left = in.size();
    std::size_t out_left = out.size();
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state_, &in_left, &next_in, &out_left, &next_out, nullptr);
    if (result == BROTLI_DECODER_RESULT_ERROR) return ClientError::bad_encoding;
    Progress progress;
    progress.used = in.size() - in_left;
    progress.given = out.size() - out_left;
    progress.is_end = result == BROTLI_DECODER_RESULT_SUCCESS;
    return progress;
  }

 private:
  BrotliDecoderState* state_;
};

}  // namespace

internal::Box<Decoder> make_brotli_decoder() { return internal::Box<Decoder>(new BrotliDecoder()); }

}  // namespace rouse::http
