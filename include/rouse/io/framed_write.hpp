// FramedWrite: sends frames to a writer.
//
//   io::FramedWrite frames(stream, io::LengthDelimited());    // borrows; std::move(stream): owns
//   co_await frames.send("hello");
//
// A frame goes into the buffer whole, and the buffer out in order: whatever is dropped midway, the
// other side never sees a part of a frame followed by another frame.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/base/attributes.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/codec.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/flush.hpp"

namespace rouse::io {

/// Whether a frame is to be on its way when it was sent, or may wait for others in the buffer.
enum class Sending { flushed, buffered };

/// Completes when the frame is in the buffer (`feed`), or has left it and the writer is flushed
/// (`send`). Dropped midway, the frame is either in the buffer, and goes out with the next frame or
/// flush, or it is not sent at all. Errors: the codec's, after which the next frame may be sent;
/// Error::write_zero and the writer's.
template <class F>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] SendFrame
    : public Fallible<SendFrame<F>, void> {
 public:
  SendFrame(F& frames, typename F::Outgoing frame, Sending sending) noexcept
      : frames_(frames), frame_(std::move(frame)), sending_(sending) {}

  Poll<Result<void>> poll_result(Context& cx) {
    if (frame_) {
      Poll<Result<void>> polled = frames_.poll_ready(cx);
      if (polled.is_pending() || !polled.value()) return polled;
      Result<void> buffered = frames_.start_send(*frame_);
      if (!buffered) return Poll<Result<void>>::ready(std::move(buffered));
      frame_.reset();
    }
    if (sending_ == Sending::flushed) return frames_.poll_flush(cx);
    return Poll<Result<void>>::ready(Result<void>());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  F& frames_;
  std::optional<typename F::Outgoing> frame_;
  Sending sending_;
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
    return SendFrame<FramedWrite>(*this, std::move(frame), Sending::flushed);
  }
  /// Adds a frame to the buffer, for a flush later on: see SendFrame.
  SendFrame<FramedWrite> feed(Outgoing frame) ROUSE_LIFETIMEBOUND {
    return SendFrame<FramedWrite>(*this, std::move(frame), Sending::buffered);
  }
  /// See io::Flush.
  Flush<FramedWrite> flush() ROUSE_LIFETIMEBOUND { return Flush<FramedWrite>(*this); }
  /// See io::Shutdown.
  Shutdown<FramedWrite> shutdown() ROUSE_LIFETIMEBOUND { return Shutdown<FramedWrite>(*this); }

  /// Ready when the buffer has room for a frame. Once it began to be sent, all of it is: else what
  /// was sent would stay in it while frames are added.
  Poll<Result<void>> poll_ready(Context& cx) {
    if (sent_ == 0 && buf_.size() < high_water) return Poll<Result<void>>::ready(Result<void>());
    return poll_send(cx);
  }
  /// Adds a frame to the buffer.
  Result<void> start_send(const Outgoing& frame) { return codec_.encode(frame, buf_); }
  Poll<Result<void>> poll_flush(Context& cx) {
    Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending() || !sent.value()) return sent;
    return writer_.poll_flush(cx);
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending() || !sent.value()) return sent;
    return writer_.poll_shutdown(cx);
  }

  /// What was not handed to the writer yet.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept {
    return std::span<const std::byte>(buf_).subspan(sent_);
  }
  [[nodiscard]] std::remove_reference_t<W>& inner() noexcept { return writer_; }

 private:
  static constexpr std::size_t high_water = std::size_t{8} * 1024;

  Poll<Result<void>> poll_send(Context& cx) {
    while (sent_ < buf_.size()) {
      const Poll<Result<std::size_t>> polled = writer_.poll_write(cx, buffer());
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(Error::write_zero);
      ROUSE_ASSERT(*n <= buf_.size() - sent_, "poll_write says it took more than there was");
      sent_ += *n;
    }
    buf_.clear();
    sent_ = 0;
    return Poll<Result<void>>::ready(Result<void>());
  }

  W writer_;
  Codec codec_;
  std::vector<std::byte> buf_;  // the first sent_ bytes were handed to the writer
  std::size_t sent_ = 0;
};

template <class W, class Codec>
FramedWrite(W&&, Codec) -> FramedWrite<W, Codec>;

}  // namespace rouse::io
