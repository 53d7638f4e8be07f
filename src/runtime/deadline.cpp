#include "rouse/runtime/deadline.hpp"

#include <string>

namespace rouse {
namespace {

constinit TaskLocal<time::Instant> all_deadlines;

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "rouse.deadline"; }
  std::string message(int) const override { return "the deadline of the work has passed"; }
  std::error_condition default_error_condition(int) const noexcept override {
    return std::make_error_condition(std::errc::timed_out);
  }
};

}  // namespace

const std::error_category& deadline_error_category() noexcept {
  static const Category category;
  return category;
}

const TaskLocal<time::Instant>& internal::deadlines() noexcept { return all_deadlines; }

/// All of them are asked: an outer one may be earlier than the innermost.
std::optional<time::Instant> Deadline::current() noexcept {
  std::optional<time::Instant> earliest;
  for (const auto* node = internal::task_locals(); node != nullptr; node = node->rest()) {
    if (node->key() != &all_deadlines) continue;
    const auto at = *static_cast<const time::Instant*>(node->value());
    if (!earliest || at < *earliest) earliest = at;
  }
  return earliest;
}

time::Nanoseconds Deadline::left() noexcept {
  const std::optional<time::Instant> at = current();
  if (!at || *at == time::Instant::max()) return time::Nanoseconds::max();
  const time::Instant now = time::now();
  // Now is far from both ends of what a time point can hold, but the deadline may be at one.
  return *at < now ? time::Nanoseconds::zero() : *at - now;
}

}  // namespace rouse
