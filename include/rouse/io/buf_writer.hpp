// BufWriter: gathers small writes and hands them to its writer in large pieces.
//
//   io::BufWriter writer(stream);                 // borrows the stream; std::move(stream): owns it
//   co_await writer.write_all("a line\n");
//   co_await writer.flush();
//
// Dropping it loses what is in the buffer: a destructor can't wait. Flush it, or shut it down.
// Bytes [sent_, size) of the buffer were taken and not yet handed on.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/assert.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/buffer_size.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/write.hpp"

namespace rouse::io {

/// `W` is the writer, which it then owns, or a reference to it.
template <class W>
class BufWriter : public WriteMembers<BufWriter<W>> {
  static_assert(AsyncWrite<std::remove_reference_t<W>>,
                "BufWriter needs a rouse::AsyncWrite: a type with poll_write, poll_flush and "
                "poll_shutdown (rouse/io/async_write.hpp)");

 public:
  explicit BufWriter(std::type_identity_t<W>&& inner, std::size_t capacity = default_buffer_size)
      : inner_(std::forward<W>(inner)), capacity_(capacity) {
    buf_.reserve(capacity);
  }

  /// A write as large as the buffer does not go through it.
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    if (data.size() > capacity_ - buf_.size()) {
      const Poll<Result<void>> sent = poll_send(cx);
      if (sent.is_pending()) return pending;
      if (!sent.value()) return Poll<Result<std::size_t>>::ready(sent.value().error());
    }
    if (data.size() >= capacity_) return inner_.poll_write(cx, data);
    append_bytes(buf_, data);
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending() || !sent.value()) return sent;
    return inner_.poll_flush(cx);
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    Poll<Result<void>> sent = poll_send(cx);
    if (sent.is_pending() || !sent.value()) return sent;
    return inner_.poll_shutdown(cx);
  }

  /// What was taken and not yet handed on.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept {
    return std::span<const std::byte>(buf_).subspan(sent_);
  }
  /// The writer below. What is written there overtakes what is in the buffer.
  [[nodiscard]] std::remove_reference_t<W>& inner() noexcept { return inner_; }
  /// Gives the writer below back; what is in the buffer is lost.
  [[nodiscard]] W into_inner() && { return std::forward<W>(inner_); }

 private:
  /// Hands all on.
  Poll<Result<void>> poll_send(Context& cx) {
    while (sent_ < buf_.size()) {
      const Poll<Result<std::size_t>> polled = inner_.poll_write(cx, buffer());
      if (polled.is_pending()) return pending;
      const Result<std::size_t>& n = polled.value();
      if (!n) return Poll<Result<void>>::ready(n.error());
      if (*n == 0) return Poll<Result<void>>::ready(Error::write_zero);
      ROUSE_ASSERT(*n <= buf_.size() - sent_, "poll_write says it took more than there was");
      sent_ += *n;
    }
    buf_.clear();
    sent_ = 0;
    return Poll<Result<void>>::ready(Result<void>());
  }

  W inner_;
  std::vector<std::byte> buf_;
  std::size_t capacity_;
  std::size_t sent_ = 0;
};

template <class W>
BufWriter(W&&) -> BufWriter<W>;
template <class W>
BufWriter(W&&, std::size_t) -> BufWriter<W>;

}  // namespace rouse::io
