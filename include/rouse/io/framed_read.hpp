// FramedRead: the frames of a reader, as a stream.
//
//   io::FramedRead frames(stream, io::LengthDelimitedCodec());  // owns a std::move(stream)
//   while (auto frame = co_await frames.next()) use(frame->value());
//
// Its items are Results, so that an error is seen; there are no more items after one, unless it is
// the codec's and the codec recovers (Decoder).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/codec.hpp"
#include "rouse/io/frame_buffer.hpp"
#include "rouse/io/internal/held.hpp"

namespace rouse::io {

/// `R` is the reader, which it then owns, or a reference to it.
/// Cancel safety: dropping `next()` loses nothing: what was read stays here.
/// Errors: the codec's, the reader's.
template <class R, class Codec>
class FramedRead {
  static_assert(AsyncRead<std::remove_reference_t<R>>,
                "FramedRead needs a rouse::AsyncRead as its first argument");
  static_assert(Decoder<Codec>,
                "FramedRead needs a codec that decodes: see io::Decoder in rouse/io/codec.hpp");

 public:
  using Item = Result<typename Codec::Frame>;

  /// `read` is what was read already: it comes first.
  FramedRead(std::type_identity_t<R>&& reader, Codec codec, FrameBuffer read = {})
      : reader_(std::forward<R>(reader)), codec_(std::move(codec)), buf_(std::move(read)) {}

  /// The next frame or error, or an empty optional at the end.
  Next<FramedRead> next() ROUSE_LIFETIMEBOUND { return Next<FramedRead>(*this); }

  PollNext<Item> poll_next(Context& cx) {
    if (ended_) return PollNext<Item>::ready(std::nullopt);
    if (!cx.take_budget()) return pending;
    while (!reader_ended_) {
      Result<std::optional<typename Codec::Frame>> frame = codec_.decode(buf_);
      if (!frame) return end_with(frame.error(), !recovers);
      if (*frame) return PollNext<Item>::ready(Item(**std::move(frame)));
      const Poll<Result<std::size_t>> polled = inner().poll_read(cx, buf_.room());
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
  /// The underlying reader. Reading from it skips what is in the buffer.
  [[nodiscard]] std::remove_reference_t<R>& inner() noexcept { return reader_.it; }
  /// Returns the underlying reader; bytes left in the buffer are lost.
  [[nodiscard]] R into_inner() && { return std::forward<R>(reader_.it); }
  /// Takes what was read and is not yet a frame.
  [[nodiscard]] FrameBuffer take_buffer() noexcept { return std::exchange(buf_, FrameBuffer()); }
  /// What decodes the frames.
  [[nodiscard]] Codec& codec() noexcept { return codec_; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FramedRead, nullptr, one, &FramedRead::reader_)

 private:
  template <class, class>
  friend class Framed;  // its split makes another one, which goes on where this one is
  static constexpr bool recovers = requires { requires Codec::recovers; };

  PollNext<Item> end_with(std::error_code error, bool ends = true) {
    ended_ = ends;
    return PollNext<Item>::ready(Item(error));
  }
  PollNext<Item> last() {
    Result<std::optional<typename Codec::Frame>> frame = codec_.decode_end(buf_);
    if (!frame) return end_with(frame.error(), !recovers);
    ended_ = !*frame;
    return PollNext<Item>::ready(ended_ ? std::nullopt : std::optional<Item>(**std::move(frame)));
  }

  internal::Held<R> reader_;
  Codec codec_;
  FrameBuffer buf_;
  bool reader_ended_ = false;  // there may still be a frame in the buffer
  bool ended_ = false;
};

template <class R, class Codec>
FramedRead(R&&, Codec) -> FramedRead<R, Codec>;

}  // namespace rouse::io
