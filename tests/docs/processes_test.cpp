// The code in docs/guide/13_signals_and_processes.md that is in no example.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace {

using namespace std::chrono_literals;

// [stdio]
rouse::Async<void> greet() {
  auto out = rouse::io::stdout_();
  co_await out.write_all("hello\n");
}
// [/stdio]

TEST(ProcessesGuide, TheStandardStreams) { rouse::Runtime().block_on(greet()); }

// [ctrl_c]
rouse::Async<void> serve_until(rouse::signal::CtrlC pressed, rouse::sync::CancellationToken stop) {
  co_await std::move(pressed);
  stop.cancel();  // whoever has the token comes to its end
}
// [/ctrl_c]

TEST(ProcessesGuide, CtrlCStopsAProgram) {
  rouse::Runtime rt;
  const auto here = rt.enter();
  rouse::sync::CancellationToken stop;
  auto serving = rt.spawn(serve_until, rouse::signal::ctrl_c(), stop);
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  rt.block_on(std::move(serving));
  EXPECT_TRUE(stop.is_cancelled());
}

// [signal]
rouse::Async<int> reload_twice(rouse::signal::Signal hangup) {
  int reloads = 0;
  while (reloads < 2) {
    co_await hangup.recv();
    ++reloads;  // read the configuration again
  }
  co_return reloads;
}
// [/signal]

TEST(ProcessesGuide, ASignalAgainAndAgain) {
  rouse::Runtime rt;
  const auto here = rt.enter();
  rouse::signal::Signal seen(rouse::signal::Kind::hangup());
  auto reloading = rt.spawn(reload_twice, rouse::signal::Signal(rouse::signal::Kind::hangup()));
  while (!reloading.is_finished()) {
    ::kill(::getpid(), SIGHUP);
    rt.block_on(seen.recv());
  }
  EXPECT_EQ(rt.block_on(std::move(reloading)), 2);
}

// [output]
rouse::Async<std::string> list(std::string folder) {
  auto listing = co_await rouse::process::Command("ls").arg("-1").arg(folder).output();
  if (!listing.status.success()) co_return listing.stderr_;
  co_return listing.stdout_;
}
// [/output]

TEST(ProcessesGuide, TheOutputOfAProgram) {
  EXPECT_NE(rouse::Runtime().block_on(list("/")).find("dev\n"), std::string::npos);
}

// [pipes]
rouse::Async<std::string> sorted(std::string lines) {
  using rouse::process::Stdio;
  auto child = rouse::process::Command("sort")
                   .stdin_(Stdio::piped())
                   .stdout_(Stdio::piped())
                   .kill_on_drop(true)
                   .spawn();
  auto output = co_await std::move(child).wait_with_output(std::move(lines));
  co_return output.stdout_;
}
// [/pipes]

TEST(ProcessesGuide, PipesToAProgram) {
  EXPECT_EQ(rouse::Runtime().block_on(sorted("b\na\n")), "a\nb\n");
}

// [terminate]
rouse::Async<rouse::process::ExitStatus> stop(rouse::process::Child child) {
  const auto asked = child.signal(rouse::signal::Kind::terminate());  // an error: it is gone
  auto ended = co_await rouse::timeout(5s, child.wait()).result();
  if (asked && ended) co_return *ended;
  co_return co_await child.kill();
}
// [/terminate]

TEST(ProcessesGuide, AskingAProgramToEnd) {
  rouse::Runtime rt;
  const auto here = rt.enter();
  auto sleeping = rouse::process::Command("sleep").arg("1000").spawn();
  EXPECT_EQ(rt.block_on(stop(std::move(sleeping))).signal(), SIGTERM);
}

TEST(ProcessesGuide, AMissingProgram) {
  rouse::Runtime rt;
  const auto here = rt.enter();
  // [missing]
  try {
    auto child = rouse::process::Command("no-such-program").spawn();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
  }
  // [/missing]
}

// [pre-exec]
rouse::process::Command with_little_memory(std::string program) {
  rouse::process::Command command(std::move(program));
  command.pre_exec([]() noexcept {
    const rlimit limit{.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
    return ::setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : errno;
  });
  return command;
}
// [/pre-exec]

TEST(ProcessesGuide, PreExec) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
  auto shell = with_little_memory("sh").arg("-c").arg("ulimit -v");
  EXPECT_EQ(rt.block_on(shell.output()).stdout_, "1048576\n");
}

// [pipeline]
rouse::Async<std::string> count_lines(std::string folder) {
  using rouse::process::Command;
  using rouse::process::Stdio;
  auto ls = Command("ls").arg(folder).stdout_(Stdio::piped()).spawn();
  auto wc = Command("wc").arg("-l").stdin_(Stdio::from(std::move(*ls.stdout_).into_fd()));
  auto counted = co_await wc.output();
  co_return counted.stdout_;
}
// [/pipeline]

TEST(ProcessesGuide, APipeFromOneProgramToAnother) {
  EXPECT_GT(std::stoi(rouse::Runtime().block_on(count_lines("/"))), 1);
}

}  // namespace
