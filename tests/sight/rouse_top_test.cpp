// tools/rouse-top shows this very process: as a report, in a terminal, and to a browser.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <pty.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/exec/task_builder.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/time/sleep.hpp"

#include "sight/inspected.hpp"
#include "sight/seen.hpp"
#include "support/program.hpp"

namespace {

using namespace rouse;
using rouse::test::body_of;
using rouse::test::field_of;
using rouse::test::get;
using rouse::test::InspectorClient;
using rouse::test::let_run;
using rouse::test::patience;
using rouse::test::Program;
using rouse::test::status_of;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A program of this source tree; empty: there is no Python for it.
std::vector<std::string> tool(const std::string& path) {
  std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  while (!std::filesystem::exists(folder / path) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  const std::string python = test::find_program("python3");
  if (python.empty()) return {};
  return {python, folder / path};
}

class RouseTop : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tool("tools/rouse-top").empty()) GTEST_SKIP() << "python3 is not installed";
    test::see_idle({let_run(task::Builder()
                                .name("session \x1b[31m\r\xc2\x9b<b>")
                                .spawn_on(runtime_.spawner(), pending_forever<void>()))});
  }
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> all = tool("tools/rouse-top");
    all.push_back(path());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::string path() const { return sight_.socket_path(); }

 private:
  test::TempDirectory folder_;
  sight::Sight sight_ = sight::start(sight::Options().socket(folder_.file("sight")));
  Runtime runtime_ = test::runtime_with(1);
};

TEST_F(RouseTop, WritesAReportWhereThereIsNoTerminal) {
  const test::Ended ended = test::run_program(command({}));
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, HasSubstr("session \\x1b[31m\\x0d\\x9b<b>"));
  EXPECT_THAT(ended.output, HasSubstr("1 task   "));
  EXPECT_TRUE(test::is_harmless(ended.output)) << ended.output;
  EXPECT_EQ(test::run_program(command({"--once"})).output, ended.output);
}

TEST_F(RouseTop, FindsTheProgramsOfThisUser) {
  const test::TempDirectory runtime;
  const char* const before = ::getenv("XDG_RUNTIME_DIR");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
  const std::string pid = std::to_string(::getpid());
  std::vector<std::string> by_pid = tool("tools/rouse-top");
  {
    const sight::Sight sight = sight::start(sight::Options().socket());
    EXPECT_THAT(test::run_program(by_pid).output, HasSubstr(pid + "  sight_tests"));
    by_pid.insert(by_pid.end(), {pid, "--once"});
    EXPECT_THAT(test::run_program(by_pid).output, StartsWith(pid + " sight_tests"));
    // Whoever may write into the folder could tell what is not true.
    ASSERT_EQ(::chmod(runtime.file("rouse").c_str(), 0777), 0);
    EXPECT_EQ(test::run_program(by_pid).status, 1);
  }
  if (old.empty()) {
    ::unsetenv("XDG_RUNTIME_DIR");
  } else {
    ::setenv("XDG_RUNTIME_DIR", old.c_str(), 1);
  }
}

TEST_F(RouseTop, SaysWhenNobodyIsThere) {
  std::vector<std::string> wrong = tool("tools/rouse-top");
  wrong.emplace_back("/no/such/socket");
  const test::Ended ended = test::run_program(wrong);
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.output, "");
}

