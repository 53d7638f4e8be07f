// Calls that start processes, wait for them and signal them.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/process/command.hpp"

#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

using process::Command;
using process::Stdio;

Async<void> run_true() {
  const process::ExitStatus status = co_await Command("/bin/true").status();
  EXPECT_TRUE(status.success());
}

Async<void> run_along_path() {
  const process::ExitStatus status = co_await Command("true").env("PATH", "/nowhere:/bin").status();
  EXPECT_TRUE(status.success());
}

Async<void> run_with_everything() {
  auto command = Command("/bin/cat");
  command.current_dir("/").process_group(0).stdin_(Stdio::null());
  const process::Output output = co_await command.output();
  EXPECT_TRUE(output.status.success());
}

Async<void> talk() {
  auto command = Command("/bin/cat");
  auto child = command.stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
  co_await child.stdin_->write_all("hello");
  child.stdin_.reset();
  const std::string answer = co_await child.stdout_->read_to_string();
  EXPECT_EQ(answer, "hello");
  static_cast<void>(co_await child.wait());
}

Async<void> kill_one() {
  auto child = Command("/bin/sleep").arg("0.05").spawn();
  static_cast<void>(co_await child.kill());
}

/// Its own descriptor 0 goes to the child, and comes back.
void give_standard_input_away(Runtime& rt) {
  constexpr int kept = 200;
  ::dup2(0, kept);
  const std::error_code code = outcome_of([&] {
    auto inside = rt.enter();
    auto command = Command("/bin/true");
    command.stdin_(Stdio::from(io::OwnedFd(0)));
    auto child = command.spawn();
    rt.block_on(child.wait());
  });
  ::dup2(kept, 0);
  ::close(kept);
  if (code) throw std::system_error(code);
}

/// Without a descriptor 0 of its own, which the folder gets at first.
void run_in_a_folder_without_standard_input(Runtime& rt) {
  constexpr int kept = 200;
  ::dup2(0, kept);
  ::close(0);
  const std::error_code code = outcome_of([&] {
    const auto status = rt.block_on(Command("/bin/true").current_dir("/").status());
    EXPECT_TRUE(status.success());
  });
  ::dup2(kept, 0);
  ::close(kept);
  if (code) throw std::system_error(code);
}

TEST(FaultyProcess, AProcessThatCannotBeStartedIsReported) {
  Site("posix_spawn", "run a program by its path", run_true).except({ENOEXEC}).try_all();
  Site("posix_spawn", "run a program along PATH", run_along_path)
      .reported_as(ENOTDIR, std::error_code(ENOENT, std::system_category()), "looked for elsewhere")
      .except({ENOEXEC})
      .try_all();
  for (const char* call :
       {"posix_spawn_file_actions_adddup2", "posix_spawn_file_actions_addfchdir_np",
        "posix_spawn_file_actions_init", "posix_spawnattr_init", "posix_spawnattr_setflags",
        "posix_spawnattr_setpgroup", "posix_spawnattr_setsigdefault",
        "posix_spawnattr_setsigmask"}) {
    Site(call, "run a program with everything", run_with_everything).try_all();
  }
}

int nothing() noexcept { return 0; }

Async<void> run_forked() {
  const auto status = co_await Command("/bin/true").pre_exec(nothing).status();
  EXPECT_TRUE(status.success());
}

TEST(FaultyProcess, AProcessThatCannotBeForkedIsReported) {
  Site("_Fork", "run a program with pre_exec", run_forked).try_all();
  Site("pipe2", "run a program with pre_exec", run_forked).try_all();
  Site("read", "run a program with pre_exec", run_forked).retried({EINTR}).try_all();
}

TEST(FaultyProcess, WhatHasNoKnownFormatIsAScript) {
  const std::string path = "/tmp/rouse-faulty-script-" + std::to_string(::getpid());
  std::ofstream(path) << "exit 0\n";
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  Runtime rt = make_runtime(On::current_thread);
  const auto run = [&] { return outcome_of([&] { rt.block_on(Command(path).status()); }); };
  {
    const Injection injection(Fault("posix_spawn", ENOEXEC));
    EXPECT_FALSE(run());
    EXPECT_EQ(injection.hits(), 1);
  }
  {
    const Injection injection(Fault("posix_spawn", ENOEXEC).always());
    EXPECT_EQ(run().value(), ENOEXEC);
    EXPECT_EQ(injection.hits(), 2);
  }
  add_row("posix_spawn", "ENOEXEC", "run a script", 2, "run by the shell, else reported");
  ::unlink(path.c_str());
}

