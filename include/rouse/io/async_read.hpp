// The AsyncRead concept: a source of bytes: a socket, a file, an end of a pipe, a buffer.
//
// Contract: poll_read reads at least one byte into `buf` and says how many; 0 means end of file (or
// that `buf` is empty). A poll that returns pending has read nothing and has stored the waker of
// the latest context. One task reads at a time: only the waker of the last poll is woken. It takes
// a step of the budget (core/context.hpp) if it may be ready again and again. poll_readv, if there
// is one, does the same with several buffers, filled one after another.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/buffer.hpp"

namespace rouse {

template <class R>
concept AsyncRead = requires(R& reader, Context& cx, std::span<std::byte> buf) {
  { reader.poll_read(cx, buf) } -> std::same_as<Poll<Result<std::size_t>>>;
};

/// Reads into several buffers with one call.
template <class R>
concept AsyncReadVectored =
    AsyncRead<R> && requires(R& reader, Context& cx, std::span<const io::BufferMut> bufs) {
      { reader.poll_readv(cx, bufs) } -> std::same_as<Poll<Result<std::size_t>>>;
    };

namespace io {
using rouse::AsyncRead;
using rouse::AsyncReadVectored;
}  // namespace io

}  // namespace rouse
