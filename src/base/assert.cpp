#include "rouse/base/assert.hpp"

#include <string>

#include "sys/console.hpp"

namespace sys = rouse::sys;

void rouse::assert_failed(const char* file, int line, const char* message, const char* name,
                          const char* detail) noexcept {
  std::string text = "rouse: ";
  text += message;
  if (name) text.append("\n  in: ").append(name);
  if (detail) text.append("\n  ").append(detail);
  text.append("\n  (").append(file).append(":").append(std::to_string(line)).append(")\n");
  sys::write_stderr(text);
  sys::abort_process();
}
