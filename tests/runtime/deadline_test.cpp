// Deadlines: who sees which, and what timeout_or_deadline makes of them.
#include "rouse/runtime/deadline.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/by_ref.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "support/shape_text.hpp"
#include "time/paused.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using test::run_paused;
using ::testing::HasSubstr;

Async<std::optional<time::Instant>> sees_deadline() {
  co_await yield_now();
  co_return Deadline::current();
}

TEST(Deadline, IsSeenByAllThatIsAwaitedInside) {
  run_paused([]() -> Async<void> {
    EXPECT_EQ(Deadline::current(), std::nullopt);
    EXPECT_EQ(Deadline::left(), time::Nanoseconds::max());
    const auto at = time::now() + 2s;
    EXPECT_EQ(co_await with_deadline(at, sees_deadline()), at);
    EXPECT_EQ(co_await with_deadline(3s, sees_deadline()), time::now() + 3s);
    EXPECT_EQ(Deadline::current(), std::nullopt);
  });
}

TEST(Deadline, TheEarliestCountsWhereverItWasSet) {
  run_paused([]() -> Async<void> {
    const auto now = time::now();
    EXPECT_EQ(co_await with_deadline(1s, with_deadline(2s, sees_deadline())), now + 1s);
    EXPECT_EQ(co_await with_deadline(2s, with_deadline(1s, sees_deadline())), now + 1s);
    EXPECT_EQ(co_await with_deadline(3s, with_deadline(1s, with_deadline(2s, sees_deadline()))),
              now + 1s);
  });
}

TEST(Deadline, EndsNothingByItself) {
  run_paused([]() -> Async<void> {
    const auto begin = time::now();
    auto late = []() -> Async<time::Nanoseconds> {
      co_await sleep(5s);
      co_return Deadline::left();
    };
    EXPECT_EQ(co_await with_deadline(2s, late()), 0s);
    EXPECT_EQ(time::now() - begin, 5s);
  });
}

TEST(Deadline, LeftSaysHowLongUntilThen) {
  run_paused([]() -> Async<void> {
    auto after_a_second = []() -> Async<time::Nanoseconds> {
      co_await sleep(1s);
      co_return Deadline::left();
    };
    EXPECT_EQ(co_await with_deadline(3s, after_a_second()), 2s);
    EXPECT_EQ(co_await with_deadline(time::Instant::min(), after_a_second()), 0s);
    EXPECT_EQ(co_await with_deadline(time::Instant::max(), after_a_second()),
              time::Nanoseconds::max());
  });
}

TEST(Deadline, ASpawnedTaskDoesNotInheritItButChildrenOfParallelDo) {
  run_paused([]() -> Async<void> {
    auto fork_and_spawn = []() -> Async<void> {
      const auto at = Deadline::current();
      EXPECT_TRUE(at.has_value());
      auto spawned = spawn(sees_deadline);
      EXPECT_EQ(co_await spawned, std::nullopt);
      const auto children = co_await parallel(sees_deadline(), sees_deadline());
      EXPECT_EQ(std::get<0>(children), at);
      EXPECT_EQ(std::get<1>(children), at);
    };
    co_await with_deadline(1s, fork_and_spawn());
  });
}

/// How `future` ends under a deadline of 2 s, and after how long.
template <class F>
Async<std::pair<std::error_code, time::Nanoseconds>> ends(F future) {
  const auto begin = time::now();
  const auto result = co_await with_deadline(2s, std::move(future));
  co_return std::pair(result ? std::error_code() : result.error(), time::now() - begin);
}

TEST(TimeoutOrDeadline, TheEarlierOfTheTwoEndsItAndTheErrorSaysWhich) {
  run_paused([]() -> Async<void> {
    auto own = co_await ends(timeout_or_deadline(1s, pending_forever<int>()).result());
    EXPECT_EQ(own.first, std::make_error_code(std::errc::timed_out));
    EXPECT_NE(own.first, DeadlineError::passed);
    EXPECT_EQ(own.second, 1s);
    auto deadline = co_await ends(timeout_or_deadline(5s, pending_forever<int>()).result());
    EXPECT_EQ(deadline.first, DeadlineError::passed);
    EXPECT_EQ(deadline.first, std::errc::timed_out) << "it is that, too";
    EXPECT_THAT(deadline.first.message(), HasSubstr("deadline"));
    EXPECT_EQ(deadline.second, 2s);
    auto both = co_await ends(timeout_or_deadline(2s, pending_forever<int>()).result());
    EXPECT_EQ(both.first, std::make_error_code(std::errc::timed_out));
    auto none = co_await ends(
        timeout_or_deadline(time::Nanoseconds::max(), pending_forever<int>()).result());
    EXPECT_EQ(none.first, DeadlineError::passed);
  });
}

TEST(TimeoutOrDeadline, ThrowsTimedOutWhichSaysWhereAndWhich) {
  run_paused([]() -> Async<void> {
    auto throws = [](time::Nanoseconds own) -> Async<std::error_code> {
      try {
        co_await timeout_or_deadline(own, pending_forever());
      } catch (const TimedOut& late) {
        EXPECT_THAT(late.what(), HasSubstr("deadline_test.cpp"));
        EXPECT_GT(late.where().line(), 0U);
        co_return late.code();
      }
      co_return std::error_code();
    };
    EXPECT_EQ(co_await with_deadline(2s, throws(1s)), std::make_error_code(std::errc::timed_out));
    EXPECT_EQ(co_await with_deadline(2s, throws(3s)), DeadlineError::passed);
    EXPECT_EQ(co_await throws(3s), std::make_error_code(std::errc::timed_out));
  });
}

