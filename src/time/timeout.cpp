#include "rouse/time/timeout.hpp"

#include <source_location>
#include <string>
#include <system_error>

namespace rouse {

TimedOut::TimedOut(std::source_location where)
    : std::system_error(std::make_error_code(std::errc::timed_out),
                        std::string("rouse::timeout at ") + where.file_name() + ":" +
                            std::to_string(where.line())),
      where_(where) {}
TimedOut::~TimedOut() = default;

void internal::throw_timed_out(std::source_location where) { throw TimedOut(where); }

}  // namespace rouse
