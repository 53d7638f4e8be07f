#include "rouse/runtime/send_timeout.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"

#include "time/paused.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using BoxedInt = std::unique_ptr<int>;

TEST(SendTimeout, SendsAtOnceIfThereIsRoom) {
  test::run_paused([]() -> Async<void> {
    auto [tx, rx] = sync::channel<BoxedInt>(1);
    const auto sent = co_await send_timeout(tx, std::make_unique<int>(1), 0s);
    EXPECT_TRUE(sent);
    EXPECT_EQ(**rx.try_recv(), 1);
  });
}

TEST(SendTimeout, GivesUpAtTheInstantAndHasItsMessage) {
  test::run_paused([]() -> Async<void> {
    auto [tx, rx] = sync::channel<BoxedInt>(1);
    EXPECT_TRUE(tx.try_send(std::make_unique<int>(1)));
    const auto start = time::now();
    auto sending = send_timeout(tx, std::make_unique<int>(2), 200ms);
    const Result<void> sent = co_await sending;
    EXPECT_EQ(time::now() - start, 200ms);
    EXPECT_EQ(sent.error(), std::errc::timed_out);
    EXPECT_EQ(*sending.message(), 2);
    EXPECT_TRUE(co_await rx.recv());
    EXPECT_TRUE(tx.try_send(std::make_unique<int>(3))) << "it waits for room no more";
  });
}

TEST(SendTimeout, SendsWhenRoomComesInTime) {
  test::run_paused([]() -> Async<void> {
    auto made = sync::channel<BoxedInt>(1);
    auto& tx = made.first;
    EXPECT_TRUE(tx.try_send(std::make_unique<int>(1)));
    auto receive = [](sync::Receiver<BoxedInt> from) -> Async<int> {
      co_await sleep(100ms);
      int sum = 0;
      while (auto message = co_await from.recv()) sum += **message;
      co_return sum;
    };
    auto sum = spawn(receive, std::move(made.second));
    const auto start = time::now();
    const auto sent = co_await send_timeout(tx, std::make_unique<int>(2), 200ms);
    EXPECT_TRUE(sent);
    EXPECT_EQ(time::now() - start, 100ms);
    {
      const auto ours = std::move(tx);
    }
    EXPECT_EQ(co_await sum, 3);
  });
}

TEST(SendTimeout, AClosedChannelIsNotATimeout) {
  test::run_paused([]() -> Async<void> {
    auto [tx, rx] = sync::channel<BoxedInt>(1);
    rx.close();
    auto sending = send_timeout(tx, std::make_unique<int>(2), 200ms);
    const Result<void> sent = co_await sending;
    EXPECT_EQ(sent.error(), std::errc::broken_pipe);
    EXPECT_EQ(*sending.message(), 2);
  });
}

TEST(SendTimeout, IsCleanWhereverItIsDropped) {
  test::run_paused([]() -> Async<void> {
    auto [tx, rx] = sync::channel<int>(1);
    auto& to = tx;
    auto& from = rx;
    const auto report = rouse::testing::drop_at_each_poll(
        [&] {
          (void)to.try_send(1);
          return send_timeout(to, 2, 1h);
        },
        [&](std::size_t) { (void)from.try_recv(); },
        [&](std::size_t) {
          while (from.try_recv()) {
          }
          EXPECT_EQ(to.capacity(), 1U);
        });
    EXPECT_EQ(report.polls, 2U);
    EXPECT_EQ(report.wakers_left, 0U);
    co_return;
  });
}

}  // namespace
