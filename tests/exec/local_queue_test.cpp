// LocalQueue: first in first out, grows, and every task is taken exactly once whoever takes it.
#include "exec/pool/local_queue.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "exec/task/task_table.hpp"

namespace rouse {

using namespace internal;
namespace {

/// The queue never looks into a task: a number serves as one.
TaskHeader& task(std::uintptr_t number) { return *reinterpret_cast<TaskHeader*>(number * 16); }
std::uintptr_t number_of(const TaskHeader* header) {
  return reinterpret_cast<std::uintptr_t>(header) / 16;
}

TEST(LocalQueue, TheOwnerTakesInTheOrderOfThePushes) {
  LocalQueue queue;
  for (std::uintptr_t i = 1; i <= 10; ++i) queue.push(task(i));
  TaskHeader* room[8];
  std::span<TaskHeader*> taken = queue.take(room);
  ASSERT_EQ(taken.size(), 8U);
  for (std::uintptr_t i = 0; i < 8; ++i) EXPECT_EQ(number_of(taken[i]), i + 1);
  taken = queue.take(room);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(number_of(taken[0]), 9U);
  EXPECT_EQ(number_of(taken[1]), 10U);
  EXPECT_EQ(taken.data(), room + 6);
  EXPECT_TRUE(queue.take(room).empty());
}

TEST(LocalQueue, AThiefTakesTheOlderHalf) {
  LocalQueue queue;
  for (std::uintptr_t i = 1; i <= 10; ++i) queue.push(task(i));
  TaskHeader* taken[128];
  ASSERT_EQ(queue.steal(taken, 128), 5U);
  EXPECT_EQ(number_of(taken[0]), 1U);
  EXPECT_EQ(queue.size(), 5U);
  ASSERT_EQ(queue.steal(taken, 2), 2U);
  EXPECT_EQ(number_of(taken[0]), 6U);
}

TEST(LocalQueue, GrowingKeepsTheOrder) {
  LocalQueue queue;
  TaskHeader* room[3];
  for (std::uintptr_t i = 1; i <= 200; ++i) queue.push(task(i));
  ASSERT_EQ(queue.take(room).size(), 3U);  // so that the ring's beginning is not at its start
  for (std::uintptr_t i = 201; i <= 10'000; ++i) queue.push(task(i));
  EXPECT_EQ(queue.size(), 9997U);
  for (std::uintptr_t i = 4; i <= 10'000; ++i) {
    const std::span<TaskHeader*> taken = queue.take(std::span(room).first(1));
    ASSERT_EQ(taken.size(), 1U);
    ASSERT_EQ(number_of(taken[0]), i);
  }
}

TEST(LocalQueue, EachTaskIsTakenOnceWhileThievesStealAndTheRingGrows) {
  constexpr std::uintptr_t tasks = 200'000;
  constexpr int thieves = 3;
  LocalQueue queue;
  std::vector<std::atomic<int>> taken_times(tasks + 1);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < thieves; ++t) {
    threads.emplace_back([&] {
      TaskHeader* stolen[16];
      while (!done.load()) {
        const std::size_t count = queue.steal(stolen, 16);
        for (std::size_t i = 0; i < count; ++i) taken_times[number_of(stolen[i])].fetch_add(1);
      }
    });
  }
  TaskHeader* room[8];
  const auto take = [&](std::size_t max) {
    for (const TaskHeader* taken : queue.take(std::span(room).first(max))) {
      taken_times[number_of(taken)].fetch_add(1);
    }
  };
  for (std::uintptr_t i = 1; i <= tasks; ++i) {
    queue.push(task(i));
    if (i % 5 == 0) take(1 + i % 3);
  }
  while (!queue.empty()) take(8);
  done = true;
  for (auto& thread : threads) thread.join();
  for (std::uintptr_t i = 1; i <= tasks; ++i) ASSERT_EQ(taken_times[i].load(), 1) << i;
}

}  // namespace
}  // namespace rouse
