// docs/guide/15_ten_mistakes.md: what the chapter says of each mistake that a running program can
// show. The compiler's share is in tests/compile_fail (4: unawaited_variable, discarded_async),
// that of clang-tidy in tests/install/lint (1, 2, 3 and 9).
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/rouse.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the mistake
Async<std::size_t> refers_to(const std::string& text) {
  co_await yield_now();
  co_return text.size();
}

TEST(TenMistakesDeathTest, Number1AReferenceParameterThatIsSpawnedStops) {
  const auto wrong = []() -> Async<void> {
    const std::string text = "gone";
    spawn(refers_to(text)).detach();
    co_return;
  };
  EXPECT_DEATH(Runtime().block_on(wrong()), "refers_to(.|\n)*ten_mistakes_test.cpp");
  const auto wrapped = []() -> Async<void> {
    const std::string text = "gone";
    spawn(timeout(1s, refers_to(text))).detach();
    co_return;
  };
  EXPECT_DEATH(Runtime().block_on(wrapped()), "ten_mistakes_test.cpp");
  const auto right = []() -> Async<std::size_t> {
    co_return co_await spawn(refers_to, std::string("kept"));
  };
  EXPECT_EQ(Runtime().block_on(right()), 4U);
}

TEST(TenMistakesDeathTest, Number2CapturesOfALambdaThatIsSpawnedByCallStop) {
  const auto wrong = []() -> Async<void> {
    int n = 1;
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): the mistake
    const auto captures = [n]() -> Async<int> { co_return n; };
    spawn(captures()).detach();
    co_return;
  };
  EXPECT_DEATH(Runtime().block_on(wrong()), "ten_mistakes_test.cpp");
}

TEST(TenMistakesDeathTest, Number5ABlockingWaitInsideATaskStops) {
  const auto wrong = []() -> Async<void> {
    block_on(yield_now());
    co_return;
  };
  EXPECT_DEATH(Runtime().block_on(wrong()), "a blocking call inside a task(.|\n)*in: block_on");
  const auto nested = []() -> Async<void> {
    Runtime().block_on(yield_now());
    co_return;
  };
  EXPECT_DEATH(Runtime().block_on(nested()), "a blocking call inside a task");
}

TEST(TenMistakesDeathTest, Number6AFutureThatIsMovedAfterItsFirstPollStops) {
  const auto moves = [] {
    auto waits = sleep(1h);
    Context cx(Waker::noop());
    Runtime rt = Runtime::builder().current_thread().build();
    const EnterGuard inside = rt.enter();
    (void)waits.poll(cx);
    [[maybe_unused]] auto moved = std::move(waits);
  };
  EXPECT_DEATH(moves(), "moved");
}

TEST(TenMistakesDeathTest, Number7AFutureThatIsPolledAfterItsEndStops) {
  auto one = []() -> Async<int> { co_return 1; }();
  EXPECT_EQ(block_on(one), 1);
  EXPECT_DEATH(block_on(one), "after it was ready");
  const auto twice = []() -> Async<int> {
    auto once = []() -> Async<int> { co_return 1; }();
    const int first = co_await once;
    co_return first + co_await once;
  };
  EXPECT_DEATH(block_on(twice()), "awaited before");
}

TEST(TenMistakes, Number8ADroppedReadExactLosesWhatItRead) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  const auto loses = []() -> Async<std::string> {
    auto [near, far] = io::duplex(64);
    co_await far.write_all("abc");
    std::array<char, 4> frame{};
    const auto late = co_await timeout(1s, io::read_exact(near, frame)).result();
    EXPECT_FALSE(late) << "only three of four bytes came";
    co_await far.write_all("d");
    std::array<char, 4> rest{};
    const std::size_t n = co_await near.read(rest);
    co_return std::string(rest.data(), n);
  };
  EXPECT_EQ(rt.block_on(loses()), "d") << "the label says: Cancel safety: not safe";
}

TEST(TenMistakesDeathTest, Number9ASenderThatWasMovedAwayStops) {
  auto [tx, rx] = sync::channel<int>(1);
  auto given = std::move(tx);
  EXPECT_TRUE(given.try_send(1));
  // NOLINTNEXTLINE(bugprone-use-after-move): the mistake
  EXPECT_DEATH((void)tx.try_send(2), "moved from");
}

TEST(TenMistakesDeathTest, Number9ASendThatWasMovedAwayStops) {
  auto [tx, rx] = sync::channel<int>(2);
  auto sends = tx.send(1);
  auto given = std::move(sends);
  EXPECT_TRUE(block_on(given));
  // NOLINTNEXTLINE(bugprone-use-after-move): the mistake
  EXPECT_DEATH((void)block_on(sends), "moved from");
}

TEST(TenMistakes, Number10AnExceptionOfADetachedTaskIsReported) {
  std::string reported;
  LocalExecutor executor;
  executor.on_unhandled([&](const UnhandledException& unhandled) {
    try {
      std::rethrow_exception(unhandled.exception);
    } catch (const std::runtime_error& e) {
      reported = e.what();
    }
  });
  const auto fails = []() -> Async<void> {
    throw std::runtime_error("nobody is there");
    co_return;
  };
  executor.spawn(fails).detach();
  executor.run();
  EXPECT_EQ(reported, "nobody is there");
}

}  // namespace
}  // namespace rouse