/// What it draws on a terminal of that size, which it is told of.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& command, unsigned short rows, unsigned short columns,
           const char* kind = "xterm") {
    winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<char*> arguments;
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    ::setenv("TERM", kind, 1);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(fd_);
  }

  /// Until it has drawn that, or ends.
  std::string read_until(const std::string& end) const {
    std::string drawn;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (drawn.find(end) == std::string::npos && std::chrono::steady_clock::now() < until) {
      pollfd look{.fd = fd_, .events = POLLIN, .revents = 0};
      if (::poll(&look, 1, 1000) <= 0) continue;
      char bytes[4096];
      const ssize_t count = ::read(fd_, bytes, sizeof bytes);
      if (count <= 0) break;
      drawn.append(bytes, static_cast<std::size_t>(count));
    }
    return drawn;
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::ioctl(fd_, TIOCSWINSZ, &size), 0);
  }
  void type(const std::string& keys) const {
    EXPECT_EQ(::write(fd_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  int wait() {
    (void)read_until("\x01");  // until its end
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
};

TEST_F(RouseTop, FitsATerminalOfEightyByTwentyFour) {
  Terminal terminal(command({}), 24, 80);
  const std::string drawn = terminal.read_until("q quit");
  EXPECT_THAT(drawn, HasSubstr("STATE"));
  EXPECT_THAT(drawn, HasSubstr("session"));
  EXPECT_THAT(drawn, Not(HasSubstr("\x1b[31m\r")));
  EXPECT_THAT(drawn, HasSubstr("\x1b[24d"));  // the last line
  terminal.resize(12, 40);
  EXPECT_THAT(terminal.read_until("q quit"), HasSubstr("\x1b[12d"));
  terminal.type("/nothing like it\r");
  EXPECT_THAT(terminal.read_until("filter: nothing"), HasSubstr("filter: nothing"));
  terminal.type("q");
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(RouseTop, SaysThatItDoesNotKnowTheTerminal) {
  Terminal terminal(command({}), 24, 80, "no-such-terminal");
  const std::string drawn = terminal.read_until("--once");
  EXPECT_THAT(drawn, HasSubstr("no-such-terminal"));
  EXPECT_THAT(drawn, Not(HasSubstr("Traceback")));
  EXPECT_NE(terminal.wait(), 0);
}

/// Chinese characters take two columns: what is behind them stays where it belongs.
TEST_F(RouseTop, ATableStaysOneWithWideNames) {
  const Runtime runtime = test::runtime_with(1);
  std::string wide;
  for (int i = 0; i < 30; ++i) wide += "\xe4\xb8\xad";
  for (const std::string& name : {wide, std::string("plain")}) {
    test::see_idle({let_run(task::Builder().name(name).spawn_on(
        runtime.spawner(), rouse::sleep(std::chrono::hours(1))))});
  }
  const std::string report = test::run_program(command({"--once"})).output;
  const auto columns_before_sleep = [&report](const std::string& name) {
    const std::size_t at = report.find(name);
    const std::size_t begin = report.rfind('\n', at) + 1;
    const std::size_t end = report.find("sleep", begin);
    if (at == std::string::npos || end == std::string::npos) return std::size_t{0};
    std::size_t columns = 0;
    for (const char c : report.substr(begin, end - begin)) {
      if (c == '\xe4') columns += 2;
      if (c == '\xe2' || (c & 0x80) == 0) columns += 1;  // the dots, and ASCII
    }
    return columns;
  };
  EXPECT_GT(columns_before_sleep("plain"), 0U);
  EXPECT_EQ(columns_before_sleep("\xe4\xb8\xad"), columns_before_sleep("plain")) << report;
}

TEST_F(RouseTop, PassesThePageOnToWhoHasItsToken) {
  Program relay(command({"--web"}));
  const std::string url = relay.line();
  ASSERT_THAT(url, StartsWith("http://127.0.0.1:"));
  const auto port = static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  const std::string right = "Authorization: Bearer " + url.substr(url.find('#') + 1) + "\r\n";
  const auto ask = [&](const std::string& request) {
    InspectorClient client(sys::loopback_address(port));
    client.send(request);
    std::string answer;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!client.is_over() && std::chrono::steady_clock::now() < until) answer += client.take();
    return answer.replace(0, 8, "HTTP/1.1");
  };
  const std::string page = ask(get("/"));
  EXPECT_EQ(status_of(page), 200);
  EXPECT_THAT(field_of(page, "Content-Security-Policy"), HasSubstr("sha256-"));
  EXPECT_EQ(status_of(ask(get("/dump"))), 401);
  EXPECT_EQ(status_of(ask(get("/dump", right.substr(0, right.size() - 3) + "\r\n"))), 401);
  const std::string dump = ask(get("/dump?format=json", right));
  EXPECT_EQ(status_of(dump), 200);
  EXPECT_EQ(test::Json::parse(body_of(dump))["tasks"].number(), 1U);
  EXPECT_EQ(status_of(ask(get("/dump", right + "Origin: http://evil.example\r\n"))), 403);
  EXPECT_EQ(status_of(ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")), 403);
  EXPECT_EQ(status_of(ask(get("/etc/passwd", right))), 404);
  relay.send_signal(SIGINT);
  EXPECT_EQ(relay.wait().status, 0);
}

}  // namespace
