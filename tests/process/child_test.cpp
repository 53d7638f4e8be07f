// Child: its pipes, waiting for its end, killing it, and what happens if nobody waits.
#include "rouse/process/child.hpp"

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/join.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/io/bytes_reader.hpp"
#include "rouse/io/copy.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/write_all.hpp"
#include "rouse/process/command.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "process/support.hpp"

namespace {

using namespace rouse;
using process::Child;
using process::Command;
using process::ExitStatus;
using process::Stdio;
using rouse::test::has_children;
using rouse::test::ProcessTest;
using rouse::test::shell;
using rouse::testing::PollHarness;

class ChildTest : public ProcessTest {};
INSTANTIATE_TEST_SUITE_P(Runtimes, ChildTest, ::testing::Bool(), rouse::test::runtime_name);

/// Runs until it is killed or its input ends.
Child waiting_child() { return Command("cat").stdin_(Stdio::piped()).spawn(); }

Async<void> feed(process::ChildStdin in, std::string text) { co_await in.write_all(text); }

/// More than any pipe holds.
std::string long_text() {
  std::string text(1 << 20, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 19);
  return text;
}

TEST_P(ChildTest, WhatIsWrittenToCatComesBack) {
  const std::string text = long_text();
  auto child = Command("cat").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
  auto feeding = rt.spawn(feed, std::move(*child.stdin_), text);
  EXPECT_TRUE(rt.block_on(child.stdout_->read_to_string()) == text);
  rt.block_on(std::move(feeding));
  EXPECT_TRUE(rt.block_on(child.wait()).success());
}

TEST_P(ChildTest, WaitClosesStdinFirst) {
  auto child = waiting_child();
  EXPECT_TRUE(rt.block_on(child.wait()).success());
  EXPECT_EQ(rt.block_on(child.stdin_->write_all("x").result()).error(), std::errc::broken_pipe);
}

TEST_P(ChildTest, AWaitLetsAPendingWriteCompleteBeforeItClosesStdin) {
  const std::string text = long_text();
  auto child = Command("cat").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
  auto write = child.stdin_->write_all(text);
  auto read = child.stdout_->read_to_string();
  auto wait = child.wait();
  const auto [written, all, status] = rt.block_on(
      join(std::move(write).result(), std::move(read).result(), std::move(wait).result()));
  EXPECT_TRUE(written);
  EXPECT_TRUE(all.value() == text);
  EXPECT_TRUE(status.value().success());
}

/// What cat gives back while nobody reads it is less than long_text, so a write of that is pending.
Child stalled_cat() {
  return Command("cat").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
}

TEST_P(ChildTest, AWaitAfterADroppedWriteShutsStdinDown) {
  const std::string text = long_text();
  auto child = stalled_cat();
  {
    PollHarness writing(child.stdin_->write_all(text));
    ASSERT_TRUE(writing.poll().is_pending());
  }
  auto read = child.stdout_->read_to_string();
  auto wait = child.wait();
  const auto [some, status] = rt.block_on(join(std::move(read), std::move(wait)));
  EXPECT_TRUE(text.starts_with(some));
  EXPECT_TRUE(status.success());
}

TEST_P(ChildTest, AWaitIsWokenWhenThePendingWriteIsDropped) {
  const std::string text = long_text();
  auto child = stalled_cat();
  std::optional<PollHarness<decltype(child.stdin_->write_all(text))>> writing;
  writing.emplace(child.stdin_->write_all(text));
  ASSERT_TRUE(writing->poll().is_pending());
  PollHarness waiting(child.wait());
  EXPECT_TRUE(waiting.poll().is_pending());
  EXPECT_FALSE(waiting.is_woken());
  writing.reset();
  EXPECT_TRUE(waiting.is_woken());
  EXPECT_TRUE(waiting.poll().is_pending());
  EXPECT_TRUE(text.starts_with(rt.block_on(child.stdout_->read_to_string())));
  EXPECT_TRUE(rt.block_on(waiting.future()).success());
}

TEST_P(ChildTest, APendingWriteMayBeDroppedAfterStdin) {
  const std::string text = long_text();
  auto child = stalled_cat();
  PollHarness writing(child.stdin_->write_all(text));
  ASSERT_TRUE(writing.poll().is_pending());
  child.stdin_.reset();
  EXPECT_TRUE(text.starts_with(rt.block_on(child.stdout_->read_to_string())));
  EXPECT_TRUE(rt.block_on(child.wait()).success());
}

/// Nothing tells the pipe that these were dropped: a wait alone would wait for them for ever.
TEST_P(ChildTest, AfterADroppedWriteThatIsNoMemberStdinIsReset) {
  const std::string text = long_text();
  const auto ends_after = [&](auto write) {
    auto child = stalled_cat();
    write(*child.stdin_);
    child.stdin_.reset();
    EXPECT_TRUE(text.starts_with(rt.block_on(child.stdout_->read_to_string())));
    EXPECT_TRUE(rt.block_on(child.wait()).success());
  };
  const auto is_dropped_midway = [](auto future) {
    PollHarness writing(std::move(future));
    do {
      ASSERT_TRUE(writing.poll().is_pending());
    } while (writing.is_woken());
  };
  ends_after([&](process::ChildStdin& in) { is_dropped_midway(io::write_all(in, text)); });
  ends_after([&](process::ChildStdin& in) {
    io::BytesReader from(text);
    is_dropped_midway(io::copy(from, in));
  });
  ends_after([&](process::ChildStdin& in) {
    io::BufWriter out(in);
    is_dropped_midway(out.write_all(text));
  });
}

TEST_P(ChildTest, AWaitThatClosedStdinIsToldToWhoWritesThen) {
  // It can't end before its output is read, however quickly it sees the end of its input.
  auto child = shell("cat; head -c 1000000 /dev/zero")
                   .stdin_(Stdio::piped())
                   .stdout_(Stdio::piped())
                   .spawn();
  PollHarness waiting(child.wait());
  EXPECT_TRUE(waiting.poll().is_pending());
  EXPECT_EQ(rt.block_on(child.stdin_->write_all("late").result()).error(), std::errc::broken_pipe);
  EXPECT_EQ(rt.block_on(child.stdout_->read_to_string()).size(), 1000000U);
  EXPECT_TRUE(rt.block_on(waiting.future()).success());
}

TEST_P(ChildTest, AllInputAllOutputAndTheEndInOneCall) {
  const std::string text = long_text();
  auto child = shell("tee /dev/stderr; exit 3")
                   .stdin_(Stdio::piped())
                   .stdout_(Stdio::piped())
                   .stderr_(Stdio::piped())
                   .spawn();
  const auto output = rt.block_on(std::move(child).wait_with_output(text));
  EXPECT_EQ(output.status.code(), 3);
  EXPECT_TRUE(output.stdout_ == text);
  EXPECT_TRUE(output.stderr_ == text);
}

TEST_P(ChildTest, AChildThatReadsNothingOfItsInputIsNoError) {
  auto child = shell("exec <&-; echo done").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
  const auto output = rt.block_on(std::move(child).wait_with_output(long_text()));
  EXPECT_TRUE(output.status.success());
  EXPECT_EQ(output.stdout_, "done\n");
}

TEST_P(ChildTest, WithoutInputStdinIsClosedAtOnce) {
  auto child = Command("cat").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
  const auto output = rt.block_on(std::move(child).wait_with_output());
  EXPECT_TRUE(output.status.success());
  EXPECT_EQ(output.stdout_, "");
}

TEST_P(ChildTest, InputForAChildWithoutAPipeIsRefused) {
  auto child = Command("true").spawn();
  const auto output = rt.block_on(std::move(child).wait_with_output("x").result());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error(), std::errc::invalid_argument);
}

