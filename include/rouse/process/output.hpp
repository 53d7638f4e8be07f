// Output: how a process has ended, and what it wrote.
#pragma once

#include <string>
#include <utility>

#include "rouse/process/exit_status.hpp"

namespace rouse::process {

class Output {
 public:
  Output(ExitStatus how, std::string out, std::string err) noexcept
      : status(how), stdout_(std::move(out)), stderr_(std::move(err)) {}

  ExitStatus status;    ///< how it ended
  std::string stdout_;  ///< what it wrote there
  std::string stderr_;  ///< what it wrote there
};

}  // namespace rouse::process
