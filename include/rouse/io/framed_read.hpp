// FramedRead: the frames of a reader, as a stream.
//
//   io::FramedRead frames(stream, io::LengthDelimited());     // borrows; std::move(stream): owns
//   while (auto frame = co_await frames.next()) use(frame->value());
//
// Its items are Results, so that an error is seen; there are no more items after one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/codec.hpp"
#include "rouse/io/frame_buffer.hpp"

namespace rouse::io {

/// `R` is the reader, which it then owns, or a reference to it. Errors: the codec's, the reader's.
/// Cancel safety: a dropped `next()` loses nothing: what was read stays here.
template <class R, class Codec>
class FramedRead {
  static_assert(AsyncRead<std::remove_reference_t<R>>,
                "FramedRead needs a rouse::AsyncRead as its first argument");
  static_assert(Decoder<Codec>,
                "FramedRead needs a codec that decodes: see io::Decoder in rouse/io/codec.hpp");

 public:
  using Item = Result<typename Codec::Frame>;

  FramedRead(std::type_identity_t<R>&& reader, Codec codec)
      : reader_(std::forward<R>(reader)), codec_(std::move(codec)) {}

  /// The next frame or error, or nothing at the end.
  Next<FramedRead> next() ROUSE_LIFETIMEBOUND { return Next<FramedRead>(*this); }

  PollNext<Item> poll_next(Context& cx) {
    if (ended_) return PollNext<Item>::ready(std::nullopt);
    if (!cx.take_budget()) return pending;
    while (!reader_ended_) {
      Result<std::optional<typename Codec::Frame>> frame = codec_.decode(buf_);
      if (!frame) return end_with(frame.error());
      if (*frame) return PollNext<Item>::ready(Item(**std::move(frame)));
      const Poll<Result<std::size_t>> polled = reader_.poll_read(cx, buf_.room());
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return end_with(n.error());
      reader_ended_ = *n == 0;
      buf_.add(*n);
    }
    return last();
  }
  [[nodiscard]] bool borrows() const noexcept { return std::is_reference_v<R>; }

  /// What was read and is not yet a frame.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept { return buf_.bytes(); }
  [[nodiscard]] std::remove_reference_t<R>& inner() noexcept { return reader_; }

 private:
  PollNext<Item> end_with(std::error_code error) {
    ended_ = true;
    return PollNext<Item>::ready(Item(error));
  }
  PollNext<Item> last() {
    Result<std::optional<typename Codec::Frame>> frame = codec_.decode_end(buf_);
    if (!frame) return end_with(frame.error());
    if (*frame) return PollNext<Item>::ready(Item(**std::move(frame)));
    ended_ = true;
    return PollNext<Item>::ready(std::nullopt);
  }

  R reader_;
  Codec codec_;
  FrameBuffer buf_;
  bool reader_ended_ = false;  // there may still be a frame in the buffer
  bool ended_ = false;
};

template <class R, class Codec>
FramedRead(R&&, Codec) -> FramedRead<R, Codec>;

}  // namespace rouse::io
