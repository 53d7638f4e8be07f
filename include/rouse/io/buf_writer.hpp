// BufWriter: gathers small writes and passes them on in large pieces.
//
//   io::BufWriter writer(stream);                 // borrows the stream; std::move(stream): owns it
//   co_await writer.write_all("a line\n");
//   co_await writer.flush();
//
// Dropping it loses what is in the buffer: a destructor can't wait. Flush it, or shut it down.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/byte_container.hpp"
#include "rouse/io/internal/buffer_size.hpp"
#include "rouse/io/internal/held.hpp"
#include "rouse/io/internal/send_buffer.hpp"
#include "rouse/io/write.hpp"

namespace rouse::io {

/// `W` is the writer, which it then owns, or a reference to it.
template <class W>
class BufWriter : public WriteMembers<BufWriter<W>> {
  static_assert(AsyncWrite<std::remove_reference_t<W>>,
                "BufWriter needs a rouse::AsyncWrite: a type with poll_write, poll_flush and "
                "poll_shutdown (rouse/io/async_write.hpp)");

 public:
  explicit BufWriter(std::type_identity_t<W>&& inner,
                     std::size_t capacity = internal::default_buffer_size)
      : inner_(std::forward<W>(inner)), capacity_(capacity) {
    buf_.bytes().reserve(capacity);
  }

  /// A write at least as large as the buffer bypasses it.
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    if (data.size() > capacity_ - buf_.bytes().size()) {
      const Poll<Result<void>> sent = buf_.poll_send(cx, inner());
      if (sent.is_pending()) return pending;
      if (!sent.value()) return Poll<Result<std::size_t>>::ready(sent.value().error());
    }
    if (data.size() >= capacity_) return inner().poll_write(cx, data);
    internal::append_bytes(buf_.bytes(), data);
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  Poll<Result<void>> poll_flush(Context& cx) { return buf_.poll_flush(cx, inner()); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return buf_.poll_shutdown(cx, inner()); }

  /// What was accepted and not yet passed on.
  [[nodiscard]] std::span<const std::byte> buffer() const noexcept { return buf_.unsent(); }
  /// The underlying writer. Bytes written to it directly overtake what is in the buffer.
  [[nodiscard]] std::remove_reference_t<W>& inner() noexcept { return inner_.it; }
  /// Returns the underlying writer; bytes left in the buffer are lost.
  [[nodiscard]] W into_inner() && { return std::forward<W>(inner_.it); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(BufWriter, nullptr, one, &BufWriter::inner_)

 private:
  internal::Held<W> inner_;
  internal::SendBuffer buf_;
  std::size_t capacity_;
};

template <class W>
BufWriter(W&&) -> BufWriter<W>;
template <class W>
BufWriter(W&&, std::size_t) -> BufWriter<W>;

}  // namespace rouse::io
