// FileSource: a part of a file as the source of a body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "rouse/fs/file.hpp"
#include "rouse/http/internal/body_source.hpp"

namespace rouse::http {

class FileSource final : public internal::BodySource {
 public:
  FileSource(fs::File file, std::uint64_t offset, std::uint64_t length) noexcept
      : file_(std::move(file)), at_(offset), left_(length) {
    if (offset == 0) seek_ = Seek::done;
  }

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) override;
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override { return left_; }
  [[nodiscard]] FileSource* as_file() noexcept override { return this; }

  /// Only these of its bytes. Before the first read.
  void narrow(std::uint64_t offset, std::uint64_t length) noexcept {
    at_ += offset;
    left_ = length;
    seek_ = at_ == 0 ? Seek::done : Seek::wanted;
  }

 private:
  enum class Seek : std::uint8_t { wanted, begun, done };
  Poll<Result<void>> poll_seek(Context& cx);

  fs::File file_;
  std::uint64_t at_;
  std::uint64_t left_;
  Seek seek_ = Seek::wanted;
};

}  // namespace rouse::http
