// SyncBridge: a stream for code that blocks: a parser, a compressor, a library that calls read()
// and waits. Each function blocks its thread until the stream is ready; so use it on a thread of
// its own, or in spawn_blocking:
//
//   auto parsing = spawn_blocking([stream = std::move(stream)]() mutable {
//     io::SyncBridge bridge(std::move(stream));
//     return parse([&](std::span<std::byte> buf) { return bridge.read(buf).value(); });
//   });
//
// Whoever drives the stream must run meanwhile: a runtime whose only thread waits for this one
// never does, and an fs::File needs a blocking thread of its own, besides this one. A call can't be
// cancelled: it ends with the stream, or with a timeout inside it.
// Threads: one at a time, never inside a task: that is aborted with a message.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/io/async_buf_read.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/flush.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/read_exact.hpp"
#include "rouse/io/read_to_end.hpp"
#include "rouse/io/read_until.hpp"
#include "rouse/io/write.hpp"
#include "rouse/io/write_all.hpp"

namespace rouse::io {

/// `S` is the stream, which it then owns, or a reference to it. A function is there if the stream
/// has what it needs; it gives what the function of the same name in rouse::io gives, as a Result.
template <class S>
class SyncBridge {
  using Inner = std::remove_reference_t<S>;
  static_assert(AsyncRead<Inner> || AsyncWrite<Inner>,
                "SyncBridge needs a rouse::AsyncRead or a rouse::AsyncWrite");

 public:
  explicit SyncBridge(std::type_identity_t<S>&& stream) : stream_(std::forward<S>(stream)) {}

  /// See io::Read.
  Result<std::size_t> read(BufferMut buf)
    requires AsyncRead<Inner>
  {
    return block_on(io::read(stream_, buf).result());
  }
  /// See io::ReadExact.
  Result<void> read_exact(BufferMut buf)
    requires AsyncRead<Inner>
  {
    return block_on(io::read_exact(stream_, buf).result());
  }
  /// See io::ReadToEnd.
  template <ByteContainer C>
    requires AsyncRead<Inner>
  Result<std::size_t> read_to_end(C& out, std::size_t limit = default_read_limit) {
    return block_on(io::read_to_end(stream_, out, limit).result());
  }
  /// See io::ReadToString.
  Result<std::string> read_to_string(std::size_t limit = default_read_limit)
    requires AsyncRead<Inner>
  {
    return block_on(io::read_to_string(stream_, limit).result());
  }
  /// See io::read_line.
  Result<std::size_t> read_line(std::string& line, std::size_t limit = default_line_limit)
    requires AsyncBufRead<Inner>
  {
    return block_on(io::read_line(stream_, line, limit).result());
  }

  /// See io::Write.
  Result<std::size_t> write(Buffer data)
    requires AsyncWrite<Inner>
  {
    return block_on(io::write(stream_, data).result());
  }
  /// See io::WriteAll.
  Result<void> write_all(Buffer data)
    requires AsyncWrite<Inner>
  {
    return block_on(io::write_all(stream_, data).result());
  }
  /// See io::Flush.
  Result<void> flush()
    requires AsyncWrite<Inner>
  {
    return block_on(io::flush(stream_).result());
  }
  /// See io::Shutdown.
  Result<void> shutdown()
    requires AsyncWrite<Inner>
  {
    return block_on(io::shutdown(stream_).result());
  }

  /// The underlying stream.
  [[nodiscard]] Inner& inner() noexcept { return stream_; }
  /// Returns the underlying stream.
  [[nodiscard]] S into_inner() && { return std::forward<S>(stream_); }

 private:
  S stream_;
};

template <class S>
SyncBridge(S&&) -> SyncBridge<S>;

}  // namespace rouse::io
