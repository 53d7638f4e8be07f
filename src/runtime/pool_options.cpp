#include "rouse/runtime/pool_options.hpp"

#include <string>

#include "rouse/base/assert.hpp"

namespace rouse {
namespace {

class PoolCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.pool"; }
  std::string message(int value) const override {
    switch (static_cast<PoolError>(value)) {
      case PoolError::closed:
        return "the pool of connections was closed";
      case PoolError::line_full:
        return "all connections of the pool are lent, and as many as may already wait for one";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<PoolError>(value)) {
      case PoolError::closed:
        return std::make_error_condition(std::errc::operation_canceled);
      case PoolError::line_full:
        return std::make_error_condition(std::errc::resource_unavailable_try_again);
    }
    return {value, *this};
  }
};

}  // namespace

const std::error_category& pool_error_category() noexcept {
  static const PoolCategory category;
  return category;
}

PoolOptions& PoolOptions::max_open(std::size_t connections) noexcept {
  ROUSE_ASSERT(connections > 0, "PoolOptions: max_open(0) could lend nothing: allow at least 1");
  max_open_ = connections;
  return *this;
}
PoolOptions& PoolOptions::max_waiting(std::size_t borrowers) noexcept {
  max_waiting_ = borrowers;
  return *this;
}
PoolOptions& PoolOptions::take_timeout(std::chrono::nanoseconds time) noexcept {
  take_timeout_ = time;
  return *this;
}
PoolOptions& PoolOptions::idle_timeout(std::chrono::nanoseconds time) noexcept {
  idle_timeout_ = time;
  return *this;
}
PoolOptions& PoolOptions::lifetime(std::chrono::nanoseconds time) noexcept {
  lifetime_ = time;
  return *this;
}
PoolOptions& PoolOptions::clean_timeout(std::chrono::nanoseconds time) noexcept {
  clean_timeout_ = time;
  return *this;
}

}  // namespace rouse
