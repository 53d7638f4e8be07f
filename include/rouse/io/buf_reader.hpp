// BufReader: reads large pieces from its reader, so that small reads, lines and the search for a
// delimiter do not cost a system call each.
//
//   io::BufReader reader(stream);                 // borrows the stream
//   io::BufReader reader(std::move(stream));      // owns it
//
// Bytes [begin_, end_) of the buffer were read and not yet given.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/internal/buffer_size.hpp"
#include "rouse/io/internal/held.hpp"
#include "rouse/io/lines.hpp"
#include "rouse/io/read.hpp"

namespace rouse::io {

/// `R` is the reader, which it then owns, or a reference to it. Bytes left in the buffer are lost
/// when the BufReader is destroyed.
template <class R>
class BufReader : public ReadMembers<BufReader<R>>, public BufReadMembers<BufReader<R>> {
  static_assert(AsyncRead<std::remove_reference_t<R>>,
                "BufReader needs a rouse::AsyncRead: a type with `rouse::Poll<rouse::Result<"
                "std::size_t>> poll_read(rouse::Context&, std::span<std::byte>)`");

 public:
  explicit BufReader(std::type_identity_t<R>&& inner,
                     std::size_t capacity = internal::default_buffer_size)
      : inner_(std::forward<R>(inner)), buf_(new std::byte[capacity]), capacity_(capacity) {
    ROUSE_ASSERT(capacity > 0, "a BufReader needs a capacity of at least one byte");
  }

  /// A read at least as large as the buffer bypasses it.
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (begin_ == end_ && buf.size() >= capacity_) return inner().poll_read(cx, buf);
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
    if (begin_ == end_) {
      const std::span<std::byte> room(buf_.get(), capacity_);
      const Poll<Result<std::size_t>> polled = inner().poll_read(cx, room);
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Polled::ready(n.error());
      ROUSE_ASSERT(*n <= capacity_, "poll_read says it read more than the buffer holds");
      begin_ = 0;
      end_ = *n;
    }
    return Polled::ready(buffer());
  }
  void consume(std::size_t n) noexcept {
    ROUSE_ASSERT(n <= end_ - begin_, "consume() of more than poll_fill_buf gave");
    begin_ += n;
  }

  /// What was read and not yet given.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept {
    return std::span<const std::byte>(buf_.get() + begin_, end_ - begin_);
  }
  /// The underlying reader. Reading from it skips what is in the buffer.
  [[nodiscard]] std::remove_reference_t<R>& inner() noexcept { return inner_.it; }
  /// Returns the underlying reader; bytes left in the buffer are lost.
  [[nodiscard]] R into_inner() && { return std::forward<R>(inner_.it); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(BufReader, nullptr, one, &BufReader::inner_)

 private:
  internal::Held<R> inner_;
  internal::Box<std::byte[]> buf_;
  std::size_t capacity_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

template <class R>
BufReader(R&&) -> BufReader<R>;
template <class R>
BufReader(R&&, std::size_t) -> BufReader<R>;

}  // namespace rouse::io
