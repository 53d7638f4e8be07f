// What a Command changes in the child before the program is executed: names, sessions, users, and
// functions of the caller's.
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/process/command.hpp"

#include "process/support.hpp"

namespace rouse::process {
namespace {

using test::shell;

class Privileges : public test::ProcessTest {
 protected:
  std::string output_of(const Command& command) {
    const Output output = rt.block_on(command.output());
    EXPECT_TRUE(output.status.success()) << output.stderr_;
    return output.stdout_;
  }
  /// The text of a line of /proc/self/status of a child that was made like `command`.
  std::string status_line(Command command, const std::string& name) {
    std::istringstream lines(output_of(command.arg("/proc/self/status")));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(name + ":")) continue;
      std::istringstream words(line.substr(name.size() + 1));
      std::string all;
      for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
      return all;
    }
    return "?";
  }
};
INSTANTIATE_TEST_SUITE_P(On, Privileges, ::testing::Bool(), test::runtime_name);

int nothing() noexcept { return 0; }

struct Failure {
  std::error_code code;
  std::string text;
};
Failure failure_of(const Command& command) {
  try {
    Child child = command.spawn();
  } catch (const std::system_error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

TEST_P(Privileges, AProgramSeesTheNameItIsGiven) {
  auto cat = Command("cat").arg("/proc/self/cmdline").arg0("kitty");
  const std::string expected("kitty\0/proc/self/cmdline\0", 25);
  EXPECT_EQ(output_of(cat), expected);
  EXPECT_EQ(output_of(cat.pre_exec(nothing)), expected);
  EXPECT_EQ(failure_of(Command("cat").arg0(std::string("a\0b", 3))).code,
            std::errc::invalid_argument);
}

TEST_P(Privileges, ASessionOfItsOwn) {
  for (const bool forks : {false, true}) {
    auto cat = Command("cat").arg("/proc/self/stat").setsid(true);
    if (forks) cat.pre_exec(nothing);
    std::istringstream words(output_of(cat));
    std::string pid, name, state, parent, group, session;
    words >> pid >> name >> state >> parent >> group >> session;
    EXPECT_EQ(group, pid);
    EXPECT_EQ(session, pid);
  }
}

TEST_P(Privileges, AnotherUserHasNoGroupsButThoseItIsGiven) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may become somebody else";
  const auto other = Command("cat").uid(65534).gid(65533);
  EXPECT_EQ(status_line(other, "Uid"), "65534 65534 65534 65534");
  EXPECT_EQ(status_line(other, "Gid"), "65533 65533 65533 65533");
  EXPECT_EQ(status_line(other, "Groups"), "");
  EXPECT_EQ(status_line(Command("cat").uid(65534).groups({7, 8}), "Groups"), "7 8");
}

TEST_P(Privileges, WhatItMayNotBecomeIsAnErrorThatNamesTheStep) {
  const std::vector<std::uint32_t> too_many(70'000, 1);
  const Failure groups = failure_of(Command("true").groups(too_many));
  EXPECT_TRUE(groups.code);
  EXPECT_NE(groups.text.find("'true': setgroups"), std::string::npos) << groups.text;
  // Nobody may become root again.
  auto nobody = Command("true").uid(0).gid(0);
  if (::geteuid() == 0) return;
  const Failure user = failure_of(nobody);
  EXPECT_EQ(user.code, std::errc::operation_not_permitted);
  EXPECT_NE(user.text.find("'true': setgid"), std::string::npos) << user.text;
}

TEST_P(Privileges, FunctionsRunInOrderBeforeTheProgram) {
  const auto first = []() noexcept {
    ::umask(0111);
    return 0;
  };
  const auto second = [mask = mode_t{0222}]() noexcept {
    ::umask(mask | ::umask(0));
    return 0;
  };
  EXPECT_EQ(output_of(shell("umask").pre_exec(first).pre_exec(second)), "0333\n");
}

TEST_P(Privileges, AFunctionThatFailsFailsTheStart) {
  const auto fails = []() noexcept { return EDOM; };
  const Failure failure = failure_of(Command("true").pre_exec(fails));
  EXPECT_EQ(failure.code, std::errc::argument_out_of_domain);
  EXPECT_NE(failure.text.find("'true': pre_exec"), std::string::npos) << failure.text;
}

TEST_P(Privileges, AFunctionMayPassOnWhatTheSystemGave) {
  const auto fails = []() noexcept { return ::close(-1); };
  EXPECT_EQ(failure_of(Command("true").pre_exec(fails)).code, std::errc::bad_file_descriptor);
  const auto odd = []() noexcept { return -1; };
  EXPECT_EQ(failure_of(Command("true").pre_exec(odd)).code, std::errc::invalid_argument);
}

TEST_P(Privileges, ASessionAndAGroupExcludeEachOtherAndTheErrorSaysSo) {
  for (const bool forks : {false, true}) {
    auto both = Command("true").setsid(true).process_group(0);
    if (forks) both.pre_exec(nothing);
    const Failure failure = failure_of(both);
    EXPECT_EQ(failure.code, std::errc::invalid_argument);
    EXPECT_NE(failure.text.find("'true': setsid makes it"), std::string::npos) << failure.text;
  }
}

TEST_P(Privileges, NobodyHasTheNumberThatMeansAsBefore) {
  EXPECT_EQ(failure_of(Command("true").uid(UINT32_MAX)).code, std::errc::invalid_argument);
  EXPECT_EQ(failure_of(Command("true").gid(UINT32_MAX)).code, std::errc::invalid_argument);
}

TEST_P(Privileges, AProgramThatIsForkedStartsLikeAnyOther) {
  EXPECT_EQ(
      output_of(shell("echo out; pwd; echo $X").pre_exec(nothing).env("X", "y").current_dir("/")),
      "out\n/\ny\n");
  auto cat = Command("cat").pre_exec(nothing);
  cat.stdin_(Stdio::piped()).stdout_(Stdio::piped());
  Child child = cat.spawn();
  const Output echoed = rt.block_on(std::move(child).wait_with_output("through it"));
  EXPECT_EQ(echoed.stdout_, "through it");
  EXPECT_EQ(rt.block_on(shell("exit 3").pre_exec(nothing).status()).code(), 3);
  const auto descriptors = shell("ls /proc/self/fd");
  EXPECT_EQ(output_of(Command(descriptors).pre_exec(nothing)), output_of(descriptors));
}

TEST_P(Privileges, AForkedProgramHasNoSignalBlockedAndOursStayAsTheyAre) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const auto cat = Command("cat").pre_exec(nothing);
  EXPECT_EQ(status_line(cat, "SigBlk"), "0000000000000000");
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

TEST_P(Privileges, AForkedProgramThatCannotBeExecutedIsAnError) {
  EXPECT_EQ(failure_of(Command("/no/such/program").pre_exec(nothing)).code,
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(failure_of(Command("no-such-program").pre_exec(nothing)).code,
            std::errc::no_such_file_or_directory);
  EXPECT_EQ(failure_of(Command("/etc/passwd").pre_exec(nothing)).code,
            std::errc::permission_denied);
  auto along = Command("passwd").pre_exec(nothing).env("PATH", "/no/such/folder:/etc");
  EXPECT_EQ(failure_of(along).code, std::errc::permission_denied);
}

TEST_P(Privileges, AForkedScriptWithoutAFirstLineRunsInTheShell) {
  std::string path = "/tmp/rouse-script-" + std::to_string(::getpid());
  std::ofstream(path) << "echo \"$0 $1\"\n";
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_EQ(output_of(Command(path).arg("x").pre_exec(nothing)), path + " x\n");
  ::unlink(path.c_str());
}

TEST_P(Privileges, ACopyOfACommandIsItsOwn) {
  auto one = Command("echo").arg("a");
  auto other = one;
  other.arg("b");
  EXPECT_EQ(output_of(one), "a\n");
  EXPECT_EQ(output_of(other), "a b\n");
  one = std::move(other);
  EXPECT_EQ(output_of(one), "a b\n");
}

}  // namespace
}  // namespace rouse::process
