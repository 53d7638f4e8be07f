// Readers and writers that behave as badly as the contract allows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::test {

inline std::vector<std::byte> bytes(std::string_view text) {
  const io::Buffer all(text);
  return {all.data(), all.data() + all.size()};
}
inline std::string text(std::span<const std::byte> all) {
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

/// Gives its text one byte at a time, and is pending before each; then the end, or an error.
class SlowReader : public io::ReadMembers<SlowReader> {
 public:
  explicit SlowReader(std::string all, std::error_code end = {})
      : text_(std::move(all)), end_(end) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (std::exchange(rests_, !rests_)) {
      cx.waker().wake_by_ref();
      return pending;
    }
    if (given_ == text_.size() && end_) return Poll<Result<std::size_t>>::ready(end_);
    const std::size_t n = std::min<std::size_t>({1, buf.size(), text_.size() - given_});
    if (n == 0) return Poll<Result<std::size_t>>::ready(n);
    std::memcpy(buf.data(), text_.data() + given_, n);
    given_ += n;
    return Poll<Result<std::size_t>>::ready(n);
  }
  [[nodiscard]] std::size_t given() const noexcept { return given_; }

 private:
  std::string text_;
  std::error_code end_;
  std::size_t given_ = 0;
  bool rests_ = true;
};

/// Takes one byte at a time, and is pending before each; after `room` bytes it takes none, or
/// fails.
class SlowWriter : public io::WriteMembers<SlowWriter> {
 public:
  SlowWriter() = default;
  explicit SlowWriter(std::size_t room, std::error_code end = {}) : room_(room), end_(end) {}

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    if (rest(cx)) return pending;
    if (taken.size() == room_ && end_) return Poll<Result<std::size_t>>::ready(end_);
    const std::size_t n = std::min<std::size_t>({1, data.size(), room_ - taken.size()});
    taken.append(reinterpret_cast<const char*>(data.data()), n);
    return Poll<Result<std::size_t>>::ready(n);
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    if (rest(cx)) return pending;
    flushed = taken.size();
    return Poll<Result<void>>::ready(Result<void>());
  }
  Poll<Result<void>> poll_shutdown(Context& cx) {
    if (rest(cx)) return pending;
    is_shut_down = true;
    return Poll<Result<void>>::ready(Result<void>());
  }

  std::string taken;
  std::size_t flushed = 0;
  bool is_shut_down = false;

 private:
  bool rest(const Context& cx) {
    const bool rests = std::exchange(rests_, !rests_);
    if (rests) cx.waker().wake_by_ref();
    return rests;
  }

  std::size_t room_ = static_cast<std::size_t>(-1);
  std::error_code end_;
  bool rests_ = true;
};

}  // namespace rouse::test
