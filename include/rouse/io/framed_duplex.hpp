// Framed: the frames of a connection, both ways: a Stream of what arrives and a Sink for what is
// sent.
//
//   io::Framed peer(std::move(stream), io::LinesCodec());  // owns; Framed(stream, ...) borrows
//   while (auto line = co_await peer.next()) co_await peer.send(answer(line->value()));
//
// One codec does both, so it may remember what was sent until the answer arrives. For two tasks,
// split it: then each direction has a copy of the codec.
//
//   auto [frames_in, frames_out] = std::move(peer).split();
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/codec.hpp"
#include "rouse/io/flush.hpp"
#include "rouse/io/framed_read.hpp"
#include "rouse/io/framed_write.hpp"
#include "rouse/io/internal/send_buffer.hpp"
#include "rouse/io/split.hpp"

namespace rouse::io {

/// `S` is the stream, which it then owns, or a reference to it. Receiving is as with a FramedRead,
/// sending as with a FramedWrite; neither waits for the other. Dropping it loses what is in its
/// buffers.
template <class S, class Codec>
class Framed {
  static_assert(AsyncRead<std::remove_reference_t<S>> && AsyncWrite<std::remove_reference_t<S>>,
                "Framed needs a stream that is a rouse::AsyncRead and a rouse::AsyncWrite; of one "
                "that is only one of them, use a FramedRead or a FramedWrite");
  static_assert(Decoder<Codec> && Encoder<Codec>,
                "Framed needs a codec that decodes and encodes: see io::Decoder and io::Encoder in "
                "rouse/io/codec.hpp");

 public:
  using Item = Result<typename Codec::Frame>;
  using Outgoing = typename Codec::Outgoing;

  Framed(std::type_identity_t<S>&& stream, Codec codec)
      : reading_(std::forward<S>(stream), std::move(codec)) {}

  /// The next frame or error, or an empty optional at the end: see FramedRead.
  Next<Framed> next() ROUSE_LIFETIMEBOUND { return Next<Framed>(*this); }
  /// Sends a frame at once: see SendFrame.
  SendFrame<Framed> send(Outgoing frame) ROUSE_LIFETIMEBOUND {
    return SendFrame<Framed>(*this, std::move(frame), internal::Sending::flushed);
  }
  /// Adds a frame to the buffer, for a flush later on: see SendFrame.
  SendFrame<Framed> feed(Outgoing frame) ROUSE_LIFETIMEBOUND {
    return SendFrame<Framed>(*this, std::move(frame), internal::Sending::buffered);
  }
  /// See io::Flush.
  Flush<Framed> flush() ROUSE_LIFETIMEBOUND { return Flush<Framed>(*this); }
  /// See io::Shutdown. Frames may still arrive.
  Shutdown<Framed> shutdown() ROUSE_LIFETIMEBOUND { return Shutdown<Framed>(*this); }

  PollNext<Item> poll_next(Context& cx) { return reading_.poll_next(cx); }

  // Sink.
  /// Ready when the buffer has room for a frame.
  Poll<Result<void>> poll_ready(Context& cx) {
    if (sending_.is_below(internal::frames_high_water))
      return Poll<Result<void>>::ready(Result<void>());
    return sending_.poll_send(cx, inner());
  }
  /// Adds a frame to the buffer.
  Result<void> start_send(const Outgoing& frame) { return codec().encode(frame, sending_.bytes()); }
  Poll<Result<void>> poll_flush(Context& cx) { return sending_.poll_flush(cx, inner()); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return sending_.poll_shutdown(cx, inner()); }
  /// See Sink: a shutdown.
  Poll<Result<void>> poll_close(Context& cx) { return poll_shutdown(cx); }

  [[nodiscard]] bool borrows() const noexcept { return std::is_reference_v<S>; }

  /// What was read and is not yet a frame.
  [[nodiscard]] std::span<const std::byte> read_buffer() const noexcept {
    return reading_.buffer();
  }
  /// What was sent and not yet passed to the stream.
  [[nodiscard]] std::span<const std::byte> write_buffer() const noexcept {
    return sending_.unsent();
  }
  /// The underlying stream. Using it goes past both buffers.
  [[nodiscard]] std::remove_reference_t<S>& inner() noexcept { return reading_.inner(); }
  /// Returns the underlying stream; bytes left in the buffers are lost.
  [[nodiscard]] S into_inner() && { return std::move(reading_).into_inner(); }
  /// The two directions, for two tasks on any threads; together they own the stream (io::split).
  /// What was read stays there, also that it has ended. What was sent must have been flushed.
  [[nodiscard]] auto split() && {
    static_assert(!std::is_reference_v<S>, "split() of a Framed that borrows its stream");
    ROUSE_ASSERT(write_buffer().empty(),
                 "split() of a Framed with unsent frames: flush() it first");
    using Halves = std::pair<FramedRead<ReadHalf<S>, Codec>, FramedWrite<WriteHalf<S>, Codec>>;
    auto [reader, writer] = io::split(std::move(inner()));
    FramedRead<ReadHalf<S>, Codec> rest(std::move(reader), codec(), reading_.take_buffer());
    rest.reader_ended_ = reading_.reader_ended_;
    rest.ended_ = reading_.ended_;
    return Halves(std::move(rest), FramedWrite<WriteHalf<S>, Codec>(std::move(writer), codec()));
  }
  /// What decodes and encodes the frames.
  [[nodiscard]] Codec& codec() noexcept { return reading_.codec(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Framed, nullptr, one, &Framed::reading_)

 private:
  FramedRead<S, Codec> reading_;
  internal::SendBuffer sending_;
};

template <class S, class Codec>
Framed(S&&, Codec) -> Framed<S, Codec>;

}  // namespace rouse::io
