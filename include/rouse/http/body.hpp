// http::Body: the bytes behind the head of a message. One that is to be sent is made of text, of a
// part of a file, or of whatever can be read; one that came is an AsyncRead, or is read at once:
//
//   std::string json = co_await request.body().text();    // io::Error::too_long above 2 MiB
//   while (const std::size_t n = co_await request.body().read(buf)) ...
//   Body(text)   Body::stream(reader)   Body::stream(reader, length)   Body::chunks(stream)
//
// The body of a request comes from its connection, as fast as it is read and no faster. It may be
// read by the handler and what it awaits, or be the body of the answer; afterwards reading it is
// Error::exchange_over.
// Threads: one task at a time; the body of a request: the task of its handler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/internal/body_source.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/stream_reader.hpp"

namespace rouse::fs {
class File;
}  // namespace rouse::fs

namespace rouse::http {

class ROUSE_API Body : public io::ReadMembers<Body> {
 public:
  /// `text` and `bytes` take no more than this, unless they are told a limit.
  static constexpr std::size_t default_limit = std::size_t{2} * 1024 * 1024;

  /// No bytes.
  Body() noexcept = default;
  /// These bytes.
  Body(std::string text) noexcept : text_(std::move(text)) {}
  Body(std::string_view text) : text_(text) {}
  Body(const char* text) : text_(text) {}
  /// For the library: from elsewhere.
  explicit Body(internal::Box<internal::BodySource> source) noexcept : source_(std::move(source)) {}
  Body(Body&& other) noexcept
      : text_(std::exchange(other.text_, {})),
        given_(std::exchange(other.given_, 0)),
        source_(std::move(other.source_)) {}
  Body& operator=(Body other) noexcept {
    text_.swap(other.text_);
    std::swap(given_, other.given_);
    source_.swap(other.source_);
    return *this;
  }
  ~Body() = default;

  /// What a reader gives until its end. Without a length it is sent in chunks; with one, the
  /// connection ends with Error::wrong_length if it gives fewer bytes, and more are not asked for.
  template <AsyncRead R>
  [[nodiscard]] static Body stream(R reader, std::optional<std::uint64_t> length = std::nullopt) {
    static_assert(!std::is_reference_v<R>, "a body owns what it reads from: move it");
    return Body(internal::Box<internal::BodySource>(
        new internal::ReaderSource<R>(std::move(reader), length)));
  }
  /// What a stream of chunks gives: of strings, vectors or spans, or of Results of them.
  template <class S>
  [[nodiscard]] static Body chunks(S chunks, std::optional<std::uint64_t> length = std::nullopt) {
    return stream(io::StreamReader<S>(std::move(chunks)), length);
  }
  /// So many bytes of a file, from `offset` on.
  [[nodiscard]] static Body file(fs::File file, std::uint64_t offset, std::uint64_t length);

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf);

  /// How many bytes there are still to read, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;
  /// Whether it is known that there are none.
  [[nodiscard]] bool empty() const noexcept { return length() == 0U; }

  /// Completes with what is left of it.
  /// Cancel safety: not safe: what was read before it was dropped is lost.
  /// Errors: io::Error::too_long above the limit (nothing is kept), and those of the connection.
  [[nodiscard]] AsyncResult<std::string> text(std::size_t limit = default_limit);
  /// The same, as bytes.
  [[nodiscard]] AsyncResult<std::vector<std::byte>> bytes(std::size_t limit = default_limit);

  /// For the library: the bytes, if they are in memory.
  [[nodiscard]] std::optional<std::string_view> in_memory() const noexcept {
    if (source_) return std::nullopt;
    return std::string_view(text_).substr(given_);
  }
  /// For the library: null if they are in memory.
  [[nodiscard]] internal::BodySource* source() const noexcept { return source_.get(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Body, "http body", blocking)

 private:
  std::string text_;
  std::size_t given_ = 0;  // bytes of the text
  internal::Box<internal::BodySource> source_;
};

}  // namespace rouse::http
