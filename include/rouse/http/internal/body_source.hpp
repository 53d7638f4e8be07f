// BodySource: where the bytes of a body come from: a connection, a file, a reader of the user's.
// ReaderSource: one of any AsyncRead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"

namespace rouse::http {
class FileSource;
}  // namespace rouse::http

namespace rouse::internal {

class BodySource {
 public:
  BodySource() noexcept = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  /// As of an AsyncRead.
  virtual Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) = 0;
  /// How many bytes are still to come, if that is known.
  [[nodiscard]] virtual std::optional<std::uint64_t> length() const noexcept = 0;
  /// Itself, if it is a part of a file: a range of it may be asked for.
  [[nodiscard]] virtual http::FileSource* as_file() noexcept { return nullptr; }
};

template <class R>
class ReaderSource final : public BodySource {
 public:
  ReaderSource(R&& reader, std::optional<std::uint64_t> length)
      : reader_(std::move(reader)), left_(length) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) override {
    Poll<Result<std::size_t>> polled = reader_.poll_read(cx, buf);
    if (left_ && polled.is_ready() && polled.value()) {
      const std::uint64_t n = *polled.value();
      *left_ -= n < *left_ ? n : *left_;
    }
    return polled;
  }
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override { return left_; }

 private:
  R reader_;
  std::optional<std::uint64_t> left_;
};

}  // namespace rouse::internal
