// A dump shows the same wherever it is made: also inside a task, and in a destructor.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/await_local_set.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/time/sleep.hpp"

#include "sight/seen.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::Json;
using rouse::test::let_run;
using rouse::test::runtime_with;
using rouse::test::see;
using rouse::test::see_idle;
using rouse::test::see_when;
using rouse::test::Seen;
Async<void> wait_until_told(sync::Notify& told) { co_await told.notified(); }

Async<std::string> dump_deep_inside() {
  co_await yield_now();  // the last await of the inner one
  co_return sight::dump().json();
}
Async<std::string> dump_inside() {
  co_return co_await dump_deep_inside();  // awaits who dumps
}

void expect_is_running(const Seen& seen, TaskId own) {
  const Json& task = seen.task(own);
  EXPECT_EQ(task["state"].string(), "running");
  EXPECT_FALSE(task.has("waits"));
}

TEST(DumpInside, ATaskOfAPool) {
  sync::Notify told;
  Runtime runtime = runtime_with(2);
  const TaskId other = let_run(runtime.spawn(borrowed(wait_until_told(told))));
  see_idle({other});
  auto handle = runtime.spawn(dump_inside());
  const TaskId own = handle.id();
  const Seen seen(runtime.block_on(std::move(handle)));
  expect_is_running(seen, own);
  EXPECT_EQ(seen.state_of(other), "idle");
  told.notify_waiters();
  see_when([&](const Seen& now) { return now.find(other) == nullptr; });
}

TEST(DumpInside, ATaskOfALocalExecutor) {
  sync::Notify told;
  LocalExecutor executor;
  auto handle = executor.spawn(dump_inside());
  const TaskId own = handle.id();
  const TaskId other = let_run(executor.spawn(borrowed(wait_until_told(told))));
  const Seen seen(executor.run_until(std::move(handle)));
  expect_is_running(seen, own);
  EXPECT_EQ(seen.state_of(other), "idle");
  told.notify_waiters();
  executor.run();
}

TEST(DumpInside, ATaskOfAnAwaitedSet) {
  Runtime runtime = runtime_with(2);
  TaskId own = 0;
  TaskId outer = 0;
  auto main = [&]() -> Async<std::string> {
    LocalSet set;
    outer = task::id();
    auto handle = set.spawn_local(dump_inside());
    own = handle.id();
    co_return co_await run_until(set, std::move(handle));
  };
  const Seen seen(runtime.block_on(main()));
  expect_is_running(seen, own);
  EXPECT_EQ(seen.state_of(outer), "running");
}

TEST(DumpInside, ABlockOn) {
  Runtime current_thread = Runtime::builder().current_thread().build();
  Runtime pool = runtime_with(1);
  for (Runtime* runtime : {&current_thread, &pool}) {
    TaskId own = 0;
    auto main = [&]() -> Async<std::string> {
      own = task::id();
      co_return co_await dump_inside();
    };
    const Seen seen(runtime->block_on(main()));
    expect_is_running(seen, own);
  }
}

TEST(DumpInside, ABlockInPlace) {
  Runtime runtime = runtime_with(1);
  TaskId own = 0;
  auto main = [&]() -> Async<std::string> {
    co_await yield_now();
    own = task::id();
    std::string json;
    block_in_place([&] { json = sight::dump().json(); });
    co_return json;
  };
  const Seen seen(runtime.block_on(main()));
  EXPECT_EQ(seen.state_of(own), "blocking");
}

TEST(DumpInside, ABlockingCall) {
  Runtime runtime = runtime_with(1);
  auto handle = runtime.spawn_blocking([] { return sight::dump().json(); });
  const TaskId own = handle.id();
  const Seen seen(runtime.block_on(std::move(handle)));
  EXPECT_EQ(seen.state_of(own), "blocking");
}

/// Its siblings are looked at in the midst of their parent's poll.
TEST(DumpInside, FuturesThatArePolledTogether) {
  sync::Notify told;
  Runtime runtime = runtime_with(2);
  auto main = [&]() -> Async<void> {
    auto both = co_await join(dump_inside(), yield_now());
    Seen{std::get<0>(both)};
    auto one = co_await select_biased(wait_until_told(told), dump_inside());
    Seen{std::get<1>(one)};
    std::vector<Async<std::string>> many;
    for (int i = 0; i < 10; ++i) many.push_back(dump_inside());
    for (const std::string& json : co_await join_all(std::move(many))) Seen{json};
  };
  runtime.block_on(main());
  Seen{std::get<0>(runtime.block_on(runtime.spawn(join(dump_inside(), yield_now()))))};
}