TEST(TimeoutOrDeadline, GivesWhatComesInTimeAndTheFuturesOwnErrors) {
  run_paused([]() -> Async<void> {
    auto says = [](time::Nanoseconds after) -> Async<std::string> {
      co_await sleep(after);
      co_return "hello";
    };
    EXPECT_EQ(co_await with_deadline(2s, timeout_or_deadline(3s, says(1s))), "hello");
    EXPECT_EQ(co_await timeout_or_deadline(3s, says(3s)), "hello") << "the future is polled first";
    EXPECT_EQ(co_await timeout_or_deadline(0s, ready(7)), 7);
    auto refused = []() -> AsyncResult<int> {
      co_await yield_now();
      co_return std::errc::connection_refused;
    };
    EXPECT_EQ((co_await timeout_or_deadline(1s, refused()).result()).error(),
              std::errc::connection_refused);
    auto throws = []() -> Async<int> {
      co_await yield_now();
      throw std::runtime_error("broken");
    };
    EXPECT_THROW((void)co_await timeout_or_deadline(1s, throws()).result(), std::runtime_error);
  });
}

TEST(TimeoutOrDeadline, IsNotEvenBegunAfterTheDeadline) {
  run_paused([]() -> Async<void> {
    bool begun = false;
    auto ask = [](bool& asked) -> Async<int> {
      asked = true;
      co_return 1;
    };
    auto late = [&]() -> Async<Result<int>> {
      co_await sleep(2s);
      auto asking = timeout_or_deadline(5s, ask(begun)).result();
      co_return co_await std::move(asking);
    };
    const Result<int> answer = co_await with_deadline(1s, late());
    EXPECT_EQ(answer.error(), DeadlineError::passed);
    EXPECT_FALSE(begun);
  });
}

TEST(TimeoutOrDeadline, ObeysADeadlineThatWasSetAfterItWasMade) {
  run_paused([]() -> Async<void> {
    const auto begin = time::now();
    auto limited = timeout_or_deadline(5s, pending_forever<int>()).result();
    const Result<int> late = co_await with_deadline(1s, std::move(limited));
    EXPECT_EQ(late.error(), DeadlineError::passed);
    EXPECT_EQ(time::now() - begin, 1s);
  });
}

TEST(TimeoutOrDeadline, ItsTimeIsCountedFromTheCall) {
  run_paused([]() -> Async<void> {
    const auto begin = time::now();
    auto limited = timeout_or_deadline(5s, pending_forever<int>()).result();
    co_await sleep(4s);
    EXPECT_FALSE(co_await std::move(limited));
    EXPECT_EQ(time::now() - begin, 5s);
  });
}

TEST(TimeoutOrDeadline, DropsItsFutureBeforeItsResultIsHandedOut) {
  run_paused([]() -> Async<void> {
    struct Says {
      explicit Says(bool& gone) : is_gone(&gone) {}
      Says(const Says&) = delete;
      ~Says() { *is_gone = true; }
      bool* is_gone;
    };
    bool gone = false;
    auto waits = [](bool& is_gone) -> Async<void> {
      const Says says(is_gone);
      co_await pending_forever();
    };
    auto limited = timeout_or_deadline(5s, waits(gone));
    EXPECT_THROW(co_await with_deadline(1s, by_ref(limited)), TimedOut);
    EXPECT_TRUE(gone);
  });
}

/// Has steps to take for ever, and so uses up the budget of each poll.
class KeepsBusy {
 public:
  using Output = void;
  static Poll<> poll(Context& cx) {
    while (cx.take_budget()) {
    }
    return pending;
  }
};

TEST(TimeoutOrDeadline, EndsAFutureThatUsesUpTheBudget) {
  Runtime rt = Runtime::builder().current_thread().build();
  auto test = []() -> Async<void> {
    const Result<void> late =
        co_await with_deadline(2ms, timeout_or_deadline(1h, KeepsBusy()).result());
    EXPECT_EQ(late.error(), DeadlineError::passed);
  };
  rt.block_on(test());
}

TEST(TimeoutOrDeadline, IsDroppedAtEachPoll) {
  Runtime rt = test::paused_runtime(true);
  const auto here = rt.enter();
  rouse::testing::Gate<int> opened;
  auto& gate = opened;
  const auto report = rouse::testing::drop_at_each_poll(
      [&] { return with_deadline(1h, timeout_or_deadline(2h, gate.wait())); },
      [&](std::size_t k) {
        if (k == 2) gate.open(7);
      });
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(report.threw);
}

TEST(TimeoutOrDeadline, ADumpSeesTheFutureAndTheTime) {
  Runtime rt = test::paused_runtime(true);
  const auto here = rt.enter();
  rouse::testing::Gate<int> gate;
  rouse::testing::PollHarness harness(with_deadline(1h, timeout_or_deadline(2h, gate.wait())));
  EXPECT_TRUE(harness.poll().is_pending());
  const test::ShapeText shape(harness.future());
  EXPECT_EQ(shape.text(), "timeout(Gate, sleep)");
  EXPECT_EQ(shape.field<time::Instant>(1), time::now() + 1h);
}

}  // namespace
