#include "rouse/runtime/run.hpp"

#include <new>
#include <string>

#include "rouse/core/exception_trace.hpp"
#include "rouse/exec/unhandled.hpp"

#include "base/append_what.hpp"
#include "sys/console.hpp"

namespace rouse {

using namespace internal;

void internal::report_failed_main(const std::exception_ptr& error) noexcept {
  try {
    std::string text = "rouse::run: the main task ended with an exception: ";
    append_what(text, error);
    append_trace(text += '\n', trace_of(error));
    sys::write_stderr(text);
  } catch (const std::bad_alloc&) {
    sys::write_stderr(
        "rouse::run: the main task ended with an exception; there is no memory to say which\n");
  }
}

}  // namespace rouse
