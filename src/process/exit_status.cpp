#include "rouse/process/exit_status.hpp"

namespace rouse::process {

std::string ExitStatus::to_string() const {
  if (is_exit_) return "exit code " + std::to_string(value_);
  return "signal " + std::to_string(value_) + (core_dumped_ ? " (core dumped)" : "");
}

}  // namespace rouse::process
