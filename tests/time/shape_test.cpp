// What the futures of time/ say that they wait for: base/shape.hpp.
#include "rouse/base/shape.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/time/delay_queue.hpp"
#include "rouse/time/interval.hpp"
#include "rouse/time/pause.hpp"
#include "rouse/time/retry.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "support/shape_text.hpp"
#include "time/paused.hpp"

namespace rouse::test {
namespace {

using namespace std::chrono_literals;

/// Has a clock and timers, for futures that are polled by hand.
class TimeShape : public ::testing::Test {
 protected:
  template <class F>
  static std::string after_poll(F& future) {
    Context cx(Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    return ShapeText(future).text();
  }
  template <class F>
  static std::string of_polled(F future) {
    return after_poll(future);
  }
  /// Which the first leaf names.
  template <class F>
  static time::Instant deadline_in(const F& future) {
    const ShapeText shape(future);
    EXPECT_EQ(shape.kind(0), sight::Wait::sleep);
    return shape.template field<time::Instant>(0);
  }

 private:
  Runtime runtime_ = paused_runtime(true);
  decltype(runtime_.enter()) here_ = runtime_.enter();
};

TEST_F(TimeShape, SleepNamesItsDeadline) {
  auto hour = sleep(1h);
  EXPECT_EQ(after_poll(hour), "sleep");
  EXPECT_EQ(deadline_in(hour), hour.deadline());
  hour.reset(time::now() + 2h);
  EXPECT_EQ(deadline_in(hour), time::now() + 2h);
}

TEST_F(TimeShape, TimeoutWaitsForItsFutureOrTheTime) {
  testing::Gate<int> gate;
  auto limited = timeout(1h, gate.wait());
  EXPECT_EQ(after_poll(limited), "timeout(Gate, sleep)");
  const ShapeText shape(limited);
  EXPECT_EQ(shape.field<const void*>(0), &gate);
  EXPECT_EQ(shape.field<time::Instant>(1), limited.deadline());
  EXPECT_EQ(of_polled(timeout(1h, gate.wait()).result()), "timeout(Gate, sleep)");
  EXPECT_EQ(of_polled(timeout(1h, sleep(2h))), "timeout(sleep, sleep)");
}

TEST_F(TimeShape, Interval) {
  const auto first = time::now() + 1h;
  Interval ticks = interval_at(first, 1min);
  auto tick = ticks.tick();
  EXPECT_EQ(after_poll(tick), "sleep");
  EXPECT_EQ(deadline_in(tick), first);
}

TEST_F(TimeShape, DelayQueueWaitsForTheNext) {
  DelayQueue<int> queue;
  queue.insert(1, 20ms);
  const auto key = queue.insert(2, 10ms);
  auto next = queue.next();
  EXPECT_EQ(after_poll(next), "sleep");
  EXPECT_EQ(deadline_in(next), queue.deadline(key));
}

TEST_F(TimeShape, DelayQueueMayLookEarlierIfThatIsFarAway) {
  DelayQueue<int> queue;
  const auto key = queue.insert(1, 1h);
  auto next = queue.next();
  EXPECT_EQ(after_poll(next), "sleep");
  EXPECT_GT(deadline_in(next), time::now());
  EXPECT_LE(deadline_in(next), queue.deadline(key));
}

TEST_F(TimeShape, RetryWaitsForAnAttemptOrBetweenTwo) {
  testing::Gate<int> gate;
  auto tries = retry([&] { return gate.wait(); }, RetryPolicy().jitter(false));
  EXPECT_EQ(after_poll(tries), "retry(Gate)");
  gate.fail(std::make_exception_ptr(std::system_error(std::make_error_code(std::errc::io_error))));
  EXPECT_EQ(after_poll(tries), "retry(sleep)");
  EXPECT_EQ(deadline_in(tries), time::now() + RetryPolicy().longest_delay(1));
}

TEST_F(TimeShape, AdvanceWaitsForItsTurn) {
  const auto advances = time::advance(1h);
  EXPECT_EQ(ShapeText(advances).text(), "advance");
  EXPECT_EQ(ShapeText(advances).kind(0), sight::Wait::turn);
}

Async<> shape_sleeps() { co_await sleep(1h); }

TEST_F(TimeShape, InACoroutine) {
  EXPECT_EQ(of_polled(shape_sleeps()), "sleep @1");
  EXPECT_EQ(of_polled(timeout(1h, shape_sleeps())), "timeout(sleep @1, sleep)");
}

}  // namespace
}  // namespace rouse::test
