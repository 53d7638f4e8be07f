// The code in docs/guide/04_runtime.md about hooks.
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/all.hpp"

namespace {

TEST(RuntimeGuide, HooksTellOfTasks) {
  std::mutex mutex;
  std::vector<std::string> ended;
  std::atomic<int> alive{0};
  // [hooks]
  auto rt = rouse::Runtime::builder()
                .on_task_spawn([&](const rouse::TaskMeta&) { ++alive; })
                .on_task_terminate([&](const rouse::TaskMeta& task) {  // on any worker
                  const std::scoped_lock lock(mutex);
                  ended.emplace_back(task.name);  // and task.id
                  --alive;
                })
                .build();
  // [/hooks]
  auto work = []() -> rouse::Async<void> { co_await rouse::yield_now(); };
  auto task = rouse::task::Builder().name("resolver").spawn_on(rt.spawner(), work);
  rouse::block_on(task);
  EXPECT_EQ(alive, 0);
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(ended, std::vector<std::string>{"resolver"});
}

}  // namespace
