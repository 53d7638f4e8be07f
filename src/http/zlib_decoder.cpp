// gzip and deflate, by zlib.
#include <new>
#include <zlib.h>

#include "rouse/http/client_error.hpp"

#include "http/decoder.hpp"

namespace rouse::http {
namespace {

constexpr int gzip_window = 15 + 16;
constexpr int zlib_window = 15;
constexpr int raw_window = -15;

class ZlibDecoder final : public Decoder {
 public:
  explicit ZlibDecoder(int window_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ZlibDecoder(const ZlibDecoder&) = delete;
  ZlibDecoder& operator=(const ZlibDecoder&) = delete;
  ~ZlibDecoder() override { inflateEnd(&stream_); }

  Result<Progress> decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    // Another member follows: gzip allows that.
    if (is_end_ && (in.empty() || inflateReset(&stream_) != Z_OK)) return ended(in);
    is_end_ = false;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    const std::size_t room = out.size() < most_at_once ? out.size() : most_at_once;
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return ClientError::bad_encoding;
    }
    is_end_ = result == Z_STREAM_END;
    Progress progress;
    progress.used = in.size() - stream_.avail_in;
    progress.given = room - stream_.avail_out;
    progress.is_end = is_end_;
    return progress;
  }

 private:
  static constexpr std::size_t most_at_once = std::size_t{1} << 30;

  static Result<Progress> ended(std::span<const std::byte> in) {
    if (!in.empty()) return ClientError::bad_encoding;
    Progress progress;
    progress.is_end = true;
    return progress;
  }

  z_stream stream_{};
  bool is_end_ = false;
};

/// Meant is zlib's format; some servers send what is inside of it.
class DeflateDecoder final : public Decoder {
 public:
  Result<Progress> decode(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (!decoder_) {
      if (in.empty()) return Progress();
      const bool is_zlib = (std::to_integer<unsigned>(in.front()) & 0x0F) == Z_DEFLATED;
      decoder_ = internal::Box<Decoder>(new ZlibDecoder(is_zlib ? zlib_window : raw_window));
    }
    return decoder_->decode(in, out);
  }

 private:
  internal::Box<Decoder> decoder_;
};

}  // namespace

internal::Box<Decoder> make_gzip_decoder() {
  return internal::Box<Decoder>(new ZlibDecoder(gzip_window));
}
internal::Box<Decoder> make_deflate_decoder() {
  return internal::Box<Decoder>(new DeflateDecoder());
}

}  // namespace rouse::http
