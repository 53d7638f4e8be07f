// The AsyncBufRead concept: a reader that has a buffer inside, so that one may look for the end of
// a line before taking it out.
//
// Contract: poll_fill_buf gives what is in the buffer, reading more first only if it is empty; an
// empty span is the end of the stream. `consume` takes so many bytes out, at most as many as were
// given.
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
