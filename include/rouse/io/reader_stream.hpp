// ReaderStream: the bytes of a reader as a stream of chunks, to be used with the functions of
// rouse::stream. StreamReader (rouse/io/stream_reader.hpp) is the way back.
//
//   io::ReaderStream chunks(std::move(file));                 // owns; ReaderStream(file): borrows
//   while (auto chunk = co_await chunks.next()) hash.update(chunk->value());
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/internal/held.hpp"

namespace rouse::io {

/// `R` is the reader, which it then owns, or a reference to it. A chunk is what one read gives: at
/// least a byte, at most `capacity`. Its items are Results; there are none after an error.
/// Cancel safety: dropping `next()` loses nothing: no byte was read.
/// Errors: the reader's.
template <class R>
class ReaderStream {
  static_assert(AsyncRead<std::remove_reference_t<R>>,
                "ReaderStream needs a rouse::AsyncRead: a type with `rouse::Poll<rouse::Result<"
                "std::size_t>> poll_read(rouse::Context&, std::span<std::byte>)`");

 public:
  using Item = Result<std::vector<std::byte>>;

  explicit ReaderStream(std::type_identity_t<R>&& reader,
                        std::size_t capacity = std::size_t{4} * 1024)
      : reader_(std::forward<R>(reader)), buf_(new std::byte[capacity]), capacity_(capacity) {
    ROUSE_ASSERT(capacity > 0, "a ReaderStream needs a capacity of at least one byte");
  }

  /// The next chunk or error, or an empty optional at the end.
  Next<ReaderStream> next() ROUSE_LIFETIMEBOUND { return Next<ReaderStream>(*this); }

  PollNext<Item> poll_next(Context& cx) {
    if (ended_) return PollNext<Item>::ready(std::nullopt);
    if (!cx.take_budget()) return pending;
    const std::span<std::byte> room(buf_.get(), capacity_);
    const Poll<Result<std::size_t>> polled = inner().poll_read(cx, room);
    if (polled.is_pending()) return pending;
    const Result<std::size_t>& n = polled.value();
    ended_ = !n || *n == 0;
    if (!n) return PollNext<Item>::ready(Item(n.error()));
    if (ended_) return PollNext<Item>::ready(std::nullopt);
    ROUSE_ASSERT(*n <= capacity_, "poll_read says it read more than the buffer holds");
    return PollNext<Item>::ready(Item(std::vector<std::byte>(buf_.get(), buf_.get() + *n)));
  }
  [[nodiscard]] bool borrows() const noexcept { return std::is_reference_v<R>; }

  /// The underlying reader, positioned after the last chunk.
  [[nodiscard]] std::remove_reference_t<R>& inner() noexcept { return reader_.it; }
  /// Returns the underlying reader.
  [[nodiscard]] R into_inner() && { return std::forward<R>(reader_.it); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ReaderStream, nullptr, one, &ReaderStream::reader_)

 private:
  internal::Held<R> reader_;
  internal::Box<std::byte[]> buf_;
  std::size_t capacity_;
  bool ended_ = false;
};

template <class R>
ReaderStream(R&&) -> ReaderStream<R>;
template <class R>
ReaderStream(R&&, std::size_t) -> ReaderStream<R>;

}  // namespace rouse::io
