// The AsyncWrite concept: where bytes go.
//
// Contract: poll_write takes at least one byte of `data` and says how many; 0 only if `data` is
// empty or nothing more will ever be taken. poll_flush is ready when all that was written has left
// this object's own buffers. poll_shutdown flushes and ends the stream: the other side reads its
// end; nothing may be written after. A poll that returns pending has taken nothing and has arranged
// for the latest context's waker to be woken. One task writes at a time.
// poll_writev, where there is one, does the same with several buffers, taken one after another.
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
