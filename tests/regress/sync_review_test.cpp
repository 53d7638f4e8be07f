// What a review of sync found, each as the test that showed it.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/stream/stream_map.hpp"
#include "rouse/sync/cancellation_token.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/sanitizer.hpp"
#include "sync/reentrant_waker.hpp"

namespace {

using namespace rouse;
using namespace rouse::sync;
using rouse::test::ReentrantWaker;
using rouse::test::sanitized;
using rouse::testing::CountingWaker;
using rouse::testing::PollHarness;

ThreadPoolOptions two_workers() {
  ThreadPoolOptions config;
  config.workers = 2;
  return config;
}

TEST(SyncReview, TheLastReservedMessageOfAClosedChannelWakesAllReceivers) {
  auto [tx, rx] = channel<int>(2);
  auto other = rx.clone();
  auto permit = tx.try_reserve();
  rx.close();
  PollHarness first(rx.recv());
  PollHarness second(other.recv());
  EXPECT_TRUE(first.poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(permit.send(1));
  EXPECT_EQ(first.poll().value(), 1);
  EXPECT_TRUE(second.is_woken()) << "to hear that it is over";
  EXPECT_EQ(second.poll().value(), std::nullopt);
}

TEST(SyncReview, AReceiverThatWasNotifiedAndMovesPassesItOnWhenItEnds) {
  auto [tx, rx] = channel<int>(2);
  auto other = rx.clone();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(rx.poll_next(cx).is_pending());
  PollHarness waits(other.recv());
  EXPECT_TRUE(waits.poll().is_pending());
  EXPECT_TRUE(tx.try_send(7));
  {
    const Receiver<int> moved(std::move(rx));
  }
  EXPECT_TRUE(waits.is_woken());
  EXPECT_EQ(waits.poll().value(), 7);
}

TEST(SyncReview, AReceiverThatGivesUpOnASlowSenderPassesItsWakeOn) {
  auto* queue = new rouse::internal::MessageQueue<int>(8);
  queue->add_ref();
  const Sender<int> tx(*queue);
  Receiver<int> rx(*queue);
  auto rx2 = rx.clone();
  auto rx3 = rx.clone();
  std::optional<PollHarness<Recv<int>>> first(std::in_place, rx.recv());
  PollHarness second(rx2.recv());
  PollHarness third(rx3.recv());
  EXPECT_TRUE(first->poll().is_pending());
  EXPECT_TRUE(second.poll().is_pending());
  EXPECT_TRUE(third.poll().is_pending());
  const auto slow = queue->claim_quickly();  // a sender, interrupted before it fills its slot
  EXPECT_TRUE(tx.try_send(2));
  EXPECT_TRUE(first->is_woken());
  EXPECT_TRUE(first->poll().is_pending());
  first.reset();
  queue->push(slow, 1);
  EXPECT_TRUE(second.is_woken() && third.is_woken());
  EXPECT_EQ(second.poll().value(), 1);
  EXPECT_EQ(third.poll().value(), 2);
}

// A request that was sent while the server ended must not keep the reply's sender alive.
TEST(SyncReview, AMessageSentAsTheLastReceiverEndsIsDestroyedWithIt) {
  int stuck = 0;
  for (int round = 0; round < (sanitized ? 300 : 3000); ++round) {
    auto [tx, rx] = channel<OneshotSender<int>>(8);
    std::atomic<int> step{0};
    auto held = std::make_unique<Receiver<OneshotSender<int>>>(std::move(rx));
    std::thread server([&step, &held] {
      step = 1;
      while (step != 2) {
      }
      held.reset();
    });
    auto [reply_tx, reply_rx] = oneshot<int>();
    while (step != 1) {
    }
    step = 2;
    for (int i = 0; i < round % 200; ++i) spin_hint();
    const bool sent = tx.try_send(std::move(reply_tx)).has_value();
    server.join();
    if (sent && PollHarness(std::move(reply_rx)).poll().is_pending()) ++stuck;
  }
  EXPECT_EQ(stuck, 0);
}

TEST(SyncReview, TheCapacityThatIsLeftIsNeverMoreThanAll) {
  auto [tx, rx] = channel<int>(4);
  const Sender<int>& to = tx;
  Receiver<int>& from = rx;
  std::atomic<bool> stop{false};
  std::thread sends([&] {
    while (!stop) (void)to.try_send(1);
  });
  std::thread receives([&] {
    while (!stop) (void)from.try_recv();
  });
  std::size_t most = 0;
  for (int i = 0; i < (sanitized ? 10'000 : 1'000'000); ++i) most = std::max(most, to.capacity());
  stop = true;
  sends.join();
  receives.join();
  EXPECT_LE(most, 4U);
}

TEST(SyncReview, OneOfAWholeBatchMayEndTheSemaphore) {
  auto semaphore = std::make_unique<Semaphore>(0);
  std::vector<std::unique_ptr<Acquire>> futures;
  bool armed = false;
  ReentrantWaker last([&] {
    if (!std::exchange(armed, false)) return;
    futures.clear();
    semaphore.reset();
  });
  for (int i = 0; i < 32; ++i) {
    futures.push_back(std::make_unique<Acquire>(semaphore->acquire()));
    Context cx(i == 31 ? last.waker() : Waker::noop());
    EXPECT_TRUE(futures.back()->poll_result(cx).is_pending());
  }
  armed = true;
  semaphore->close();
  EXPECT_FALSE(semaphore);
}

TEST(SyncReview, ATokenIsCancelledBeforeThoseBelowItAreWoken) {
  const CancellationToken root;
  int wrong = 0;
  bool armed = false;
  ReentrantWaker waker([&] { wrong += armed && !root.is_cancelled() ? 1 : 0; });
  Context cx(waker.waker());
  std::vector<CancellationToken> children;
  std::vector<std::unique_ptr<CancellationToken::Cancelled>> waits;
  for (int i = 0; i < 40; ++i) {
    children.push_back(root.child());
    waits.push_back(std::make_unique<CancellationToken::Cancelled>(children.back().cancelled()));
    EXPECT_TRUE(waits.back()->poll(cx).is_pending());
  }
  armed = true;
  root.cancel();
  EXPECT_EQ(wrong, 0);
  armed = false;
}

/// Ends at once, and calls a function then; or gives fives.
class Fives {
 public:
  using Item = int;
  explicit Fives(std::function<void()> at_end = nullptr) : at_end_(std::move(at_end)) {}
  Fives(Fives&& other) noexcept : at_end_(std::exchange(other.at_end_, nullptr)) {}
  ~Fives() {
    if (at_end_) at_end_();
  }
  PollNext<int> poll_next(Context&) {
    return at_end_ ? PollNext<int>::ready(std::nullopt) : PollNext<int>::ready(5);
  }

 private:
  std::function<void()> at_end_;
};
TEST(SyncReview, AStreamThatAnotherOnesDestructorInsertsIsPolled) {
  stream::StreamMap<int, Fives> map;
  map.insert(1, Fives([&] { map.insert(2, Fives()); }));
  PollHarness next(map.next());
  EXPECT_TRUE(next.poll().is_ready() || next.is_woken());
}

Async<void> send_numbers(Sender<int> tx, int n) {
  for (int i = 0; i < n; ++i) (void)co_await tx.send(i);
}
Async<void> receive_of_both(Receiver<int> x, Receiver<int> y, std::atomic<long>& count) {
  for (;;) {
    const auto a = co_await x.recv();
    const auto b = co_await y.recv();
    count += (a ? 1 : 0) + (b ? 1 : 0);
    if (!a && !b) co_return;
  }
}
// Receivers of two channels on two workers: each channel is served at the end of one poll only.
TEST(SyncReview, SeveralReceiversMayServeTheSameSenders) {
  const int n = sanitized ? 500 : 5000;
  for (int round = 0; round < (sanitized ? 5 : 50); ++round) {
    const ThreadPool pool(two_workers());
    std::atomic<long> count{0};
    auto [tx, rx] = channel<int>(64);
    auto [ty, ry] = channel<int>(64);
    std::vector<JoinHandle<>> tasks;
    tasks.push_back(pool.spawn(borrowed(receive_of_both(rx.clone(), ry.clone(), count))));
    tasks.push_back(pool.spawn(borrowed(receive_of_both(std::move(ry), std::move(rx), count))));
    for (int i = 0; i < 3; ++i) {
      tasks.push_back(pool.spawn(send_numbers, tx, n));
      tasks.push_back(pool.spawn(send_numbers, ty, n));
    }
    {
      const auto ended = std::move(tx);
      const auto other = std::move(ty);
    }
    for (auto& task : tasks) block_on(task);
    EXPECT_EQ(count, 6L * n);
  }
}

Async<void> count_sends(Sender<int> tx, std::atomic<int>& sent) {
  for (int i = 0; i < 10; ++i) {
    const auto result = co_await tx.send(i);
    if (!result) co_return;
    ++sent;
  }
}
Async<void> receive_and_block(Receiver<int> rx, std::atomic<int>& sent) {
  while (sent < 8 || rx.capacity() != 0) co_await yield_now();
  for (int next = 9; next <= 10; ++next) {
    (void)co_await rx.recv();
    // Blocks until the sender used the room, which it must be given before.
    block_in_place([&] {
      while (sent < next) std::this_thread::yield();
    });
  }
}
TEST(SyncReview, WhoBlocksInPlaceHasServedSendersBeforeEachTime) {
  const ThreadPool pool(two_workers());
  std::atomic<int> sent{0};
  auto [tx, rx] = channel<int>(8);
  auto sends = pool.spawn(borrowed(count_sends(std::move(tx), sent)));
  auto receives = pool.spawn(borrowed(receive_and_block(std::move(rx), sent)));
  block_on(receives);
  block_on(sends);
  EXPECT_EQ(sent, 10);
}

}  // namespace
