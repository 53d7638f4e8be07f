// take(reader, n): the first n bytes of a reader. chain(a, b): one reader after another.
//
//   auto body = io::take(stream, content_length);     // borrows; take(std::move(stream), n): owns
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/internal/held.hpp"
#include "rouse/io/read.hpp"

namespace rouse::io {

/// At end of file after n bytes, or with the reader. `R` is the reader, or a reference to it.
template <class R>
class Take : public ReadMembers<Take<R>> {
 public:
  Take(std::type_identity_t<R>&& inner, std::uint64_t n)
      : inner_(std::forward<R>(inner)), left_(n) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    const std::size_t room = buf.size() < left_ ? buf.size() : static_cast<std::size_t>(left_);
    if (room == 0) return Poll<Result<std::size_t>>::ready(std::size_t{0});
    Poll<Result<std::size_t>> polled = inner().poll_read(cx, buf.first(room));
    if (polled.is_pending() || !polled.value()) return polled;
    ROUSE_ASSERT(*polled.value() <= room, "poll_read says it read more than the buffer holds");
    left_ -= *polled.value();
    return polled;
  }
  /// How many more bytes it may give.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// The underlying reader.
  [[nodiscard]] std::remove_reference_t<R>& inner() noexcept { return inner_.it; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Take, nullptr, one, &Take::inner_)

 private:
  internal::Held<R> inner_;
  std::uint64_t left_;
};

/// The first n bytes of a reader, then end of file.
template <class R>
  requires AsyncRead<std::remove_reference_t<R>>
[[nodiscard]] Take<R> take(R&& reader, std::uint64_t n) {
  return Take<R>(std::forward<R>(reader), n);
}

/// All of the first reader, then all of the second. Each is owned, or a reference.
template <class A, class B>
class Chain : public ReadMembers<Chain<A, B>> {
 public:
  Chain(std::type_identity_t<A>&& first, std::type_identity_t<B>&& second)
      : first_(std::forward<A>(first)), second_(std::forward<B>(second)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (buf.empty()) return Poll<Result<std::size_t>>::ready(std::size_t{0});
    if (!first_ended_) {
      Poll<Result<std::size_t>> polled = first_.it.poll_read(cx, buf);
      if (polled.is_pending() || !polled.value() || *polled.value() != 0) return polled;
      first_ended_ = true;
    }
    return second_.it.poll_read(cx, buf);
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Chain, "chain", any_of, &Chain::first_, &Chain::second_)

 private:
  internal::Held<A> first_;
  internal::Held<B> second_;
  bool first_ended_ = false;
};

/// The bytes of one reader, then those of another.
template <class A, class B>
  requires(AsyncRead<std::remove_reference_t<A>> && AsyncRead<std::remove_reference_t<B>>)
[[nodiscard]] Chain<A, B> chain(A&& first, B&& second) {
  return Chain<A, B>(std::forward<A>(first), std::forward<B>(second));
}

}  // namespace rouse::io
