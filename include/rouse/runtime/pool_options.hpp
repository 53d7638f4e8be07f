// What a Pool may be told, what it tells of itself, and what its own errors are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/durations.hpp"

namespace rouse {

/// Why Pool::take failed, besides a timeout and what the manager's `connect` may fail with.
enum class PoolError {
  closed = 1,  ///< the pool was closed; also equals std::errc::operation_canceled
  line_full,   ///< too many wait already; also equals std::errc::resource_unavailable_try_again
};

/// "rouse.pool".
ROUSE_API const std::error_category& pool_error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(PoolError error) noexcept {
  return {static_cast<int>(error), pool_error_category()};
}

/// The bounds of a Pool. A value; each setting has a default.
class ROUSE_API PoolOptions {
 public:
  PoolOptions() noexcept = default;

  /// How many connections there are at most, at least 1: lent, idle, being opened and being tidied.
  /// Default: 10.
  PoolOptions& max_open(std::size_t connections) noexcept;
  /// How many may wait for one; the next is refused. Default: 1,024.
  PoolOptions& max_waiting(std::size_t borrowers) noexcept;
  /// How long `take` may last: the wait in line, and opening a connection. Default: 5 s.
  PoolOptions& take_timeout(std::chrono::nanoseconds time) noexcept;
  /// `take` may last for ever, or until the Deadline.
  PoolOptions& no_take_timeout() noexcept { return take_timeout(std::chrono::nanoseconds::max()); }
  /// A connection that nobody borrowed for so long is closed. Default: 10 minutes.
  PoolOptions& idle_timeout(std::chrono::nanoseconds time) noexcept;
  /// A connection that is so old is not lent any more. Give or take 10% at random, so that those
  /// that were opened together are not closed together. Default: 30 minutes.
  PoolOptions& lifetime(std::chrono::nanoseconds time) noexcept;
  /// How long the manager's `clean` may last; then the connection is closed. Default: 2 s.
  PoolOptions& clean_timeout(std::chrono::nanoseconds time) noexcept;

  /// What was set.
  [[nodiscard]] std::size_t max_open() const noexcept { return max_open_; }
  [[nodiscard]] std::size_t max_waiting() const noexcept { return max_waiting_; }
  [[nodiscard]] std::chrono::nanoseconds take_timeout() const noexcept { return take_timeout_; }
  [[nodiscard]] std::chrono::nanoseconds idle_timeout() const noexcept { return idle_timeout_; }
  [[nodiscard]] std::chrono::nanoseconds lifetime() const noexcept { return lifetime_; }
  [[nodiscard]] std::chrono::nanoseconds clean_timeout() const noexcept { return clean_timeout_; }

 private:
  std::size_t max_open_ = 10;
  std::size_t max_waiting_ = 1024;
  std::chrono::nanoseconds take_timeout_ = std::chrono::seconds(5);
  std::chrono::nanoseconds idle_timeout_ = std::chrono::minutes(10);
  std::chrono::nanoseconds lifetime_ = std::chrono::minutes(30);
  std::chrono::nanoseconds clean_timeout_ = std::chrono::seconds(2);
};

/// What a pool holds, and has done so far. All figures are of one moment.
class ConnectionMetrics {
 public:
  ConnectionMetrics() noexcept = default;
  std::size_t open = 0;     ///< connections: all of the following
  std::size_t lent = 0;     ///< with a borrower
  std::size_t idle = 0;     ///< waiting for one
  std::size_t opening = 0;  ///< in the manager's `connect`
  std::size_t tidying = 0;  ///< with the janitor, who cleans or closes them
  std::size_t waiting = 0;  ///< borrowers in line

  std::uint64_t lends = 0;         ///< connections lent
  std::uint64_t waits = 0;         ///< borrowers who had to wait in line
  std::uint64_t refusals = 0;      ///< borrowers for whom the line was full
  std::uint64_t opened = 0;        ///< connections opened
  std::uint64_t failed_opens = 0;  ///< connections that could not be opened, or were given up
  std::uint64_t cleaned = 0;       ///< dirty connections that the manager cleaned
  std::uint64_t closed = 0;        ///< connections closed, for whatever reason
};

}  // namespace rouse

template <>
struct std::is_error_code_enum<rouse::PoolError> : std::true_type {};
