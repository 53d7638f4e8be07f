// Rewound: a stream, and before it bytes that were read of it already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "rouse/base/shape.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/io/frame_buffer.hpp"
#include "rouse/io/is_full_duplex.hpp"

namespace rouse::http {

class Rewound : public io::ReadMembers<Rewound>, public io::WriteMembers<Rewound> {
 public:
  Rewound(io::AnyConnection stream, io::FrameBuffer read) noexcept
      : stream_(std::move(stream)), read_(std::move(read)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (read_.empty()) return stream_.poll_read(cx, buf);
    const std::size_t n = std::min(buf.size(), read_.size());
    if (n != 0) std::memcpy(buf.data(), read_.bytes().data(), n);
    read_.consume(n);
    return Poll<Result<std::size_t>>::ready(n);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    return stream_.poll_write(cx, data);
  }
  Poll<Result<std::size_t>> poll_writev(Context& cx, std::span<const io::Buffer> bufs) {
    return stream_.poll_writev(cx, bufs);
  }
  Poll<Result<void>> poll_flush(Context& cx) { return stream_.poll_flush(cx); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return stream_.poll_shutdown(cx); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Rewound, nullptr, one, &Rewound::stream_)

 private:
  io::AnyConnection stream_;
  io::FrameBuffer read_;
};

}  // namespace rouse::http
