// What tests of processes share.
#pragma once

#include <cerrno>
#include <chrono>
#include <string>
#include <sys/wait.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/process/command.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::test {

inline process::Command shell(std::string script) {
  return process::Command("sh").arg("-c").arg(std::move(script));
}

/// Whether this process has children, ended or not.
inline bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/// Each test with a runtime of one thread and one with two workers; afterwards there must be no
/// child left.
class ProcessTest : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make() {
    RuntimeBuilder builder = Runtime::builder();
    if (GetParam()) return builder.current_thread().build();
    return builder.worker_threads(2).build();
  }
  /// Runs the runtime until all children are gone; the test's timeout is the limit.
  static Async<void> until_no_children() {
    while (has_children()) co_await sleep(std::chrono::milliseconds(1));
  }
  void TearDown() override { rt.block_on(until_no_children()); }

  Runtime rt = make();
  EnterGuard inside = rt.enter();
};

inline const auto runtime_name = [](const ::testing::TestParamInfo<bool>& runtime) {
  return runtime.param ? "CurrentThread" : "TwoWorkers";
};

}  // namespace rouse::test
