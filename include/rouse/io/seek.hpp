// seek(stream, to), stream_position(stream), rewind(stream): where an AsyncSeek reads and writes
// next. The stream may be inside a BufReader, a BufWriter or a BufStream: what is to be written is
// flushed first, and what was read ahead counts as not read.
//
//   io::BufReader reader(co_await fs::File::open("notes.txt"));
//   co_await io::seek(reader, io::SeekFrom::end(-100));
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_seek.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/io/seek_from.hpp"

namespace rouse::internal {

/// The stream that seeks, and the buffers around it.
template <class S>
struct SeekAccess;

template <AsyncSeek S>
struct SeekAccess<S> {
  static S& inner(S& stream) noexcept { return stream; }
  static Poll<Result<void>> poll_flush(S&, Context&) {
    return Poll<Result<void>>::ready(Result<void>());
  }
  static std::size_t read_ahead(S&) noexcept { return 0; }
  static void discard(S&) noexcept {}
};

template <class R>
struct SeekAccess<io::BufReader<R>> {
  using Inner = SeekAccess<std::remove_reference_t<R>>;
  static auto& inner(io::BufReader<R>& reader) noexcept { return Inner::inner(reader.inner()); }
  static Poll<Result<void>> poll_flush(io::BufReader<R>& reader, Context& cx) {
    return Inner::poll_flush(reader.inner(), cx);
  }
  static std::size_t read_ahead(io::BufReader<R>& reader) noexcept {
    return reader.buffer().size() + Inner::read_ahead(reader.inner());
  }
  static void discard(io::BufReader<R>& reader) noexcept {
    reader.consume(reader.buffer().size());
    Inner::discard(reader.inner());
  }
};

template <class W>
struct SeekAccess<io::BufWriter<W>> {
  using Inner = SeekAccess<std::remove_reference_t<W>>;
  static auto& inner(io::BufWriter<W>& writer) noexcept { return Inner::inner(writer.inner()); }
  static Poll<Result<void>> poll_flush(io::BufWriter<W>& writer, Context& cx) {
    return writer.poll_flush(cx);
  }
  static std::size_t read_ahead(io::BufWriter<W>& writer) noexcept {
    return Inner::read_ahead(writer.inner());
  }
  static void discard(io::BufWriter<W>& writer) noexcept { Inner::discard(writer.inner()); }
};

/// An AsyncSeek, or a buffer around one.
template <class S>
concept Seekable = requires(S& stream) { SeekAccess<S>::inner(stream); };

/// Whether the position is changed, or only asked for.
enum class SeekKind { moves, asks };

}  // namespace rouse::internal

namespace rouse::io {

/// Completes with the position, from the start.
/// Cancel safety: if dropped midway, it may or may not have moved. What a BufReader had read ahead
/// is read again, from the new position; it is lost if the seek then fails.
/// Errors: the stream's, also of the flush; then the position is the old one, and nothing is lost.
template <class S>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] Seek
    : public ResultFuture<Seek<S>, std::uint64_t> {
  using Access = internal::SeekAccess<S>;

 public:
  Seek(S& stream, SeekFrom to, internal::SeekKind kind) noexcept
      : stream_(&stream), to_(to), kind_(kind) {}
  Seek(Seek&& other) noexcept
      : stream_(other.stream_),
        to_(other.to_),
        kind_(other.kind_),
        is_moving_(std::exchange(other.is_moving_, false)),
        has_begun_(other.has_begun_) {}
  Seek& operator=(Seek&&) = delete;
  ~Seek() {
    if (is_moving_) Access::discard(*stream_);
  }

  Poll<Result<std::uint64_t>> poll_result(Context& cx) {
    using Polled = Poll<Result<std::uint64_t>>;
    if (!has_begun_) {
      const Poll<Result<void>> begun = poll_begin(cx);
      if (begun.is_pending()) return pending;
      if (!begun.value()) return Polled::ready(begun.value().error());
      has_begun_ = true;
    }
    Polled polled = Access::inner(*stream_).poll_complete(cx);
    if (polled.is_pending()) return pending;
    const bool has_moved = std::exchange(is_moving_, false);
    if (!polled.value()) return polled;
    if (!has_moved) return Polled::ready(*polled.value() - Access::read_ahead(*stream_));
    Access::discard(*stream_);
    return polled;
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Seek, "seek", one, &Seek::stream_)

 private:
  Poll<Result<void>> poll_begin(Context& cx) {
    Poll<Result<void>> flushed = Access::poll_flush(*stream_, cx);
    if (flushed.is_pending() || !flushed.value()) return flushed;
    // What an earlier seek, which was dropped, has left.
    if (Access::inner(*stream_).poll_complete(cx).is_pending()) return pending;
    if (kind_ == internal::SeekKind::moves && to_.base() == SeekFrom::Base::current) {
      const auto back = static_cast<std::int64_t>(Access::read_ahead(*stream_));
      std::int64_t offset = 0;
      if (__builtin_sub_overflow(to_.offset(), back, &offset))
        return Poll<Result<void>>::ready(std::errc::invalid_argument);
      to_ = SeekFrom::current(offset);
    }
    Result<void> started = Access::inner(*stream_).start_seek(to_);
    is_moving_ = started.has_value() && kind_ == internal::SeekKind::moves;
    return Poll<Result<void>>::ready(std::move(started));
  }

  S* stream_;
  SeekFrom to_;
  internal::SeekKind kind_;
  bool is_moving_ = false;  // what was read ahead may be void
  bool has_begun_ = false;
};

}  // namespace rouse::io

namespace rouse::internal {

template <class S>
auto make_seek(S& stream, io::SeekFrom to, SeekKind kind) {
  static_assert(Seekable<S>,
                "seek, stream_position and rewind need a rouse::AsyncSeek, such as fs::File "
                "(rouse/io/async_seek.hpp), or a BufReader, BufWriter or BufStream over one");
  if constexpr (Seekable<S>) return io::Seek<S>(stream, to, kind);
}

}  // namespace rouse::internal

namespace rouse::io {

/// Moves the position: see Seek.
template <class S>
[[nodiscard]] auto seek(S& stream ROUSE_LIFETIMEBOUND, SeekFrom to) {
  return internal::make_seek(stream, to, internal::SeekKind::moves);
}

/// Moves to the start: see Seek.
template <class S>
[[nodiscard]] auto rewind(S& stream ROUSE_LIFETIMEBOUND) {
  return internal::make_seek(stream, SeekFrom::start(0), internal::SeekKind::moves);
}

/// Gives the position and leaves it, and what was read ahead, alone: see Seek.
template <class S>
[[nodiscard]] auto stream_position(S& stream ROUSE_LIFETIMEBOUND) {
  return internal::make_seek(stream, SeekFrom::current(0), internal::SeekKind::asks);
}

}  // namespace rouse::io
