// What the futures of the runtime wait for, as a dump sees it.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/runtime/rate_limiter.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/runtime/send_timeout.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/time/instant.hpp"

#include "support/shape_text.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::ShapeText;

class RuntimeShape : public ::testing::Test {
 protected:
  /// Polls once.
  template <class F>
  static ShapeText shape(F& future) {
    Context cx(Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    return ShapeText(future);
  }

  Runtime rt = Runtime::builder().current_thread().build();
  EnterGuard inside = rt.enter();
};

TEST_F(RuntimeShape, AJoinSetWaitsForItsTasks) {
  JoinSet<void> tasks;
  tasks.spawn_on(rt.spawner(), pending_forever<void>());
  tasks.spawn_on(rt.spawner(), pending_forever<void>());
  auto next = tasks.join_next();
  const ShapeText joining = shape(next);
  EXPECT_EQ(joining.text(), "join_set(FuturesUnordered(task, task))");
  EXPECT_EQ(joining.kind(0), sight::Wait::join);
  EXPECT_NE(joining.field<const void*>(0), nullptr);
  EXPECT_NE(joining.field<const void*>(0), joining.field<const void*>(1));
  auto with_id = tasks.join_next_with_id();
  EXPECT_EQ(shape(with_id).text(), joining.text());
  auto ending = tasks.shutdown();
  EXPECT_EQ(shape(ending).text(), joining.text());
}

TEST_F(RuntimeShape, ASendTimeoutWaitsForRoomAndForItsTime) {
  auto [tx, rx] = sync::channel<int>(1);
  EXPECT_TRUE(tx.try_send(1));
  const time::Instant start = time::now();
  auto sending = send_timeout(tx, 2, 1h);
  const ShapeText send = shape(sending);
  EXPECT_EQ(send.text(), "send_timeout(channel, sleep)");
  EXPECT_EQ(send.kind(0), sight::Wait::send);
  EXPECT_NE(send.field<const void*>(0), nullptr);
  EXPECT_EQ(send.kind(1), sight::Wait::sleep);
  EXPECT_GE(send.field<time::Instant>(1), start + 1h);
}

TEST_F(RuntimeShape, TheFirstInLineOfARateLimiterWaitsForTimeAndTheOthersForTheirTurn) {
  static_assert(sizeof(RateLimiter::Acquire) == 152);
  RateLimiter limiter(1, 1h);
  EXPECT_TRUE(limiter.try_acquire());
  auto first = limiter.acquire();
  const ShapeText waits = shape(first);
  EXPECT_EQ(waits.text(), "rate_limiter(sleep)");
  EXPECT_EQ(waits.kind(0), sight::Wait::sleep);
  EXPECT_GT(waits.field<time::Instant>(0), time::now());
  auto second = limiter.acquire();
  const ShapeText queue = shape(second);
  EXPECT_EQ(queue.text(), "rate_limiter(Semaphore)");
  EXPECT_EQ(queue.kind(0), sight::Wait::permits);
  EXPECT_NE(queue.field<const void*>(0), nullptr);
}

}  // namespace
