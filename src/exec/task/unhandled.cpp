#include "rouse/exec/unhandled.hpp"

#include <new>
#include <string>

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
  try {
    std::rethrow_exception(unhandled.exception);
  } catch (const std::exception& e) {
    line += e.what();
  } catch (...) {
    line += "not a std::exception";
  }
  line += '\n';
  sys::write_stderr(line);
}

}  // namespace

void report_unhandled(const UnhandledHook& hook, const UnhandledException& unhandled) noexcept {
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
