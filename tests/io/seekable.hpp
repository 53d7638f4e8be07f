// SlowFile: a file in memory that is pending before everything it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "rouse/base/result.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/io/async_seek.hpp"
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"

namespace rouse::test {

class SlowFile : public io::ReadMembers<SlowFile>, public io::WriteMembers<SlowFile> {
 public:
  explicit SlowFile(std::string all) : text(std::move(all)) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    if (rest(cx)) return pending;
    const std::size_t n = std::min(buf.size(), text.size() - std::min(text.size(), position));
    if (n != 0) std::memcpy(buf.data(), text.data() + position, n);
    position += n;
    return Poll<Result<std::size_t>>::ready(n);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    if (rest(cx)) return pending;
    if (write_error) return Poll<Result<std::size_t>>::ready(write_error);
    text.resize(std::max(text.size(), position + data.size()));
    std::memcpy(text.data() + position, data.data(), data.size());
    position += data.size();
    return Poll<Result<std::size_t>>::ready(data.size());
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    if (rest(cx)) return pending;
    return Poll<Result<void>>::ready(Result<void>());
  }
  Poll<Result<void>> poll_shutdown(Context& cx) { return poll_flush(cx); }

  Result<void> start_seek(io::SeekFrom to) {
    if (seeking_) return std::errc::device_or_resource_busy;
    seeking_ = to;
    rests_ = true;
    return {};
  }
  Poll<Result<std::uint64_t>> poll_complete(Context& cx) {
    using Polled = Poll<Result<std::uint64_t>>;
    if (!seeking_) return Polled::ready(std::uint64_t{0});
    if (rest(cx)) return pending;
    const io::SeekFrom to = *std::exchange(seeking_, std::nullopt);
    std::int64_t from = 0;
    if (to.base() == io::SeekFrom::Base::current) from = static_cast<std::int64_t>(position);
    if (to.base() == io::SeekFrom::Base::end) from = static_cast<std::int64_t>(text.size());
    if (from + to.offset() < 0) return Polled::ready(std::errc::invalid_argument);
    position = static_cast<std::size_t>(from + to.offset());
    return Polled::ready(std::uint64_t{position});
  }

  std::string text;
  std::size_t position = 0;
  std::error_code write_error;

 private:
  bool rest(const Context& cx) {
    const bool rests = std::exchange(rests_, !rests_);
    if (rests) cx.waker().wake_by_ref();
    return rests;
  }

  std::optional<io::SeekFrom> seeking_;
  bool rests_ = true;
};

static_assert(AsyncSeek<SlowFile>);

}  // namespace rouse::test
