// How much memory channels take: as much as the messages in them, about.
#include <array>
#include <cstddef>
#include <malloc.h>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/sync/channel.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/sanitizer.hpp"

namespace {

using namespace rouse;
using namespace rouse::sync;
using rouse::testing::PollHarness;

struct Message {
  explicit Message(int number = 0) noexcept { numbers[0] = number; }
  std::array<int, 14> numbers{};
};

std::size_t bytes_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class ChannelMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::sanitized) GTEST_SKIP() << "sanitizers have allocators of their own";
  }
};

TEST_F(ChannelMemory, AThousandIdleChannelsTakeLittle) {
  std::vector<std::pair<Sender<Message>, Receiver<Message>>> channels;
  channels.reserve(1'000);
  const std::size_t before = bytes_in_use();
  for (int i = 0; i < 1'000; ++i) channels.push_back(channel<Message>(1'024));
  EXPECT_LE(bytes_in_use() - before, 4'000'000U);
}

TEST_F(ChannelMemory, AnUnboundedChannelThatWasDrainedGivesItsMemoryBack) {
  auto [tx, rx] = unbounded<Message>();
  const std::size_t before = bytes_in_use();
  // More rounds than it could keep rings of.
  for (int round = 0; round < 50; ++round) {
    constexpr int many = 20'000;
    for (int i = 0; i < many; ++i) ASSERT_TRUE(tx.send(Message(i)));
    EXPECT_GE(bytes_in_use() - before, many * sizeof(Message));
    for (int i = 0; i < many; ++i) {
      const auto message = rx.try_recv();
      ASSERT_TRUE(message);
      ASSERT_EQ(message->numbers[0], i);
    }
    PollHarness receiving(rx.recv());
    ASSERT_TRUE(receiving.poll().is_pending());
    EXPECT_LE(bytes_in_use() - before, 100'000U);
  }
}

TEST_F(ChannelMemory, WhatIsReceivedAsItIsSentTakesNoMore) {
  auto [tx, rx] = channel<Message>(1'024);
  const std::size_t before = bytes_in_use();
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(tx.try_send(Message(i)));
    ASSERT_EQ(rx.try_recv()->numbers[0], i);
  }
  EXPECT_EQ(bytes_in_use(), before);
}

TEST(ChannelGrows, ItHasAllItsRoom) {
  for (const std::size_t capacity : {31U, 32U, 33U, 63U, 64U, 65U, 1'000U, 1'024U}) {
    auto [tx, rx] = channel<std::size_t>(capacity);
    EXPECT_EQ(tx.max_capacity(), capacity);
    std::size_t sent = 0;
    std::size_t received = 0;
    // What is left of one round is in another ring than what is sent in the next.
    for (std::size_t left = 0; left < 40; ++left) {
      while (tx.try_send(std::size_t(sent))) ++sent;
      EXPECT_EQ(rx.size(), capacity);
      EXPECT_EQ(tx.capacity(), 0U);
      while (rx.size() > left) ASSERT_EQ(rx.try_recv(), received++);
      EXPECT_EQ(tx.capacity(), capacity - rx.size());
    }
  }
}

TEST(ChannelGrows, AReservationMadeBeforeIsUsedAfter) {
  auto [tx, rx] = channel<int>(100);
  for (int i = 0; i < 31; ++i) EXPECT_TRUE(tx.try_send(int{i}));
  auto permit = tx.try_reserve();
  auto given_up = tx.try_reserve();
  for (int i = 31; i < 98; ++i) EXPECT_TRUE(tx.try_send(int{i}));
  EXPECT_EQ(tx.capacity(), 0U);
  EXPECT_FALSE(tx.try_send(0));
  EXPECT_TRUE(permit.send(98));
  given_up = SendPermit<int>();
  EXPECT_TRUE(tx.try_send(99));
  EXPECT_FALSE(tx.try_send(0));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rx.try_recv(), i);
}

}  // namespace
