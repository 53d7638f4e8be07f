// Lines: the lines of an AsyncBufRead, one after another, without their ends.
//
//   io::Lines lines = io::BufReader(stream).lines();
//   while (auto line = co_await lines.next_line()) use(*line);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/io/async_buf_read.hpp"
#include "rouse/io/internal/held.hpp"
#include "rouse/io/read_until.hpp"

namespace rouse::io {

/// Completes with the next line, or with an empty optional at end of file.
/// Cancel safety: dropping it loses nothing: a partial line stays in the Lines.
/// Errors: Error::too_long, the reader's. After an error there are no more lines.
template <class L>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] NextLine
    : public ResultFuture<NextLine<L>, std::optional<std::string>> {
 public:
  explicit NextLine(L& lines) noexcept : lines_(&lines) {}

  /// The poll of next_line.
  Poll<Result<std::optional<std::string>>> poll_result(Context& cx) {
    return lines_->poll_line(cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(NextLine, "next_line", one, &NextLine::lines_)

 private:
  L* lines_;
};

/// `R` is the reader, which it then owns, or a reference to it. A line ends with `\n` or `\r\n`;
/// the last one may end with the stream.
template <class R>
class Lines {
 public:
  using Item = std::string;

  explicit Lines(std::type_identity_t<R>&& reader, std::size_t limit = default_line_limit)
      : reader_(std::forward<R>(reader)), delimited_(limit) {}

  /// See NextLine.
  NextLine<Lines> next_line() ROUSE_LIFETIMEBOUND { return NextLine<Lines>(*this); }
  /// The same as a stream has it. Errors are thrown, as std::system_error.
  Next<Lines> next() ROUSE_LIFETIMEBOUND { return Next<Lines>(*this); }

  /// The poll of next_line.
  Poll<Result<std::optional<std::string>>> poll_line(Context& cx) {
    using Polled = Poll<Result<std::optional<std::string>>>;
    if (ended_) return Polled::ready(std::optional<std::string>());
    if (!cx.take_budget()) return pending;
    const Poll<Result<bool>> polled = delimited_.poll(cx, reader(), line_, std::byte{'\n'});
    if (polled.is_pending()) return pending;
    if (!polled.value()) {
      ended_ = true;
      return Polled::ready(polled.value().error());
    }
    ended_ = !*polled.value();
    if (ended_ && line_.empty()) return Polled::ready(std::optional<std::string>());
    return Polled::ready(std::optional<std::string>(take_line()));
  }
  PollNext<std::string> poll_next(Context& cx) {
    Poll<Result<std::optional<std::string>>> polled = poll_line(cx);
    if (polled.is_pending()) return pending;
    return PollNext<std::string>::ready(std::move(polled.value()).value());
  }
  [[nodiscard]] bool borrows() const noexcept { return std::is_reference_v<R>; }

  /// The reader, positioned after the last line, or after what was read of the next.
  [[nodiscard]] std::remove_reference_t<R>& reader() noexcept { return reader_.it; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Lines, nullptr, one, &Lines::reader_)

 private:
  std::string take_line() noexcept {
    delimited_.start_over();
    if (line_.ends_with('\n')) {
      line_.pop_back();
      if (line_.ends_with('\r')) line_.pop_back();
    }
    return std::exchange(line_, std::string());
  }

  internal::Held<R> reader_;
  std::string line_;  // the part of the next one that was read
  internal::Delimited delimited_;
  bool ended_ = false;
};

template <class R>
Lines(R&&) -> Lines<R>;
template <class R>
Lines(R&&, std::size_t) -> Lines<R>;

/// Base of a reader with a buffer: `class BufReader : public io::BufReadMembers<BufReader>`.
template <class Self>
class BufReadMembers {
 public:
  /// See io::ReadUntil.
  template <ByteContainer C>
  ReadUntil<Self, C> read_until(std::byte delimiter, C& out ROUSE_LIFETIMEBOUND,
                                std::size_t limit = default_line_limit) ROUSE_LIFETIMEBOUND {
    return ReadUntil<Self, C>(self(), delimiter, out, limit);
  }
  template <ByteContainer C>
  ReadUntil<Self, C> read_until(char delimiter, C& out ROUSE_LIFETIMEBOUND,
                                std::size_t limit = default_line_limit) ROUSE_LIFETIMEBOUND {
    return ReadUntil<Self, C>(self(), static_cast<std::byte>(delimiter), out, limit);
  }
  /// See io::read_line.
  ReadUntil<Self, std::string> read_line(std::string& line ROUSE_LIFETIMEBOUND,
                                         std::size_t limit = default_line_limit)
      ROUSE_LIFETIMEBOUND {
    return ReadUntil<Self, std::string>(self(), std::byte{'\n'}, line, limit);
  }
  /// Its lines, of at most `limit` bytes each. Borrows this reader, or, of a temporary, owns it.
  Lines<Self&> lines(std::size_t limit = default_line_limit) & ROUSE_LIFETIMEBOUND {
    return Lines<Self&>(self(), limit);
  }
  Lines<Self> lines(std::size_t limit = default_line_limit) && {
    return Lines<Self>(std::move(self()), limit);
  }

 private:
  friend Self;
  BufReadMembers() noexcept = default;
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace rouse::io
