// A program that is started without standard streams: see sys::fill_standard_descriptors.
#include <cstdlib>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/io/stdio.hpp"
#include "rouse/runtime/runtime.hpp"

namespace {

using namespace rouse;

bool is_null_device(int fd) {
  struct stat status{};
  struct stat null{};
  return ::fstat(fd, &status) == 0 && ::stat("/dev/null", &null) == 0 &&
         status.st_rdev == null.st_rdev;
}

/// What the program does that is started below.
void use_a_runtime_without_streams() {
  for (int fd = 0; fd <= 2; ++fd) ::close(fd);
  {
    Runtime rt = Runtime::builder().current_thread().build();
    const EnterGuard inside = rt.enter();
    bool is_right = is_null_device(0) && is_null_device(1) && is_null_device(2);
    io::Stdout out = io::stdout_();
    io::Stdin in = io::stdin_();
    is_right = is_right && rt.block_on(out.write_all("to nobody").result());
    const auto read = rt.block_on(in.read_to_string().result());
    is_right = is_right && read && read->empty();
    if (!is_right) ::_exit(1);
  }
  ::_exit(0);
}

TEST(StandardDescriptors, DISABLED_InAProgramStartedWithoutThem) {
  use_a_runtime_without_streams();
}

TEST(StandardDescriptors, ThoseThatAreClosedBecomeTheNullDeviceAndNoneOfTheRuntimes) {
  char program[] = "/proc/self/exe";
  char filter[] = "--gtest_filter=StandardDescriptors.DISABLED_InAProgramStartedWithoutThem";
  char disabled[] = "--gtest_also_run_disabled_tests";
  char* arguments[] = {program, filter, disabled, nullptr};
  posix_spawn_file_actions_t actions;
  ASSERT_EQ(::posix_spawn_file_actions_init(&actions), 0);
  for (int fd = 0; fd <= 2; ++fd) ::posix_spawn_file_actions_addclose(&actions, fd);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, program, &actions, nullptr, arguments, environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
