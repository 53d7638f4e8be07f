// The AsyncWrite concept: a destination of bytes.
//
// Contract: poll_write accepts at least one byte of `data` and says how many; 0 only if `data` is
// empty or no more bytes will ever be accepted. poll_flush is ready when all written bytes have
// left this object's own buffers. poll_shutdown flushes and closes the writing side: the peer reads
// end of file; nothing may be written after. A poll that returns pending has accepted nothing and
// has stored the waker of the latest context. One task writes at a time. poll_writev, if there is
// one, does the same with several buffers, one after another.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/buffer.hpp"

namespace rouse {

template <class W>
concept AsyncWrite = requires(W& writer, Context& cx, std::span<const std::byte> data) {
  { writer.poll_write(cx, data) } -> std::same_as<Poll<Result<std::size_t>>>;
  { writer.poll_flush(cx) } -> std::same_as<Poll<Result<void>>>;
  { writer.poll_shutdown(cx) } -> std::same_as<Poll<Result<void>>>;
};

/// Writes several buffers with one call.
template <class W>
concept AsyncWriteVectored =
    AsyncWrite<W> && requires(W& writer, Context& cx, std::span<const io::Buffer> bufs) {
      { writer.poll_writev(cx, bufs) } -> std::same_as<Poll<Result<std::size_t>>>;
    };

namespace io {
using rouse::AsyncWrite;
using rouse::AsyncWriteVectored;
}  // namespace io

}  // namespace rouse
