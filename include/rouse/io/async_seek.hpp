// The AsyncSeek concept: something with a position: a file.
//
// Contract: start_seek begins to move to a position; what can be refused at once is. poll_complete
// is ready when nothing is in progress any more, with the new position, from the start, or with the
// error of the seek; without one, with any number. Before start_seek, poll_complete must have been
// ready: a seek that was dropped may still be in progress. A poll that returns pending has stored
// the waker of the latest context. One task at a time.
#pragma once

#include <concepts>
#include <cstdint>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/seek_from.hpp"

namespace rouse {

template <class S>
concept AsyncSeek = requires(S& stream, Context& cx, io::SeekFrom to) {
  { stream.start_seek(to) } -> std::same_as<Result<void>>;
  { stream.poll_complete(cx) } -> std::same_as<Poll<Result<std::uint64_t>>>;
};

namespace io {
using rouse::AsyncSeek;
}  // namespace io

}  // namespace rouse
