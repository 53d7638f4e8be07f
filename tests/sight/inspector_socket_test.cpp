// Where the socket is, who may be there, and what becomes of sockets that were left behind.
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sight/inspected.hpp"
#include "sight/private_socket.hpp"

namespace {

using namespace rouse;
using rouse::sight::PrivateSocket;
using rouse::test::TempDirectory;
using ::testing::HasSubstr;

/// XDG_RUNTIME_DIR is a directory of the test.
class UsualPlace : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const before = ::getenv("XDG_RUNTIME_DIR");
    if (before != nullptr) before_ = before;
    had_one_ = before != nullptr;
    ::setenv("XDG_RUNTIME_DIR", runtime_.path().c_str(), 1);
  }
  void TearDown() override {
    if (had_one_) {
      ::setenv("XDG_RUNTIME_DIR", before_.c_str(), 1);
    } else {
      ::unsetenv("XDG_RUNTIME_DIR");
    }
  }
  [[nodiscard]] std::string folder() const { return runtime_.file("rouse"); }
  [[nodiscard]] std::string own() const {
    return folder() + "/" + std::to_string(::getpid()) + ".sock";
  }
  /// A socket as a process leaves it that was killed.
  static void leave_behind(const std::string& path) {
    const auto address = *sys::unix_address(path);
    const io::OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(fd.get(), address.data(), address.size), 0);
    ASSERT_EQ(::listen(fd.get(), 1), 0);
  }
  static std::string message_of(const std::string& path) {
    try {
      const PrivateSocket socket(path);
    } catch (const std::system_error& error) {
      return error.what();
    }
    return "";
  }

  TempDirectory runtime_;

 private:
  std::string before_;
  bool had_one_ = false;
};

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// A number that no process has.
std::string dead_pid() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return std::to_string(child);
}

TEST_F(UsualPlace, IsADirectoryOfThisUserOnly) {
  {
    const PrivateSocket socket("");
    EXPECT_EQ(socket.path(), own());
    struct stat found{};
    ASSERT_EQ(::stat(folder().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0700U);
    ASSERT_EQ(::stat(own().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
  }
  EXPECT_FALSE(is_there(own()));
}

/// Whatever the umask allows.
TEST_F(UsualPlace, IsPrivateWithAnyUmask) {
  const mode_t before = ::umask(0);
  {
    const PrivateSocket socket("");
    struct stat found{};
    ASSERT_EQ(::stat(own().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
  }
  ::umask(before);
}

TEST_F(UsualPlace, WithoutTheVariableIsBelowTmp) {
  ::unsetenv("XDG_RUNTIME_DIR");
  const PrivateSocket socket("");
  EXPECT_THAT(socket.path(), HasSubstr("/tmp/rouse-" + std::to_string(::geteuid()) + "/"));
}

TEST_F(UsualPlace, ThatOthersMayEnterIsRefused) {
  ASSERT_EQ(::mkdir(folder().c_str(), 0755), 0);
  EXPECT_THAT(message_of(""), HasSubstr("mode 0700"));
  ASSERT_EQ(::chmod(folder().c_str(), 0700), 0);
  EXPECT_EQ(message_of(""), "");
}

TEST_F(UsualPlace, ThatIsALinkIsRefused) {
  const TempDirectory elsewhere;
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), folder().c_str()), 0);
  EXPECT_THAT(message_of(""), HasSubstr(folder()));
}

TEST_F(UsualPlace, OfSomebodyElseIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a directory away";
  ASSERT_EQ(::mkdir(folder().c_str(), 0700), 0);
  ASSERT_EQ(::chown(folder().c_str(), 65534, 65534), 0);
  EXPECT_THAT(message_of(""), HasSubstr("belong to this user"));
}

TEST_F(UsualPlace, LosesTheSocketsOfTheDead) {
  ASSERT_EQ(::mkdir(folder().c_str(), 0700), 0);
  const std::string dead = folder() + "/" + dead_pid() + ".sock";
  const std::string alive = folder() + "/" + std::to_string(::getppid()) + ".sock";
  const std::string other = folder() + "/notes.sock";
  for (const std::string& path : {dead, alive, other, own()}) leave_behind(path);
  const PrivateSocket socket("");
  EXPECT_FALSE(is_there(dead));
  EXPECT_TRUE(is_there(alive));  // it may be about to listen
  EXPECT_TRUE(is_there(other));
  EXPECT_TRUE(is_there(own()));
}

/// As in another container, whose processes have numbers of their own.
TEST_F(UsualPlace, KeepsASocketThatAnswers) {
  ASSERT_EQ(::mkdir(folder().c_str(), 0700), 0);
  const std::string path = folder() + "/" + dead_pid() + ".sock";
  const PrivateSocket unseen(path);
  const PrivateSocket socket("");
  EXPECT_TRUE(is_there(path));
}

TEST_F(UsualPlace, TwoInOneProcessAreRefused) {
  const PrivateSocket socket("");
  EXPECT_THAT(message_of(""), HasSubstr("somebody listens"));
  EXPECT_TRUE(is_there(own()));
}

/// Somebody has removed the file of the first, which did not notice.
TEST_F(UsualPlace, AtItsEndItRemovesOnlyItsOwnFile) {
  const std::string path = runtime_.file("mine");
  auto first = std::make_unique<PrivateSocket>(path);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  auto second = std::make_unique<PrivateSocket>(path);
  first.reset();
  EXPECT_TRUE(is_there(path));
  second.reset();
  EXPECT_FALSE(is_there(path));
}

TEST_F(UsualPlace, AFileThatIsNoSocketIsKept) {
  runtime_.write("file", "mine");
  EXPECT_THAT(message_of(runtime_.file("file")), HasSubstr("is no socket"));
  EXPECT_EQ(runtime_.read("file"), "mine");
}

TEST_F(UsualPlace, APathThatIsTooLongIsRefused) {
  EXPECT_THAT(message_of("/tmp/" + std::string(200, 'x')), HasSubstr("File name too long"));
  EXPECT_THAT(message_of(runtime_.file("no/such/folder")), HasSubstr("No such file"));
}

TEST_F(UsualPlace, AStaleSocketAtAPathIsReplaced) {
  const std::string path = runtime_.file("mine");
  leave_behind(path);
  {
    const PrivateSocket socket(path);
  }
  EXPECT_FALSE(is_there(path));
}

}  // namespace