/// Dumps when it is destroyed, into `to`.
class DumpsAtEnd {
 public:
  explicit DumpsAtEnd(std::string* to) : to_(to) {}
  DumpsAtEnd(DumpsAtEnd&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  DumpsAtEnd& operator=(DumpsAtEnd&&) = delete;
  ~DumpsAtEnd() {
    if (to_ != nullptr) *to_ = sight::dump().json();
  }

 private:
  std::string* to_;
};

Async<void> dump_at_end(DumpsAtEnd /*parameter*/, std::string* local, sync::Notify* told) {
  const DumpsAtEnd at_end(local);
  co_await wait_until_told(*told);
}

TEST(DumpInside, DestructorsOfATaskThatEnds) {
  std::string parameter;
  std::string local;
  sync::Notify told;
  Runtime runtime = runtime_with(2);
  auto handle = runtime.spawn(borrowed(dump_at_end(DumpsAtEnd(&parameter), &local, &told)));
  const TaskId id = handle.id();
  see_idle({id});
  told.notify_waiters();
  runtime.block_on(std::move(handle));
  EXPECT_EQ(Seen(local).state_of(id), "running");
  EXPECT_EQ(Seen(parameter).state_of(id), "running");
}

TEST(DumpInside, DestructorsOfATaskThatIsAborted) {
  for (const bool current_thread : {false, true}) {
    std::string parameter;
    std::string local;
    sync::Notify told;
    Runtime runtime =
        current_thread ? Runtime::builder().current_thread().build() : runtime_with(2);
    auto main = [&]() -> Async<void> {
      auto handle = spawn(borrowed(dump_at_end(DumpsAtEnd(&parameter), &local, &told)));
      // Where its future is no coroutine, and where one of two goes first.
      std::string ignored;
      auto joins = spawn(join(borrowed(dump_at_end(DumpsAtEnd(&ignored), &ignored, &told)),
                              borrowed(wait_until_told(told))));
      co_await yield_now();
      co_await sleep(1ms);
      handle.abort();
      joins.abort();
      while (!handle.is_finished() || !joins.is_finished()) co_await yield_now();
      Seen{ignored};
    };
    runtime.block_on(main());
    EXPECT_EQ(Seen(local).json()["format"].number(), 1U);
    EXPECT_EQ(Seen(parameter).json()["format"].number(), 1U);
  }
}

TEST(DumpInside, DestructorsOfTasksThatEndWithTheirRuntime) {
  for (const bool current_thread : {false, true}) {
    std::string parameter;
    std::string local;
    sync::Notify told;
    {
      Runtime runtime =
          current_thread ? Runtime::builder().current_thread().build() : runtime_with(2);
      let_run(runtime.spawn(borrowed(dump_at_end(DumpsAtEnd(&parameter), &local, &told))));
      for (int i = 0; i < 10; ++i) let_run(runtime.spawn(borrowed(wait_until_told(told))));
      runtime.block_on([]() -> Async<void> { co_await sleep(2ms); }());
    }
    EXPECT_EQ(Seen(local).json()["format"].number(), 1U);
    EXPECT_EQ(Seen(parameter).json()["format"].number(), 1U);
  }
}

TEST(DumpInside, SeveralThreadsAtOnce) {
  sync::Notify told;
  Runtime runtime = runtime_with(2);
  LocalExecutor executor;
  std::thread owner([&] { executor.run_until(told.notified()); });
  const JoinHandle<> in_pool = runtime.spawn(wait_until_told, std::ref(told));
  const JoinHandle<> in_executor = executor.spawn(wait_until_told, std::ref(told));
  const std::vector<TaskId> ids{in_pool.id(), in_executor.id()};
  see_idle(ids);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const Seen seen = see(sight::DumpOptions().patience(1ms));
        const bool is_local_seen = seen.text().find("not seen") == std::string::npos;
        for (const TaskId id : ids) {
          if (id == in_pool.id() || is_local_seen) {
            EXPECT_EQ(seen.state_of(id), "idle");
          }
        }
      }
    });
  }
  auto inside = [&]() -> Async<void> {
    for (int round = 0; round < 50; ++round) {
      const Seen seen = see();
      EXPECT_EQ(seen.state_of(task::id()), "running");
      EXPECT_EQ(seen.state_of(ids[0]), "idle");
      co_await yield_now();
    }
  };
  runtime.block_on(inside());
  for (std::thread& thread : threads) thread.join();
  told.notify_waiters();
  owner.join();
  executor.run();
}

TEST(DumpOptions, PatienceIsKept) {
  EXPECT_EQ(sight::DumpOptions().patience(), 100ms);
  EXPECT_EQ(sight::DumpOptions().patience(3ms).patience(), 3ms);
  std::latch began(1);
  std::latch end(1);
  const Runtime runtime = runtime_with(1);
  auto blocks = [&]() -> Async<void> {
    began.count_down();
    end.wait();
    co_return;
  };
  const TaskId id = let_run(runtime.spawn(blocks));
  began.wait();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(see(sight::DumpOptions().patience(250ms)).state_of(id), "running");
  EXPECT_GE(std::chrono::steady_clock::now() - start, 250ms);
  end.count_down();
}

}  // namespace