TEST_P(ChildTest, OneThatWritesMoreThanItsLimitIsKilled) {
  auto child = Command("yes").stdout_(Stdio::piped()).output_limit(10'000).spawn();
  const auto output = rt.block_on(std::move(child).wait_with_output().result());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error(), io::Error::too_long);  // TearDown waits until it is gone
}

TEST_P(ChildTest, WaitingAgainGivesTheSameAtOnce) {
  auto child = shell("exit 7").spawn();
  ASSERT_TRUE(child.id());
  EXPECT_EQ(rt.block_on(child.wait()).code(), 7);
  EXPECT_EQ(rt.block_on(child.wait()).code(), 7);
  EXPECT_EQ(child.try_wait().value()->code(), 7);
  EXPECT_EQ(child.id(), std::nullopt);
}

TEST_P(ChildTest, AWaitThatIsDroppedLosesNothing) {
  auto child = waiting_child();
  auto in = std::move(*child.stdin_);
  {
    PollHarness waiting(child.wait());
    EXPECT_TRUE(waiting.poll().is_pending());
    EXPECT_TRUE(waiting.kept_waker());
  }
  EXPECT_FALSE(child.try_wait().value());
  rt.block_on(in.shutdown());
  EXPECT_TRUE(rt.block_on(child.wait()).success());
}

TEST_P(ChildTest, WritingAfterShutdownOrToAChildThatIsGoneIsAnErrorAndNoSignal) {
  auto child = waiting_child();
  auto in = std::move(*child.stdin_);
  EXPECT_EQ(rt.block_on(child.kill()).signal(), SIGKILL);
  EXPECT_EQ(rt.block_on(in.write_all("x").result()).error(), std::errc::broken_pipe);
  rt.block_on(in.shutdown());
  EXPECT_EQ(rt.block_on(in.write_all("x").result()).error(), std::errc::broken_pipe);
}

TEST_P(ChildTest, AChildThatIgnoresSigtermIsEndedByKill) {
  auto child = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done")
                   .stdout_(Stdio::piped())
                   .spawn();
  std::array<char, 16> buf{};
  rt.block_on(child.stdout_->read(buf));
  EXPECT_TRUE(child.signal(signal::Kind::terminate()));
  EXPECT_FALSE(child.try_wait().value());
  EXPECT_EQ(rt.block_on(child.kill()).signal(), SIGKILL);
  EXPECT_EQ(child.signal(signal::Kind::terminate()).error(), std::errc::no_such_process);
}

