#include "http/decoder.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/http/client_error.hpp"

#include "http/text.hpp"

namespace rouse::http {
namespace {

struct Encoding {
  std::string_view name;
  internal::Box<Decoder> (*make)();
};
constexpr std::array<Encoding, 5> encodings{{{"gzip", make_gzip_decoder},
                                             {"x-gzip", make_gzip_decoder},
                                             {"deflate", make_deflate_decoder},
                                             {"br", make_brotli_decoder},
                                             {"zstd", make_zstd_decoder}}};

class DecodedSource final : public internal::BodySource {
 public:
  DecodedSource(internal::Box<internal::BodySource> body, internal::Box<Decoder> decoder)
      : body_(std::move(body)), decoder_(std::move(decoder)), buffer_(std::size_t{8} * 1024) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) override {
    using Ready = Poll<Result<std::size_t>>;
    if (buf.empty()) return Ready::ready(std::size_t{0});
    for (;;) {
      if (has_more_) {
        const Result<std::size_t> given = decode(buf);
        if (!given || *given != 0) return Ready::ready(given);
        continue;
      }
      const Ready polled = body_->poll_read(cx, buffer_);
      if (polled.is_pending() || !polled.value()) return polled;
      if (*polled.value() == 0) return Ready::ready(at_end());
      has_begun_ = has_more_ = true;
      in_ = std::span(buffer_).first(*polled.value());
    }
  }
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override {
    return std::nullopt;
  }

 private:
  /// No bytes: more must come in.
  Result<std::size_t> decode(std::span<std::byte> out) {
    const Result<Decoder::Progress> progress = decoder_->decode(in_, out);
    if (!progress) return progress.error();
    in_ = in_.subspan(progress->used);
    is_end_ = progress->is_end;
    has_more_ = !in_.empty() || (progress->given == out.size() && !is_end_);
    if (progress->used == 0 && progress->given == 0) {
      if (!in_.empty()) return ClientError::bad_encoding;
      has_more_ = false;
    }
    return progress->given;
  }
  Result<std::size_t> at_end() const {
    if (has_begun_ && !is_end_) return ClientError::bad_encoding;
    return std::size_t{0};
  }

  internal::Box<internal::BodySource> body_;
  internal::Box<Decoder> decoder_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> in_;
  bool has_more_ = false;  // to decode, without another read
  bool has_begun_ = false;
  bool is_end_ = false;
};

}  // namespace

std::string_view known_encodings() {
  static const std::string list = [] {
    std::string names;
    for (const Encoding& encoding : encodings) {
      if (encoding.name == "x-gzip" || !encoding.make()) continue;
      if (!names.empty()) names += ", ";
      names += encoding.name;
    }
    return names;
  }();
  return list;
}

internal::Box<internal::BodySource> decoded(internal::Box<internal::BodySource> body,
                                            Headers& headers) {
  const auto name = headers.get("Content-Encoding");
  if (!name || headers.count("Content-Encoding") > 1) return body;
  for (const Encoding& encoding : encodings) {
    if (!are_same_name(*name, encoding.name)) continue;
    internal::Box<Decoder> decoder = encoding.make();
    if (!decoder) return body;
    headers.remove("Content-Encoding");
    headers.remove("Content-Length");
    return internal::Box<internal::BodySource>(
        new DecodedSource(std::move(body), std::move(decoder)));
  }
  return body;
}

}  // namespace rouse::http
