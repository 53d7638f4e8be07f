// Command: what is started, with what, and what it gives.
#include "rouse/process/command.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/io/stdio.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/signal/signal.hpp"

#include "process/support.hpp"
#include "sys/process.hpp"

namespace {

using namespace rouse;
using process::Command;
using process::ExitStatus;
using process::Output;
using process::Stdio;
using rouse::test::ProcessTest;
using rouse::test::shell;
using ::testing::HasSubstr;

class CommandTest : public ProcessTest {
 protected:
  Output run(const Command& command) { return rt.block_on(command.output()); }
  std::string said(const Command& command) { return run(command).stdout_; }
};
INSTANTIATE_TEST_SUITE_P(Runtimes, CommandTest, ::testing::Bool(), rouse::test::runtime_name);

/// A folder that is gone after the test.
struct Folder {
  Folder() {
    std::string name = ::testing::TempDir() + "rouse_command_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text,
                                 mode_t mode) const {
    const std::string full = path + "/" + name;
    std::ofstream(full) << text;
    ::chmod(full.c_str(), mode);
    return full;
  }
  std::string path;
};

std::system_error error_of(const Command& command) {
  try {
    const auto child = command.spawn();
  } catch (const std::system_error& error) {
    return error;
  }
  return std::system_error(std::error_code(), "it could be started");
}

TEST_P(CommandTest, OutputAndStatusOfAProgram) {
  const Output output = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(output.stdout_, "out\n");
  EXPECT_EQ(output.stderr_, "err\n");
  EXPECT_EQ(output.status.code(), 3);
  EXPECT_EQ(output.status.to_string(), "exit code 3");
  EXPECT_FALSE(output.status.success());
}

TEST_P(CommandTest, ArgumentsArriveAsTheyAre) {
  const std::vector<std::string> more{"", "*", "$HOME"};
  EXPECT_EQ(said(Command("printf").arg("[%s]").arg("a b").args(more)), "[a b][][*][$HOME]");
}

TEST_P(CommandTest, StatusWaitsForTheEnd) {
  EXPECT_TRUE(rt.block_on(Command("true").status()).success());
  EXPECT_EQ(rt.block_on(Command("false").status()).code(), 1);
}

TEST_P(CommandTest, TheSignalThatEndedAProgramIsTold) {
  const auto status = rt.block_on(shell("kill -TERM $$").status());
  EXPECT_EQ(status.signal(), SIGTERM);
  EXPECT_EQ(status.code(), std::nullopt);
  EXPECT_FALSE(status.success());
  EXPECT_EQ(status.to_string(), "signal 15");
}

TEST_P(CommandTest, AMegabyteOnBothStreamsIsReadWithoutADeadlock) {
  const Output output = run(
      shell("head -c 1048576 /dev/zero; head -c 1048576 /dev/zero >&2; head -c 1000 /dev/zero"));
  EXPECT_EQ(output.stdout_.size(), (1U << 20) + 1000);
  EXPECT_EQ(output.stderr_.size(), 1U << 20);
  EXPECT_TRUE(output.status.success());
}

TEST_P(CommandTest, MoreThanTheLimitIsAnErrorAndTheProgramIsKilled) {
  const auto output = rt.block_on(Command("yes").output_limit(10'000).output().result());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error(), io::Error::too_long);  // TearDown waits until it is gone
}

TEST_P(CommandTest, AMissingProgramIsAnErrorThatNamesIt) {
  const auto error = error_of(Command("rouse-no-such-program"));
  EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  EXPECT_THAT(error.what(), HasSubstr("'rouse-no-such-program'"));
  EXPECT_EQ(error_of(Command("/no/such/program")).code(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(error_of(Command("")).code(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(rt.block_on(Command("rouse-no-such-program").status().result()).error(),
            std::errc::no_such_file_or_directory);
}

TEST_P(CommandTest, AFileThatIsNotExecutableIsAnError) {
  const Folder folder;
  const auto file = folder.file("tool", "#!/bin/sh\n", 0644);
  EXPECT_EQ(error_of(Command(file)).code(), std::errc::permission_denied);
  EXPECT_EQ(error_of(Command("tool").env("PATH", folder.path)).code(),
            std::errc::permission_denied);
}

TEST_P(CommandTest, ABadCurrentDirIsAnErrorThatNamesIt) {
  const auto error = error_of(Command("true").current_dir("/no/such/folder"));
  EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  EXPECT_THAT(error.what(), HasSubstr("'/no/such/folder' (current_dir)"));
  EXPECT_EQ(error_of(Command("true").current_dir("/dev/null")).code(), std::errc::not_a_directory);
}

TEST_P(CommandTest, OutputAndStatusThrowTheSameText) {
  const auto bad = Command("true").current_dir("/no/such/folder");
  const std::string expected = error_of(bad).what();
  const auto expect_text = [&](auto future) {
    try {
      (void)rt.block_on(std::move(future));
      ADD_FAILURE() << "it could be started";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.what(), expected);
    }
  };
  expect_text(bad.output());
  expect_text(bad.status());
  const auto awaits = [](Command command) -> Async<ExitStatus> {
    co_return co_await command.status();
  };
  expect_text(awaits(bad));
}

TEST_P(CommandTest, TheCurrentDirIsRightAlsoWithoutStandardDescriptors) {
  const Folder folder;
  const io::OwnedFd kept(::fcntl(0, F_DUPFD_CLOEXEC, 3));
  ::close(0);  // the next that is opened
  const auto before = Command("pwd").current_dir(folder.path);
  for (const bool forks : {false, true}) {
    auto command = before;
    if (forks) command.pre_exec([]() noexcept { return 0; });
    const auto output = rt.block_on(command.output().result());
    EXPECT_EQ(output.value().stdout_, folder.path + "\n");
  }
  ::dup2(kept.get(), 0);
}

TEST_P(CommandTest, WhatIsNoChildOfOursIsNotKilled) {
  sys::kill_and_reap(::getpid());  // as the number of a child that was reaped may be another's
}

TEST_P(CommandTest, AZeroInAnArgumentAndAnOddNameAreErrors) {
  EXPECT_EQ(error_of(Command("echo").arg(std::string("a\0b", 3))).code(),
            std::errc::invalid_argument);
  EXPECT_EQ(error_of(Command("echo").env("a=b", "c")).code(), std::errc::invalid_argument);
}

TEST_P(CommandTest, CurrentDirIsWhereTheProgramBegins) {
  const Folder folder;
  const auto file = folder.file("here", "#!/bin/sh\npwd -P\n", 0755);
  const std::string real = std::filesystem::canonical(folder.path).string() + "\n";
  EXPECT_EQ(said(Command("pwd").current_dir(folder.path)), real);
  EXPECT_EQ(said(Command("./here").current_dir(folder.path)), real);
}

TEST_P(CommandTest, TheEnvironmentIsInheritedWithChanges) {
  ::setenv("ROUSE_TEST_KEPT", "kept", 1);
  ::setenv("ROUSE_TEST_GONE", "gone", 1);
  const auto command = shell("echo $ROUSE_TEST_KEPT-$ROUSE_TEST_GONE-$ROUSE_TEST_NEW")
                           .env("ROUSE_TEST_NEW", "new")
                           .env_remove("ROUSE_TEST_GONE");
  EXPECT_EQ(said(command), "kept--new\n");
  ::unsetenv("ROUSE_TEST_KEPT");
  ::unsetenv("ROUSE_TEST_GONE");
}

TEST_P(CommandTest, AClearedEnvironmentHasOnlyWhatIsSet) {
  EXPECT_EQ(said(Command("/usr/bin/env").env("A", "lost").env_clear().env("B", "1")), "B=1\n");
}

TEST_P(CommandTest, TheProgramIsLookedForAlongTheChildsPath) {
  const Folder folder;
  const auto file = folder.file("rouse-test-tool", "#!/bin/sh\necho found\n", 0755);
  EXPECT_EQ(said(Command("rouse-test-tool").env("PATH", "/no/such:" + folder.path)), "found\n");
  EXPECT_EQ(said(Command("rouse-test-tool").env("PATH", "/no:").current_dir(folder.path)),
            "found\n");
}

TEST_P(CommandTest, AScriptWithoutAFirstLineRunsInTheShell) {
  const Folder folder;
  const auto file = folder.file("script", "echo script $1\n", 0755);
  EXPECT_EQ(said(Command(file).arg("one")), "script one\n");
}

TEST_P(CommandTest, ADescriptorOfOursBecomesItsStdout) {
  const Folder folder;
  const std::string path = folder.path + "/out";
  io::OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(rt.block_on(shell("echo to a file").stdout_(Stdio::from(std::move(file))).status())
                  .success());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "to a file\n");
}

TEST_P(CommandTest, TheOutputOfOneChildCanBeTheInputOfAnother) {
  auto first = shell("printf 'b\\na\\n'").stdout_(Stdio::piped()).spawn();
  auto second = Command("sort").stdin_(Stdio::from(std::move(*first.stdout_).into_fd())).output();
  EXPECT_EQ(rt.block_on(std::move(second)).stdout_, "a\nb\n");
  EXPECT_TRUE(rt.block_on(first.wait()).success());
}

TEST_P(CommandTest, NullIsEmptyAndTakesAll) {
  const auto status =
      rt.block_on(shell("cat; echo x").stdin_(Stdio::null()).stdout_(Stdio::null()).status());
  EXPECT_TRUE(status.success());
}

TEST_P(CommandTest, ACommandCanBeStartedAgain) {
  const Command command = shell("echo again");
  EXPECT_EQ(said(command), "again\n");
  EXPECT_EQ(said(command), "again\n");
}

TEST_P(CommandTest, NoSignalIsBlockedInTheChildAndSigpipeEndsIt) {
  sigset_t blocked;
  sigfillset(&blocked);
  sigset_t before;
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  auto child = Command("grep").arg("Sig").arg("/proc/self/status").stdout_(Stdio::piped()).spawn();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGPIPE, old);
  const std::string text = rt.block_on(child.stdout_->read_to_string());
  EXPECT_THAT(text, HasSubstr("SigBlk:\t0000000000000000"));
  const auto ignored = std::stoull(text.substr(text.find("SigIgn:") + 8), nullptr, 16);
  EXPECT_EQ(ignored & (1ULL << (SIGPIPE - 1)), 0U);
}

TEST_P(CommandTest, AProcessGroupOfItsOwn) {
  auto child = Command("cat").stdin_(Stdio::piped()).process_group(0).spawn();
  EXPECT_EQ(::getpgid(*child.id()), *child.id());
  EXPECT_TRUE(rt.block_on(child.wait()).success());
}

std::set<int> inheritable_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) found.insert(fd);
  }
  return found;
}

/// Whoever started this program may have left some open.
const std::set<int> open_from_the_start = inheritable_descriptors();

TEST_P(CommandTest, AChildGetsNoDescriptorOfOurs) {
  const Runtime another = Runtime::builder().worker_threads(1).build();
  const auto listener = rt.block_on(net::TcpListener::bind("127.0.0.1:0"));
  const signal::Signal listening(signal::Kind::user1());
  const auto out = io::stdout_();
  const auto child = Command("cat")
                         .stdin_(Stdio::piped())
                         .stdout_(Stdio::piped())
                         .stderr_(Stdio::piped())
                         .kill_on_drop(true)
                         .spawn();
  std::istringstream numbers(said(Command("ls").arg("/proc/self/fd")));
  std::set<int> seen;
  for (int fd = 0; numbers >> fd;) seen.insert(fd);
  for (const int fd : open_from_the_start) seen.erase(fd);
  for (const int fd : {0, 1, 2}) seen.erase(fd);
  EXPECT_EQ(seen.size(), 1U) << "one is the folder that ls reads: "
                             << ::testing::PrintToString(seen);
}

}  // namespace
