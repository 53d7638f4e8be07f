// What the library says on standard error when nobody is there to be told.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/future/yield_now.hpp"

#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

/// Standard error goes to a file while it lives.
class StandardError {
 public:
  StandardError() : before_(::dup(STDERR_FILENO)) {
    std::string name = "/tmp/rouse-faulty-XXXXXX";
    file_ = ::mkstemp(name.data());
    ::unlink(name.c_str());
    ::dup2(file_, STDERR_FILENO);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  ~StandardError() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(file_);
  }
  [[nodiscard]] std::string text() const {
    std::string all(10'000, '\0');
    const ::ssize_t size = ::pread(file_, all.data(), all.size(), 0);
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return all;
  }

 private:
  int before_;
  int file_;
};

Async<void> fail() {
  co_await yield_now();
  throw std::runtime_error("what nobody is told");
}

/// What is said of a task that nobody joins.
std::string said_with(const Fault& fault, Runtime& rt) {
  const StandardError error;
  const Injection injection(fault);
  rt.block_on([]() -> Async<void> {
    spawn(fail).detach();
    co_return;
  }());
  while (rt.metrics().alive_tasks != 0) rt.block_on(yield_now());
  EXPECT_GT(injection.hits(), 0);
  return error.text();
}

TEST(FaultyConsole, WhatCannotBeSaidIsLostAndNothingElse) {
  Runtime rt = make_runtime(On::current_thread);
  for (const int error :
       {EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFBIG, EINVAL, EIO, ENOSPC, EPERM, EPIPE}) {
    const auto before = open_descriptors();
    EXPECT_EQ(said_with(Fault("write", error), rt), "");
    expect_healthy(rt, before);
    add_row("write", name_of_error(error), "report an unhandled exception", 1, "lost");
  }
}

TEST(FaultyConsole, WhatIsInterruptedOrCutShortIsSaidInFull) {
  Runtime rt = make_runtime(On::current_thread);
  for (const Fault& fault : {Fault("write", EINTR), Fault::shortened("write", 1)}) {
    const std::string said = said_with(fault, rt);
    EXPECT_TRUE(said.find("what nobody is told\n") != std::string::npos) << said;
  }
  add_row("write", "EINTR", "report an unhandled exception", 1, "called again");
  add_row("write", "1 at a time", "report an unhandled exception", 1, "all bytes arrive");
}

}  // namespace
}  // namespace rouse::faulty
