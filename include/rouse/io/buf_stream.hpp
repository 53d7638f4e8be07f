// BufStream: a BufReader and a BufWriter over one stream that is read and written: a connection.
//
//   io::BufStream peer(std::move(stream));        // owns it; BufStream(stream): borrows it
//   while (co_await peer.read_line(line) != 0) {
//     co_await peer.write_all(answer(line));
//     co_await peer.flush();
//   }
//
// The two buffers have nothing to do with each other. Where both directions share a position (a
// file), seek between reading and writing: io::seek flushes, and forgets what was read ahead.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/io/internal/buffer_size.hpp"
#include "rouse/io/is_full_duplex.hpp"
#include "rouse/io/lines.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/seek.hpp"
#include "rouse/io/write.hpp"

namespace rouse::internal {

/// A BufWriter that can be read, past its buffer.
template <class S>
class WriterOfBoth : public io::BufWriter<S> {
 public:
  WriterOfBoth(S&& stream, std::size_t capacity)
      : io::BufWriter<S>(std::forward<S>(stream), capacity) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return this->inner().poll_read(cx, buf);
  }
};

}  // namespace rouse::internal

namespace rouse::io {

/// `S` is the stream, which it then owns, or a reference to it. Dropping it loses what was read and
/// not yet given, and what was written and not yet flushed.
template <class S>
class BufStream : public ReadMembers<BufStream<S>>,
                  public BufReadMembers<BufStream<S>>,
                  public WriteMembers<BufStream<S>> {
  static_assert(AsyncRead<std::remove_reference_t<S>> && AsyncWrite<std::remove_reference_t<S>>,
                "BufStream needs a stream that is a rouse::AsyncRead and a rouse::AsyncWrite; of "
                "one that is only one of them, use a BufReader or a BufWriter");

 public:
  explicit BufStream(std::type_identity_t<S>&& stream,
                     std::size_t read_capacity = internal::default_buffer_size,
                     std::size_t write_capacity = internal::default_buffer_size)
      : both_(internal::WriterOfBoth<S>(std::forward<S>(stream), write_capacity), read_capacity) {}

  // AsyncBufRead: see BufReader.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return both_.poll_read(cx, buf);
  }
  Poll<Result<std::span<const std::byte>>> poll_fill_buf(Context& cx) {
    return both_.poll_fill_buf(cx);
  }
  void consume(std::size_t n) noexcept { both_.consume(n); }
  // AsyncWrite: see BufWriter.
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return both_.inner().poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context& cx) { return both_.inner().poll_flush(cx); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return both_.inner().poll_shutdown(cx); }

  /// What was read and not yet given.
  [[nodiscard]] std::span<const std::byte> read_buffer() const noexcept { return both_.buffer(); }
  /// What was written and not yet passed on.
  [[nodiscard]] std::span<const std::byte> write_buffer() noexcept {
    return both_.inner().buffer();
  }
  /// The underlying stream. Using it goes past both buffers.
  [[nodiscard]] std::remove_reference_t<S>& inner() noexcept { return both_.inner().inner(); }
  /// Returns the underlying stream; bytes left in the buffers are lost.
  [[nodiscard]] S into_inner() && { return std::move(both_.inner()).into_inner(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(BufStream, nullptr, one, &BufStream::both_)

 private:
  BufReader<internal::WriterOfBoth<S>> both_;
};

template <class S>
BufStream(S&&) -> BufStream<S>;
template <class S>
BufStream(S&&, std::size_t) -> BufStream<S>;
template <class S>
BufStream(S&&, std::size_t, std::size_t) -> BufStream<S>;

/// Its directions share nothing if those of the stream don't.
template <class S>
inline constexpr bool is_full_duplex<BufStream<S>> = is_full_duplex<std::remove_reference_t<S>>;

}  // namespace rouse::io

namespace rouse::internal {

template <class S>
struct SeekAccess<io::BufStream<S>> {
  using Inner = SeekAccess<std::remove_reference_t<S>>;
  static auto& inner(io::BufStream<S>& stream) noexcept { return Inner::inner(stream.inner()); }
  static Poll<Result<void>> poll_flush(io::BufStream<S>& stream, Context& cx) {
    return stream.poll_flush(cx);
  }
  static std::size_t read_ahead(io::BufStream<S>& stream) noexcept {
    return stream.read_buffer().size() + Inner::read_ahead(stream.inner());
  }
  static void discard(io::BufStream<S>& stream) noexcept {
    stream.consume(stream.read_buffer().size());
    Inner::discard(stream.inner());
  }
};

}  // namespace rouse::internal
