// StreamReader: a stream of chunks as a reader, to be read by line, by number or in any other way.
// ReaderStream (rouse/io/reader_stream.hpp) is the way back.
//
//   io::StreamReader body(std::move(chunks));        // owns; StreamReader(chunks): borrows
//   while (auto line = co_await lines.next_line()) ...       // of body.lines()
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_buf_read.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/internal/held.hpp"
#include "rouse/io/lines.hpp"
#include "rouse/io/read.hpp"

namespace rouse::internal {

/// What a stream of chunks gives: a chunk, or a Result of one.
template <class Item>
struct ChunkOf {
  using Type = Item;
};
template <class T>
struct ChunkOf<Result<T>> {
  using Type = T;
};

}  // namespace rouse::internal

namespace rouse::io {

/// `S` is the stream, which it then owns, or a reference to it. Its items hold bytes (vectors,
/// strings, spans), or are Results of them; empty ones are skipped. Like its stream it may be moved
/// until its first poll. A poll throws what the stream's throws.
/// Cancel safety: a poll that is not repeated loses nothing: the chunk that it took stays here.
/// Threads: one task at a time.
/// Errors: those of the items, each once; the next read goes on with the next item.
template <class S>
class StreamReader : public ReadMembers<StreamReader<S>>, public BufReadMembers<StreamReader<S>> {
  using Source = std::remove_reference_t<S>;
  static_assert(Stream<Source>, "StreamReader needs a rouse::Stream of chunks of bytes");
  using Item = typename Source::Item;
  using Chunk = typename internal::ChunkOf<Item>::Type;
  static_assert(
      ByteRange<Chunk>,
      "StreamReader needs a stream whose items hold contiguous bytes (a vector, a string, "
      "a span), or are rouse::Results of such");

 public:
  explicit StreamReader(std::type_identity_t<S>&& stream) : stream_(std::forward<S>(stream)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (buf.empty()) return Poll<Result<std::size_t>>::ready(std::size_t{0});
    const Poll<Result<std::span<const std::byte>>> polled = poll_fill_buf(cx);
    if (polled.is_pending()) return pending;
    if (!polled.value()) return Poll<Result<std::size_t>>::ready(polled.value().error());
    const std::span<const std::byte> got = *polled.value();
    const std::size_t n = buf.size() < got.size() ? buf.size() : got.size();
    if (n != 0) std::memcpy(buf.data(), got.data(), n);
    consume(n);
    return Poll<Result<std::size_t>>::ready(n);
  }
  Poll<Result<std::span<const std::byte>>> poll_fill_buf(Context& cx) {
    using Polled = Poll<Result<std::span<const std::byte>>>;
    while (buffer().empty() && !ended_) {
      PollNext<Item> polled = inner().poll_next(cx);
      if (polled.is_pending()) return pending;
      ended_ = !polled.value();
      if (ended_) break;
      Item& item = *polled.value();
      if constexpr (internal::is_result<Item>) {
        if (!item) return Polled::ready(item.error());
        chunk_.emplace(*std::move(item));
      } else {
        chunk_.emplace(std::move(item));
      }
      given_ = 0;
    }
    return Polled::ready(buffer());
  }
  void consume(std::size_t n) noexcept {
    ROUSE_ASSERT(n <= buffer().size(), "consume() of more than poll_fill_buf gave");
    given_ += n;
  }

  /// What is left of the last chunk.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept {
    if (!chunk_) return {};
    return std::span<const std::byte>(Buffer(*chunk_)).subspan(given_);
  }
  /// The underlying stream. Reading from it skips what is left of the last chunk.
  [[nodiscard]] Source& inner() noexcept { return stream_.it; }
  /// Returns the underlying stream, if that may be moved; what is left of the last chunk is lost.
  [[nodiscard]] S into_inner() && { return std::forward<S>(stream_.it); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(StreamReader, nullptr, one, &StreamReader::stream_)

 private:
  internal::Held<S> stream_;
  std::optional<Chunk> chunk_;  // its first given_ bytes were given
  std::size_t given_ = 0;
  bool ended_ = false;
};

template <class S>
StreamReader(S&&) -> StreamReader<S>;

}  // namespace rouse::io
