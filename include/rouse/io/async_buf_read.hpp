// The AsyncBufRead concept: a reader with a buffer inside, so that you may look for the end of a
// line before you consume it.
//
// Contract: poll_fill_buf gives what is in the buffer, and reads more first only if it is empty; an
// empty span means end of file. `consume` removes this many bytes, at most as many as were given.
#pragma once

#include "rouse/io/async_read.hpp"

namespace rouse {

template <class R>
concept AsyncBufRead = AsyncRead<R> && requires(R& reader, Context& cx, std::size_t n) {
  { reader.poll_fill_buf(cx) } -> std::same_as<Poll<Result<std::span<const std::byte>>>>;
  reader.consume(n);
};

namespace io {
using rouse::AsyncBufRead;
}

}  // namespace rouse
