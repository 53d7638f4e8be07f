// FramedWrite: sends frames to a writer.
//
//   io::FramedWrite frames(stream, io::LengthDelimitedCodec());  // owns a std::move(stream)
//   co_await frames.send("hello");
//
// A frame goes into the buffer whole, and the buffer is sent in order: whatever is dropped midway,
// the peer never sees a part of a frame followed by another frame.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/codec.hpp"
#include "rouse/io/flush.hpp"
#include "rouse/io/internal/held.hpp"
#include "rouse/io/internal/send_buffer.hpp"

namespace rouse::internal {

/// Whether a frame is flushed when it is sent, or may wait for others in the buffer.
enum class Sending { flushed, buffered };

}  // namespace rouse::internal

namespace rouse::io {

/// Completes when the frame is in the buffer (`feed`), or has left it and the writer is flushed
/// (`send`).
/// Cancel safety: if dropped midway, the frame is either in the buffer, and is sent with the next
/// frame or flush, or it is not sent at all.
/// Errors: the codec's, after which the next frame may be sent; Error::write_zero and the writer's.
template <class F>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SendFrame
    : public ResultFuture<SendFrame<F>, void> {
 public:
  SendFrame(F& frames, typename F::Outgoing frame, internal::Sending sending) noexcept
      : frames_(&frames), frame_(std::move(frame)), sending_(sending) {}

  Poll<Result<void>> poll_result(Context& cx) {
    if (frame_) {
      Poll<Result<void>> polled = frames_->poll_ready(cx);
      if (polled.is_pending() || !polled.value()) return polled;
      Result<void> buffered = frames_->start_send(*frame_);
      if (!buffered) return Poll<Result<void>>::ready(std::move(buffered));
      frame_.reset();
    }
    if (sending_ == internal::Sending::flushed) return frames_->poll_flush(cx);
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(SendFrame, "send", one, &SendFrame::frames_)

 private:
  F* frames_;
  std::optional<typename F::Outgoing> frame_;
  internal::Sending sending_;
};

/// `W` is the writer, which it then owns, or a reference to it. Dropping it loses what is in its
/// buffer.
template <class W, class Codec>
class FramedWrite {
  static_assert(AsyncWrite<std::remove_reference_t<W>>,
                "FramedWrite needs a rouse::AsyncWrite as its first argument");
  static_assert(Encoder<Codec>,
                "FramedWrite needs a codec that encodes: see io::Encoder in rouse/io/codec.hpp");

 public:
  using Outgoing = typename Codec::Outgoing;

  FramedWrite(std::type_identity_t<W>&& writer, Codec codec)
      : writer_(std::forward<W>(writer)), codec_(std::move(codec)) {}

  /// Sends a frame at once: see SendFrame.
  SendFrame<FramedWrite> send(Outgoing frame) ROUSE_LIFETIMEBOUND {
    return SendFrame<FramedWrite>(*this, std::move(frame), internal::Sending::flushed);
  }
  /// Adds a frame to the buffer, for a flush later on: see SendFrame.
  SendFrame<FramedWrite> feed(Outgoing frame) ROUSE_LIFETIMEBOUND {
    return SendFrame<FramedWrite>(*this, std::move(frame), internal::Sending::buffered);
  }
  /// See io::Flush.
  Flush<FramedWrite> flush() ROUSE_LIFETIMEBOUND { return Flush<FramedWrite>(*this); }
  /// See io::Shutdown.
  Shutdown<FramedWrite> shutdown() ROUSE_LIFETIMEBOUND { return Shutdown<FramedWrite>(*this); }

  // Sink.
  /// Ready when the buffer has room for a frame.
  Poll<Result<void>> poll_ready(Context& cx) {
    if (buf_.is_below(internal::frames_high_water))
      return Poll<Result<void>>::ready(Result<void>());
    return buf_.poll_send(cx, inner());
  }
  /// Adds a frame to the buffer.
  Result<void> start_send(const Outgoing& frame) { return codec_.encode(frame, buf_.bytes()); }
  Poll<Result<void>> poll_flush(Context& cx) { return buf_.poll_flush(cx, inner()); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return buf_.poll_shutdown(cx, inner()); }
  /// See Sink: a shutdown.
  Poll<Result<void>> poll_close(Context& cx) { return poll_shutdown(cx); }

  /// What was not yet passed to the writer.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept { return buf_.unsent(); }
  /// The underlying writer. Bytes written to it directly overtake what is in the buffer.
  [[nodiscard]] std::remove_reference_t<W>& inner() noexcept { return writer_.it; }
  /// Returns the underlying writer; bytes left in the buffer are lost.
  [[nodiscard]] W into_inner() && { return std::forward<W>(writer_.it); }
  /// What encodes the frames.
  [[nodiscard]] Codec& codec() noexcept { return codec_; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FramedWrite, nullptr, one, &FramedWrite::writer_)

 private:
  internal::Held<W> writer_;
  Codec codec_;
  internal::SendBuffer buf_;
};

template <class W, class Codec>
FramedWrite(W&&, Codec) -> FramedWrite<W, Codec>;

}  // namespace rouse::io
