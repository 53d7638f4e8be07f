// The Sink concept: where items go, one after another: frames to a connection, messages to a
// channel. The other end of a Stream. stream::send, stream::send_all and stream::forward use it.
//
// Contract: poll_ready is ready when one more item is accepted; then start_send takes it, without
// waiting. poll_flush is ready when all accepted items have left this object, poll_close when they
// have and it is closed: nothing may be sent after. A poll that returns pending has stored the
// waker of the latest context. After an error of start_send that is about its item, the next one
// may be sent; after any other error the sink is broken.
// Cancel safety: a poll that is not repeated loses nothing: what was accepted stays in the sink.
// Threads: one task sends at a time.
#pragma once

#include <concepts>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"

namespace rouse {

/// `T` is what is sent: a sink may accept several types.
template <class S, class T>
concept Sink = requires(S& sink, Context& cx, T&& item) {
  { sink.poll_ready(cx) } -> std::same_as<Poll<Result<void>>>;
  { sink.start_send(std::forward<T>(item)) } -> std::same_as<Result<void>>;
  { sink.poll_flush(cx) } -> std::same_as<Poll<Result<void>>>;
  { sink.poll_close(cx) } -> std::same_as<Poll<Result<void>>>;
};

}  // namespace rouse
