// CatchCrashes: while it lives, a segmentation fault or an overflowing stack in a thread of a model
// is a finding with a trace, like any other: the handler leaves the thread for good. std::terminate
// and std::abort likewise.
#pragma once

#include <array>
#include <csignal>
#include <exception>
#include <memory>

namespace rouse::model {

class CatchCrashes {
 public:
  CatchCrashes();
  CatchCrashes(const CatchCrashes&) = delete;
  CatchCrashes& operator=(const CatchCrashes&) = delete;
  ~CatchCrashes();

 private:
  static constexpr std::array signals_ = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

  std::unique_ptr<char[]> stack_;  // an overflowing one can't run the handler
  stack_t stack_before_{};
  std::array<struct sigaction, signals_.size()> before_{};
  std::terminate_handler terminate_before_;
};

}  // namespace rouse::model
