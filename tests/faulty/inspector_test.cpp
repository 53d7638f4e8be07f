// The inspector beside a system that fails: what can't start is told and leaves nothing, and a
// connection that fails ends no other.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/sight/start.hpp"

#include "faulty/errnos.hpp"
#include "faulty/harness.hpp"
#include "sight/inspected.hpp"

namespace rouse::faulty {
namespace {

using rouse::test::get;
using rouse::test::Inspected;
using rouse::test::InspectorClient;
using rouse::test::status_of;
using ::testing::IsEmpty;

void start_and_end() { const sight::Sight sight = sight::start(sight::Options().socket().tcp()); }

/// Each use of the call in a start fails in turn.
void fail_starts_with(std::string_view call, int error, const std::string& folder) {
  for (long skip = 0;; ++skip) {
    const std::set<std::string> before = open_descriptors();
    std::error_code code;
    long hits = 0;
    {
      const Injection injection(Fault(call, error).after(skip));
      code = outcome_of(start_and_end);
      hits = injection.hits();
    }
    EXPECT_THAT(left_open(before), IsEmpty());
    std::filesystem::remove_all(folder + "/rouse");  // a file, if its removal has failed
    EXPECT_FALSE(outcome_of(start_and_end)) << call << " " << name_of_error(error);
    if (hits == 0) return;
    add_row(call, name_of_error(error), "sight::start", hits,
            code ? "reported" : "sight starts without it");
  }
}

TEST(FaultyInspector, WhatCantStartIsToldAndLeavesNothing) {
  const test::TempDirectory folder;
  ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  ThreadsEnd threads_end;
  for (const std::string_view call :
       {"getrandom", "socket", "fchmod", "bind", "listen", "getsockname", "setsockopt", "mkdir",
        "statx", "opendir", "unlink", "epoll_create1", "epoll_ctl(ADD)", "eventfd",
        "pthread_create"}) {
    for (const int error : errors_of_call(call)) fail_starts_with(call, error, folder.path());
  }
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(FaultyInspector, AConnectionThatFailsEndsNoOther) {
  for (const std::string_view call : {"accept4", "getsockopt", "epoll_ctl(ADD)", "epoll_ctl(DEL)",
                                      "recv", "send", "shutdown", "close", "mmap", "munmap"}) {
    for (const int error : errors_of_call(call)) {
      Inspected inspected;
      InspectorClient client = inspected.connect();
      client.send(get("/metrics"));
      long hits = 0;
      {
        const Injection injection(Fault(call, error));
        inspected.turn();
        hits = injection.hits();
      }
      const int status = status_of(client.take());
      client.close();
      Inspected::pass(std::chrono::milliseconds(100));  // out of descriptors: it waits so long
      EXPECT_EQ(status_of(inspected.ask(get("/metrics"))), 200) << call << name_of_error(error);
      EXPECT_EQ(status_of(inspected.ask(get("/dump"))), 200) << call << name_of_error(error);
      if (hits == 0) continue;  // only with a connection that ends
      add_row(call, name_of_error(error), "a request to sight", hits,
              status == 200   ? "answered all the same"
              : status == 503 ? "the answer is that there is no memory"
                              : "this request fails");
    }
  }
}

/// As a filter of system calls may have it: then nobody is served, but the thread of sight has
/// other duties, and an end.
TEST(FaultyInspector, AcceptThatAlwaysFailsDoesNotKeepTheThread) {
  for (const int error : errors_of_call("accept4")) {
    if (error == EINTR) continue;  // for ever is too long
    Inspected inspected;
    const InspectorClient client = inspected.connect();
    const Injection injection(Fault("accept4", error).always());
    inspected.look();
    EXPECT_LT(injection.hits(), 100) << name_of_error(error);
  }
}

}  // namespace
}  // namespace rouse::faulty
