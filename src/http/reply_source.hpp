// ReplySource: the body of an answer, from a connection that is given back behind its last byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/http/internal/body_source.hpp"
#include "rouse/runtime/pool.hpp"
#include "rouse/time/internal/timer_entry.hpp"

#include "http/client_connection.hpp"

namespace rouse::http {

/// When a request is to be done, and what to say if it is not.
class TimeLimit {
 public:
  TimeLimit(time::Instant its_at, std::error_code its_error) noexcept
      : at(its_at), error(its_error) {}
  /// The earlier of its own limit and the Deadline.
  static TimeLimit of(time::Nanoseconds own);

  time::Instant at;
  std::error_code error;
};

class ReplySource final : public internal::BodySource {
 public:
  ReplySource(Pooled<ClientConnection> connection, std::optional<std::uint64_t> length,
              TimeLimit limit) noexcept
      : connection_(std::in_place, std::move(connection)),
        left_(length),
        limit_(limit),
        timer_(limit.at) {}
  ~ReplySource() override;

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) override;
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override { return left_; }

 private:
  void give_back() noexcept;
  Poll<Result<std::size_t>> fail(std::error_code error);

  internal::Maybe<Pooled<ClientConnection>> connection_;  // until the body is read
  std::optional<std::uint64_t> left_;
  TimeLimit limit_;
  internal::TimerEntry timer_;
  std::error_code error_;
};

/// Whether the connection can serve the next request is known: gives it back.
void give_back(Pooled<ClientConnection> connection) noexcept;

}  // namespace rouse::http
