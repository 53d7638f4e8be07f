// tls::Stream<S>: an encrypted connection over a stream of bytes. Connector and Acceptor make it.
//
//   tls::Connector connector;
//   auto peer = co_await connector.connect(co_await net::TcpStream::connect(at), "example.org");
//   co_await peer.write_all("hello\n");
//   co_await peer.flush();
//
// It is like an io::BufWriter: `write` sends what the stream below takes at once, and what is left
// (64 KiB at most) goes out with the next write or flush. So **flush before waiting for an
// answer**. io::copy and FramedWrite::send do that by themselves.
//
// The end: `shutdown` tells the peer that nothing else comes, and reading goes on. A stream below
// that ends without such a message was cut off: io::Error::unexpected_eof.
//
// One thread at a time: io::split lets its halves take turns. Reading does not write, nor writing
// read: a peer that neither reads nor sends holds up the half that waits for it, and not the other.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"
#include "rouse/tls/connection_info.hpp"
#include "rouse/tls/internal/session.hpp"

namespace rouse::tls {

/// Cancel safety, errors: see io::Read, io::Write and so on; besides the errors of the stream below
/// there are those of tls::Error and tls::Alert. Dropping it closes the stream below: the peer then
/// reads io::Error::unexpected_eof, unless it was shut down before.
template <class S>
class Stream : public ConnectionInfo,
               public io::ReadMembers<Stream<S>>,
               public io::WriteMembers<Stream<S>> {
  static_assert(AsyncRead<S> && AsyncWrite<S>,
                "tls::Stream needs a stream of bytes both ways: a type with poll_read, poll_write, "
                "poll_flush and poll_shutdown (rouse/io/async_read.hpp, rouse/io/async_write.hpp)");

 public:
  Stream(S stream, internal::TlsSession session)
      : ConnectionInfo(std::move(session)), stream_(std::move(stream)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    // What has come already needs no step of the stream below.
    if (session().has_input() && !cx.take_budget()) return pending;
    for (;;) {
      const Poll<Result<std::size_t>> read = session().read(buf);
      if (read.is_ready()) return read;
      const Poll<Result<void>> received = session().poll_receive(cx, stream_);
      if (received.is_pending()) return pending;
      if (!received.value()) return Poll<Result<std::size_t>>::ready(received.value().error());
    }
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    const io::Buffer one(data);
    return poll_writev(cx, {&one, 1});
  }
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const io::Buffer> bufs) {
    if (!cx.has_budget()) return pending;
    if (session().is_full()) {
      const Poll<Result<void>> sent = poll_send(cx);
      if (sent.is_ready() && !sent.value())
        return Poll<Result<std::size_t>>::ready(sent.value().error());
      if (session().is_full()) return pending;
    }
    const Poll<Result<std::size_t>> taken = session().write(bufs);
    if (taken.is_pending()) session().wait_for_reader(cx);
    // Taken, whatever becomes of it: an error is that of the next write or flush.
    (void)poll_send(cx);
    return taken;
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    const Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending() || !sent.value()) return sent;
    return stream_.poll_flush(cx);
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    session().close();
    const Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending() || !sent.value()) return sent;
    return stream_.poll_shutdown(cx);
  }

  /// The stream below, for its options and addresses. Bytes that are read or written there break
  /// the connection.
  [[nodiscard]] S& get_ref() noexcept { return stream_; }
  [[nodiscard]] const S& get_ref() const noexcept { return stream_; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Stream, nullptr, one, &Stream::stream_)

 private:
  Poll<Result<void>> poll_send(Context& cx) {
    if (const Result<void> before = session().check_sending(); !before)
      return Poll<Result<void>>::ready(before);
    const Poll<Result<void>> sent = session().poll_send(cx, stream_);
    if (sent.is_ready() && !sent.value()) session().fail_sending(sent.value().error());
    return sent;
  }

  S stream_;
};

}  // namespace rouse::tls
