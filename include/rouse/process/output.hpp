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

  ExitStatus status;
  std::string stdout_;
  std::string stderr_;
};

}  // namespace rouse::process
