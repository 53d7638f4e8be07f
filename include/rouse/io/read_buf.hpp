// ReadBuf: some bytes, appended to a container that grows: a std::string, a std::vector<std::byte>.
//
//   std::string received;
//   while (co_await io::read_buf(stream, received) != 0) parse(received);
//
// It reads into the room that the container has left (capacity() - size(), at most 64 KiB), and
// makes more if there is little. So reserve() says how much is read at once, and memory grows with
// what has arrived.
#pragma once

#include <cstddef>
#include <span>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/read_to_end.hpp"

namespace rouse::io {

/// Completes with how many bytes were appended, at least one; 0 means end of file.
/// Cancel safety: dropping it loses nothing: no byte was read, and the container is as it was.
/// Errors: the reader's.
template <class R, class C>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ReadBuf
    : public ResultFuture<ReadBuf<R, C>, std::size_t> {
 public:
  ReadBuf(R& reader, C& out) noexcept : reader_(reader), out_(out) {}

  Poll<Result<std::size_t>> poll_result(Context& cx) {
    internal::GrowingBytes<C> growing(out_);
    const std::span<std::byte> room = growing.room(static_cast<std::size_t>(-1));
    Poll<Result<std::size_t>> polled = reader_.poll_read(cx, room);
    if (polled.is_pending() || !polled.value()) return polled;
    ROUSE_ASSERT(*polled.value() <= room.size(),
                 "poll_read says it read more than the buffer holds");
    growing.add(*polled.value());
    return polled;
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  R& reader_;
  C& out_;
};

template <AsyncRead R, ByteContainer C>
ReadBuf<R, C> read_buf(R& reader ROUSE_LIFETIMEBOUND, C& out ROUSE_LIFETIMEBOUND) {
  return ReadBuf<R, C>(reader, out);
}

}  // namespace rouse::io
