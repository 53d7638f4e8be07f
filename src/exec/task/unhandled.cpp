#include "rouse/exec/unhandled.hpp"

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/append_what.hpp"
#include "exec/task/place.hpp"
#include "sys/console.hpp"

namespace rouse {
namespace {

void print(const UnhandledException& unhandled) {
  std::string line = "rouse: task " + std::to_string(unhandled.id);
  if (!unhandled.name.empty()) line.append(" \"").append(unhandled.name).append("\"");
  if (unhandled.spawned_at.line() != 0) {
    line.append(" (").append(unhandled.spawned_at.function_name()).append(" at ");
    line.append(unhandled.spawned_at.file_name()).append(":");
    line.append(std::to_string(unhandled.spawned_at.line())).append(")");
  }
  line += " ended with an exception that nobody joined: ";
  internal::append_what(line, unhandled.exception);
  line += '\n';
  internal::append_trace(line, unhandled.trace);
  sys::write_stderr(line);
}

}  // namespace

void internal::append_trace(std::string& text, const std::vector<std::source_location>& trace) {
  const char* what = "  thrown after ";
  for (const std::source_location& place : trace) {
    append_place(text += std::exchange(what, "  awaited at "), place);
    text += '\n';
  }
}

void internal::report_unhandled(const UnhandledHook& hook,
                                const UnhandledException& unhandled) noexcept {
  try {
    if (hook) return hook(unhandled);
  } catch (...) {
    ROUSE_ASSERT(false, "an on_unhandled hook threw: catch inside the hook");
  }
  try {
    print(unhandled);
  } catch (const std::bad_alloc&) {
    sys::write_stderr(
        "rouse: a task ended with an exception that nobody joined; there is no memory to say "
        "which\n");
  }
}

}  // namespace rouse