TEST_P(ChildTest, ASignalReachesTheChild) {
  auto child = waiting_child();
  const auto in = std::move(child.stdin_);
  EXPECT_TRUE(child.signal(signal::Kind::terminate()));
  EXPECT_EQ(rt.block_on(child.wait()).signal(), SIGTERM);
}

TEST_P(ChildTest, KillingWhatHasEndedGivesHowItEnded) {
  auto child = shell("exit 4").spawn();
  EXPECT_EQ(rt.block_on(child.wait()).code(), 4);
  EXPECT_EQ(rt.block_on(child.kill()).code(), 4);
}

TEST_P(ChildTest, ADroppedChildRunsOnAndLeavesNoZombie) {
  std::optional<process::ChildStdin> in;
  std::optional<process::ChildStdout> out;
  {
    auto child = Command("cat").stdin_(Stdio::piped()).stdout_(Stdio::piped()).spawn();
    in = std::move(child.stdin_);
    out = std::move(child.stdout_);
  }
  rt.block_on(in->write_all("alive"));
  rt.block_on(in->shutdown());
  EXPECT_EQ(rt.block_on(out->read_to_string()), "alive");
  rt.block_on(until_no_children());
}

TEST_P(ChildTest, ADroppedChildThatHasEndedLeavesNoZombie) {
  {
    auto child = shell("exec 1>&-").stdout_(Stdio::piped()).spawn();
    EXPECT_EQ(rt.block_on(child.stdout_->read_to_string()), "");
  }
  rt.block_on(until_no_children());
}

TEST_P(ChildTest, KillOnDropEndsIt) {
  std::optional<process::ChildStdin> in;
  {
    auto child = Command("cat").stdin_(Stdio::piped()).kill_on_drop(true).spawn();
    in = std::move(child.stdin_);  // else it would end by itself
  }
  rt.block_on(until_no_children());
}

TEST_P(ChildTest, AssigningAnotherChildDropsTheFirst) {
  auto child = Command("sleep").arg("1000").kill_on_drop(true).spawn();
  child = shell("exit 2").spawn();
  EXPECT_EQ(rt.block_on(child.wait()).code(), 2);
  rt.block_on(until_no_children());
}

using ChildDeathTest = ChildTest;
INSTANTIATE_TEST_SUITE_P(Runtimes, ChildDeathTest, ::testing::Bool(), rouse::test::runtime_name);

TEST_P(ChildDeathTest, AMovedFromChildAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto child = waiting_child();
  auto taken = std::move(child);
  EXPECT_DEATH((void)child.try_wait(), "moved from");  // NOLINT(bugprone-use-after-move)
  EXPECT_DEATH((void)rt.block_on(child.wait()), "moved from");
  EXPECT_DEATH((void)child.start_kill(), "moved from");  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(rt.block_on(taken.wait()).success());
  auto after = std::move(taken);
  EXPECT_DEATH((void)taken.try_wait(), "moved from");  // NOLINT(bugprone-use-after-move)
}

TEST_P(ChildTest, AChildThatOutlivesItsRuntimeIsReapedByTheNextOne) {
  std::optional<Child> child;
  {
    Runtime ends = Runtime::builder().current_thread().build();
    const EnterGuard in = ends.enter();
    child = waiting_child();
  }
  auto in = std::move(*child->stdin_);
  PollHarness waiting(child->wait().result());
  auto polled = waiting.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), io::Error::runtime_ended);
  child.reset();
  PollHarness(in.shutdown()).poll().value();
  const auto look = [this] {
    auto next = Command("true").spawn();
    rt.block_on(next.wait());
    return has_children();
  };
  while (look()) {
  }
}

Async<int> run_one(int code) {
  auto child = shell("exit " + std::to_string(code)).spawn();
  const ExitStatus status = co_await child.wait();
  co_return status.code().value_or(-1);
}

std::error_code error_of_its_end(Runtime& rt) {
  try {
    auto child = Command("true").spawn();
    return rt.block_on(child.wait().result()).error();
  } catch (const std::system_error& error) {
    return error.code();
  }
}

TEST_P(ChildTest, WhereSigchldIsIgnoredThereIsNoEndToBeSeen) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  // It ends before or after spawn has looked at it: that is the same error.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(error_of_its_end(rt), std::errc::no_child_process);
  std::signal(SIGCHLD, before);
}

TEST_P(ChildTest, TwoHundredAtOnce) {
  std::vector<JoinHandle<int>> all;
  for (int i = 0; i < 200; ++i) all.push_back(rt.spawn(run_one, i));
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(rt.block_on(std::move(all[static_cast<std::size_t>(i)])), i);
  EXPECT_FALSE(has_children());
}

TEST_P(ChildTest, TwoHundredDroppedAtOnceLeaveNoZombie) {
  for (int i = 0; i < 200; ++i) static_cast<void>(Command("true").spawn());
  rt.block_on(until_no_children());
}

}  // namespace