TEST(FaultyProcess, AProgramThatCannotBeLookedForIsTried) {
  Site("access", "run a program along PATH", run_along_path)
      .checked_by(
          [](int error, std::error_code code) {
            const bool is_missing = error == ENOENT || error == ENOTDIR;
            EXPECT_TRUE(!code || (is_missing && code.value() == ENOENT)) << code.message();
          },
          "tried anyway, unless it is missing")
      .try_all();
}

TEST(FaultyProcess, ADescriptorForTheChildThatCannotBeHadIsReported) {
  Site("pipe2", "talk to a program", talk).try_all();
  Site("open", "run a program with everything", run_with_everything).retried({EINTR}).try_all();
  Site("fcntl(F_GETFL)", "talk to a program", talk).try_all();
  Site("fcntl(F_SETFL)", "talk to a program", talk).try_all();
  Site("fcntl(F_DUPFD_CLOEXEC)", "give standard input away", give_standard_input_away).try_all();
  Site("fcntl(F_DUPFD_CLOEXEC)", "run in a folder, without a descriptor 0",
       run_in_a_folder_without_standard_input)
      .try_all();
  Site("epoll_ctl(ADD)", "talk to a program", talk).except({EPERM}).try_all();
}

TEST(FaultyProcess, AProcessThatCannotBeWatchedIsEnded) {
  Site("pidfd_open", "run a program", run_true).except({ESRCH}).try_all();
}

/// The system says that there is no such child: it has been taken note of elsewhere.
TEST(FaultyProcess, AChildThatIsGoneAlreadyIsReported) {
  Runtime rt = make_runtime(On::current_thread);
  const Injection injection(Fault("pidfd_open", ESRCH));
  EXPECT_EQ(outcome_of([&] { rt.block_on(run_true()); }), std::errc::no_child_process);
  EXPECT_EQ(injection.hits(), 1);
  EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
  add_row("pidfd_open", "ESRCH", "run a program", 1, "reported as no_child_process");
}

TEST(FaultyProcess, EndingAProcessThatCannotBeWatchedIsDoneAgainIfInterrupted) {
  Runtime rt = make_runtime(On::current_thread);
  for (const auto& [call, error] :
       {std::pair("kill", EINVAL), std::pair("kill", EPERM), std::pair("kill", ESRCH),
        std::pair("waitpid", EINTR), std::pair("waitid", EINTR)}) {
    const Watchdog watchdog(call);
    const Injection unwatched(Fault("pidfd_open", EMFILE));
    const Injection injection(Fault(call, error));
    EXPECT_EQ(outcome_of([&] { rt.block_on(run_true()); }).value(), EMFILE);
    EXPECT_EQ(injection.hits(), 1) << call;
    EXPECT_TRUE(children_are_gone(rt));
    add_row(call, name_of_error(error), "run a program that cannot be watched", 1,
            error == EINTR ? "called again" : "waited for anyway");
  }
  for (const int error : {ECHILD, EINVAL}) {
    const Injection unwatched(Fault("pidfd_open", EMFILE));
    const Injection injection(Fault("waitpid", error));
    EXPECT_EQ(outcome_of([&] { rt.block_on(run_true()); }).value(), EMFILE);
    EXPECT_EQ(injection.hits(), 1);
    EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
    add_row("waitpid", name_of_error(error), "run a program that cannot be watched", 1,
            "the first error is reported");
  }
}

/// As if the system had reaped it, and another process had its number.
TEST(FaultyProcess, WhatIsNoChildAnyMoreIsNotKilled) {
  Runtime rt = make_runtime(On::current_thread);
  for (const int error : {EAGAIN, ECHILD, EINVAL}) {
    const Injection unwatched(Fault("pidfd_open", EMFILE));
    const Injection injection(Fault("waitid", error));
    EXPECT_EQ(outcome_of([&] { rt.block_on(run_true()); }).value(), EMFILE);
    EXPECT_EQ(injection.hits(), 1);
    int status = -1;
    EXPECT_GT(::waitpid(-1, &status, 0), 0);
    EXPECT_EQ(status, 0);
    add_row("waitid", name_of_error(error), "run a program that cannot be watched", 1,
            "not killed, and the first error is reported");
  }
}

TEST(FaultyProcess, AWaitThatFailsIsReportedAndLeavesNoZombie) {
  Site("waitid", "run a program", run_true).retried({EINTR}).try_all();
}

TEST(FaultyProcess, ASignalThatCannotBeSentIsReported) {
  Site("pidfd_send_signal", "kill a program", kill_one)
      .ignored({ESRCH}, "it has ended already")
      .try_all();
}

TEST(FaultyProcess, TalkingReportsItsErrorsAndWaitsWhereItIsToldTo) {
  Site("read", "talk to a program", talk).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("write", "talk to a program", talk).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("read", "talk to a program", talk).try_short();
  Site("write", "talk to a program", talk).try_short();
}

}  // namespace
}  // namespace rouse::faulty
