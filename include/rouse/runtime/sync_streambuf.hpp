// SyncStreambuf: a stream for code that reads a std::istream or writes a std::ostream.
//
//   spawn_blocking([stream = std::move(stream)]() mutable {
//     io::SyncStreambuf buf(std::move(stream));
//     std::istream in(&buf);
//     for (std::string word; in >> word;) ...
//   });
//
// It blocks as a SyncBridge does (rouse/runtime/sync_bridge.hpp), with the same rules. An error is
// thrown as std::system_error, which a standard stream turns into `badbit` (or throws on, after
// `in.exceptions(std::ios::badbit)`); end of file is `eofbit`. Dropping it loses what was written
// and not flushed: write std::flush.
#pragma once

#include <cstddef>
#include <streambuf>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/box.hpp"
#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"
#include "rouse/io/internal/buffer_size.hpp"
#include "rouse/runtime/sync_bridge.hpp"

namespace rouse::io {

/// `S` is the stream, which it then owns, or a reference to it. Both directions have a buffer of
/// their own. It has no position. Writing to one of a reader fails, and so does reading of a
/// writer.
template <class S>
class SyncStreambuf : public std::streambuf {
  using Inner = std::remove_reference_t<S>;
  static constexpr std::size_t buffer_size = internal::default_buffer_size;

 public:
  explicit SyncStreambuf(std::type_identity_t<S>&& stream)
      : bridge_(std::forward<S>(stream)),
        input_(AsyncRead<Inner> ? new char[buffer_size] : nullptr),
        output_(AsyncWrite<Inner> ? new char[buffer_size] : nullptr) {
    if constexpr (AsyncWrite<Inner>) setp(output_.get(), output_.get() + buffer_size);
  }
  SyncStreambuf(const SyncStreambuf&) = delete;
  SyncStreambuf& operator=(const SyncStreambuf&) = delete;

  /// The underlying stream. Using it goes past both buffers.
  [[nodiscard]] Inner& inner() noexcept { return bridge_.inner(); }
  /// Returns the underlying stream; what is left in the buffers is lost.
  [[nodiscard]] S into_inner() && { return std::move(bridge_).into_inner(); }

 protected:
  int_type underflow() override {
    if constexpr (AsyncRead<Inner>) {
      if (gptr() == egptr()) {
        const std::size_t n = bridge_.read(BufferMut(input_.get(), buffer_size)).value();
        setg(input_.get(), input_.get(), input_.get() + n);
      }
      if (gptr() != egptr()) return traits_type::to_int_type(*gptr());
    }
    return traits_type::eof();
  }
  int_type overflow(int_type c) override {
    if constexpr (AsyncWrite<Inner>) {
      send();
      if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
      return traits_type::not_eof(c);
    } else {
      return traits_type::eof();
    }
  }
  int sync() override {
    if constexpr (AsyncWrite<Inner>) {
      send();
      bridge_.flush().value();
    }
    return 0;
  }

 private:
  /// Also if it fails, the buffer is empty then: a part may have been written.
  void send() {
    const auto size = static_cast<std::size_t>(pptr() - pbase());
    setp(output_.get(), output_.get() + buffer_size);
    bridge_.write_all(Buffer(output_.get(), size)).value();
  }

  SyncBridge<S> bridge_;
  internal::Box<char[]> input_;
  internal::Box<char[]> output_;
};

template <class S>
SyncStreambuf(S&&) -> SyncStreambuf<S>;

}  // namespace rouse::io
