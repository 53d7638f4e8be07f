// ChunkedReader and ChunkedWriter: give and take bytes in pieces of any size, and are pending now
// and then, by a plan: a byte a call, of which the lowest bit says whether it is pending, the
// others how long the piece is. Where the plan ends, everything goes at once. finish_or_drop: polls
// a future until it is ready, or until the input says that it is dropped.
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
#include "rouse/io/read.hpp"
#include "rouse/io/write.hpp"
#include "rouse/testing/counting_waker.hpp"

#include "input.hpp"

namespace rouse::fuzz {

class Plan {
 public:
  explicit Plan(std::string steps) noexcept : steps_(std::move(steps)) {}

  /// How long the next piece is; nothing: pending, and the task is woken.
  std::optional<std::size_t> next(const Context& cx) {
    if (next_ == steps_.size()) return SIZE_MAX;
    const auto step = static_cast<std::uint8_t>(steps_[next_++]);
    if ((step & 1U) == 0) return 1 + step / 2;
    cx.waker().wake_by_ref();
    return std::nullopt;
  }

 private:
  std::string steps_;
  std::size_t next_ = 0;
};

class ChunkedReader : public io::ReadMembers<ChunkedReader> {
 public:
  /// After the bytes comes the end, or the error, if there is one.
  ChunkedReader(std::string bytes, Plan plan, std::error_code end)
      : bytes_(std::move(bytes)), plan_(std::move(plan)), end_(end) {}

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    const std::optional<std::size_t> piece = plan_.next(cx);
    if (!piece) return pending;
    if (given_ == bytes_.size() && end_) return Poll<Result<std::size_t>>::ready(end_);
    const std::size_t n = std::min({*piece, buf.size(), bytes_.size() - given_});
    if (n != 0) std::memcpy(buf.data(), bytes_.data() + given_, n);
    given_ += n;
    return Poll<Result<std::size_t>>::ready(n);
  }
  [[nodiscard]] std::size_t given() const noexcept { return given_; }

 private:
  std::string bytes_;
  Plan plan_;
  std::error_code end_;
  std::size_t given_ = 0;
};

class ChunkedWriter : public io::WriteMembers<ChunkedWriter> {
 public:
  explicit ChunkedWriter(Plan plan) : plan_(std::move(plan)) {}

  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    const std::optional<std::size_t> piece = plan_.next(cx);
    if (!piece) return pending;
    const std::size_t n = std::min(*piece, data.size());
    taken.append(reinterpret_cast<const char*>(data.data()), n);
    return Poll<Result<std::size_t>>::ready(n);
  }
  Poll<Result<void>> poll_flush(Context& cx) { return pause(cx); }
  Poll<Result<void>> poll_shutdown(Context& cx) { return pause(cx); }

  std::string taken;

 private:
  Poll<Result<void>> pause(Context& cx) {
    if (!plan_.next(cx)) return pending;
    return Poll<Result<void>>::ready(Result<void>());
  }

  Plan plan_;
};

/// `poll(cx)` again and again. What it gave, or nothing if the input let it be dropped.
template <class PollOnce>
auto finish_or_drop(Input& input, PollOnce&& poll)
    -> std::optional<std::decay_t<decltype(poll(std::declval<Context&>()).value())>> {
  testing::CountingWaker waker;
  for (;;) {
    const std::size_t wakes = waker.count();
    Context cx(waker.waker());
    auto polled = poll(cx);
    if (polled.is_ready()) return std::move(polled).value();
    require(waker.count() != wakes, "a reader or writer that woke is not forgotten");
    if (input.below(8) == 7) return std::nullopt;
  }
}

}  // namespace rouse::fuzz
