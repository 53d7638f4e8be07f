#include "rouse/time/timeout.hpp"

#include <source_location>
#include <string>
#include <system_error>

namespace rouse {

namespace {

std::string at(std::source_location where) {
  return std::string(" at ") + where.file_name() + ":" + std::to_string(where.line());
}

}  // namespace

TimedOut::TimedOut(std::source_location where)
    : std::system_error(std::make_error_code(std::errc::timed_out), "rouse::timeout" + at(where)),
      where_(where) {}
TimedOut::TimedOut(std::error_code why, std::source_location where)
    : std::system_error(why, "a time limit" + at(where)), where_(where) {}
TimedOut::~TimedOut() = default;

void internal::throw_timed_out(std::source_location where) { throw TimedOut(where); }

}  // namespace rouse
