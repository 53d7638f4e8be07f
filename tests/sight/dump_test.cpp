// A dump shows the tasks of every kind of executor, whatever they do.
#include "rouse/sight/dump.hpp"

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
#include "rouse/sync/notify.hpp"
#include "rouse/time/sleep.hpp"

#include "sight/seen.hpp"

extern "C" const char __executable_start;  // NOLINT(bugprone-reserved-identifier): the linker's
extern "C" const char etext;

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
using rouse::test::source_line;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Async<void> wait_inside(sync::Notify& told) {
  co_await told.notified();  // the inner await
}
Async<void> wait_for(sync::Notify& told) {
  co_await wait_inside(told);  // the outer await
}

void expect_awaits_of_wait_for(const Json& task, const sync::Notify& told) {
  const Json& waits = task["waits"];
  EXPECT_EQ(waits["for"]["kind"].string(), "notify");
  EXPECT_EQ(waits["for"]["label"].string(), "Notify");
  std::array<char, 32> address;
  std::snprintf(address.data(), address.size(), "%p", static_cast<const void*>(&told));
  EXPECT_EQ(waits["for"]["address"].string(), address.data());
  ASSERT_EQ(waits["at"].items().size(), 2U);
  EXPECT_THAT(source_line(waits["at"][0]), HasSubstr("// the inner await"));
  EXPECT_THAT(source_line(waits["at"][1]), HasSubstr("// the outer await"));
  EXPECT_THAT(waits["at"][0]["function"].string(), HasSubstr("wait_inside"));
}

/// Spawned in both ways, once with a name.
struct Spawned {
  Spawned(const Spawner& spawner, sync::Notify& told)
      : future(task::Builder().name("by future").spawn_on(spawner, borrowed(wait_for(told)))),
        call(spawner.spawn(wait_for, std::ref(told))) {}

  JoinHandle<> future;
  JoinHandle<> call;
};

void expect_are_shown(const Spawned& tasks, const sync::Notify& told, std::string_view kind) {
  const Seen seen = see_idle({tasks.future.id(), tasks.call.id()});
  const Json& future = seen.task(tasks.future.id());
  EXPECT_EQ(seen.executor_of(tasks.future.id()), kind);
  EXPECT_EQ(future["count"].number(), 1U);
  EXPECT_EQ(future["name"].string(), "by future");
  EXPECT_THAT(future["spawned"]["file"].string(), EndsWith("dump_test.cpp"));
  EXPECT_THAT(source_line(future["spawned"]), HasSubstr("future(task::Builder()"));
  expect_awaits_of_wait_for(future, told);
  const std::string text = seen.text_of(tasks.future.id());
  EXPECT_THAT(text, HasSubstr(" \"by future\"  idle"));
  EXPECT_THAT(text, HasSubstr("waits for Notify 0x"));
  EXPECT_THAT(text, HasSubstr("dump_test.cpp:"));
  EXPECT_THAT(seen.folded(), HasSubstr("wait_inside"));

  const Json& call = seen.task(tasks.call.id());
  EXPECT_EQ(seen.executor_of(tasks.call.id()), kind);
  EXPECT_FALSE(call.has("name"));
  EXPECT_THAT(call["spawned"]["module"].string(), EndsWith("sight_tests"));
  EXPECT_GT(std::stoull(call["spawned"]["offset"].string(), nullptr, 16), 0U);
  expect_awaits_of_wait_for(call, told);
}

/// Runs `run(told)`, which returns when it is told, on a thread; and shows what is spawned there.
template <class Run>
void expect_shows_tasks_while_it_runs(const Spawner& spawner, std::string_view kind, Run run) {
  sync::Notify told;
  sync::Notify end;
  std::thread owner([&] { run(end); });
  const Spawned tasks(spawner, told);
  expect_are_shown(tasks, told, kind);
  told.notify_waiters();
  see_when([&](const Seen&) { return tasks.future.is_finished() && tasks.call.is_finished(); });
  EXPECT_EQ(see().find(tasks.future.id()), nullptr);
  end.notify_one();
  owner.join();
}

// --- Each kind of executor. ---

TEST(DumpOf, ARuntimeWithWorkers) {
  Runtime runtime = runtime_with(2);
  expect_shows_tasks_while_it_runs(runtime.spawner(), "pool",
                                   [&](sync::Notify& end) { runtime.block_on(end.notified()); });
}

TEST(DumpOf, ACurrentThreadRuntime) {
  Runtime runtime = Runtime::builder().current_thread().build();
  expect_shows_tasks_while_it_runs(runtime.spawner(), "local",
                                   [&](sync::Notify& end) { runtime.block_on(end.notified()); });
}

TEST(DumpOf, AThreadPool) {
  const ThreadPool pool;
  expect_shows_tasks_while_it_runs(pool.spawner(), "pool",
                                   [](sync::Notify& end) { block_on(end.notified()); });
}

TEST(DumpOf, ALocalExecutorWhileItsThreadRuns) {
  LocalExecutor executor;
  expect_shows_tasks_while_it_runs(executor.spawner(), "local",
                                   [&](sync::Notify& end) { executor.run_until(end.notified()); });
}

TEST(DumpOf, ALocalExecutorWhileNobodyIsInIt) {
  sync::Notify told;
  LocalExecutor executor;
  const Spawned tasks(executor.spawner(), told);
  for (int round = 0; round < 3; ++round) {
    executor.run_until(yield_now());
    expect_are_shown(tasks, told, "local");
  }
  told.notify_waiters();
  executor.run();
  EXPECT_TRUE(tasks.future.is_finished());
}

TEST(DumpOf, ALocalExecutorThatWasNeverRun) {
  LocalExecutor executor;
  const TaskId id = let_run(executor.spawn(pending_forever<void>()));
  EXPECT_EQ(see().state_of(id), "queued");
}

TEST(DumpOf, ACurrentThreadRuntimeThatWasNeverRun) {
  const Runtime runtime = Runtime::builder().current_thread().build();
  const TaskId id = let_run(runtime.spawn(pending_forever<void>()));
  EXPECT_EQ(see().state_of(id), "queued");
}

TEST(DumpOf, ALocalSetAlone) {
  sync::Notify told;
  sync::Notify end;
  std::atomic<TaskId> id = 0;
  LocalSet set;
  std::thread owner([&] {
    auto main = [&]() -> Async<void> {
      id = let_run(spawn_local(wait_for, std::ref(told)));
      co_await end.notified();
    };
    set.run_until(main());
  });
  Seen seen = see_when([&](const Seen& now) { return now.state_of(id) == "idle"; });
  EXPECT_EQ(seen.executor_of(id), "local");
  expect_awaits_of_wait_for(seen.task(id), told);
  end.notify_one();
  owner.join();
  // Nobody is in it.
  seen = see();
  EXPECT_EQ(seen.state_of(id), "idle");
  expect_awaits_of_wait_for(seen.task(id), told);
  told.notify_waiters();
  set.run_until(yield_now());
  EXPECT_EQ(see().find(id), nullptr);
}

class DumpOfAnAwaitedSet : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make() {
    if (GetParam()) return Runtime::builder().current_thread().build();
    return runtime_with(2);
  }
};
INSTANTIATE_TEST_SUITE_P(OnBothRuntimes, DumpOfAnAwaitedSet, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Local" : "Pool"; });

TEST_P(DumpOfAnAwaitedSet, WithRunUntil) {
  sync::Notify told;
  sync::Notify end;
  std::atomic<TaskId> outer = 0;
  std::atomic<TaskId> inner = 0;
  Runtime runtime = make();
  std::thread owner([&] {
    auto main = [&]() -> Async<void> {
      inner = let_run(spawn_local(wait_for, std::ref(told)));
      co_await end.notified();
    };
    auto run = [&]() -> Async<void> {
      LocalSet set;
      outer = task::id();
      co_await run_until(set, main());  // the set is awaited
    };
    runtime.block_on(run());
  });
  const Seen seen = see_when([&](const Seen& now) {
    return now.state_of(inner) == "idle" && now.state_of(outer) == "idle";
  });
  EXPECT_EQ(seen.executor_of(inner), "local");
  expect_awaits_of_wait_for(seen.task(inner), told);
  const Json& waits = seen.task(outer)["waits"];
  EXPECT_EQ(waits["for"]["label"].string(), "run_until");
  EXPECT_EQ(waits["for"]["of"][0]["for"]["label"].string(), "Notify");
  EXPECT_EQ(waits["for"]["of"][1]["for"]["label"].string(), "LocalSet");
  EXPECT_THAT(source_line(waits["at"][0]), HasSubstr("// the set is awaited"));
  end.notify_one();
  owner.join();
}

TEST_P(DumpOfAnAwaitedSet, WithRunAll) {
  sync::Notify told;
  std::atomic<TaskId> outer = 0;
  std::atomic<TaskId> inner = 0;
  Runtime runtime = make();
  std::thread owner([&] {
    auto run = [&]() -> Async<void> {
      LocalSet set;
      outer = task::id();
      inner = let_run(set.spawn_local(wait_for, std::ref(told)));
      co_await run_all(set);  // all of it is awaited
    };
    runtime.block_on(run());
  });
  const Seen seen = see_when([&](const Seen& now) {
    return now.state_of(inner) == "idle" && now.state_of(outer) == "idle";
  });
  expect_awaits_of_wait_for(seen.task(inner), told);
  EXPECT_EQ(seen.task(outer)["waits"]["for"]["label"].string(), "LocalSet");
  EXPECT_THAT(source_line(seen.task(outer)["waits"]["at"][0]),
              HasSubstr("// all of it is awaited"));
  told.notify_waiters();
  owner.join();
}

TEST(DumpOf, ALocalSetBesideACurrentThreadRuntime) {
  sync::Notify told;
  sync::Notify end;
  std::atomic<TaskId> in_runtime = 0;
  std::atomic<TaskId> in_set = 0;
  const Runtime runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  std::thread owner([&] {
    auto main = [&]() -> Async<void> {
      in_runtime = let_run(spawn(wait_for, std::ref(told)));
      in_set = let_run(spawn_local(wait_for, std::ref(told)));
      co_await end.notified();
    };
    set.block_on(runtime, main());
  });
  const Seen seen = see_when([&](const Seen& now) {
    return now.state_of(in_runtime) == "idle" && now.state_of(in_set) == "idle";
  });
  EXPECT_EQ(seen.executor_of(in_runtime), "local");
  EXPECT_EQ(seen.executor_of(in_set), "local");
  expect_awaits_of_wait_for(seen.task(in_runtime), told);
  expect_awaits_of_wait_for(seen.task(in_set), told);
  end.notify_one();
  owner.join();
  told.notify_waiters();  // both end with what they are in
}

TEST(DumpOf, CallsOfABlockingPool) {
  BlockingOptions options;
  options.max_threads = 1;
  std::latch began(1);
  std::latch end(1);
  BlockingPool pool(options);
  auto running = pool.spawn([&] {
    began.count_down();
    end.wait();
  });
  auto queued = pool.spawn([](int) {}, 1);
  began.wait();
  const Seen seen = see();
  EXPECT_EQ(seen.executor_of(running.id()), "blocking");
  EXPECT_EQ(seen.state_of(running.id()), "blocking");
  EXPECT_THAT(source_line(seen.task(running.id())["spawned"]), HasSubstr("pool.spawn([&] {"));
  EXPECT_EQ(seen.executor_of(queued.id()), "blocking");
  EXPECT_EQ(seen.state_of(queued.id()), "queued");
  EXPECT_THAT(seen.task(queued.id())["spawned"]["module"].string(), EndsWith("sight_tests"));
  EXPECT_FALSE(seen.task(queued.id()).has("wakers"));
  end.count_down();
  block_on(queued);
  pool.close();
  EXPECT_TRUE(pool.wait());
  EXPECT_EQ(see().find(running.id()), nullptr);
}

TEST(DumpOf, ABlockingCallOfARuntimeByItsName) {
  std::latch began(1);
  std::latch end(1);
  Runtime runtime = runtime_with(1);
  auto main = [&]() -> Async<TaskId> {
    co_return let_run(task::Builder().name("reads").spawn_blocking([&] {
      began.count_down();
      end.wait();
    }));
  };
  const TaskId id = runtime.block_on(main());
  began.wait();
  const Seen seen = see();
  EXPECT_EQ(seen.state_of(id), "blocking");
  EXPECT_EQ(seen.task(id)["name"].string(), "reads");
  EXPECT_THAT(seen.text_of(id), HasSubstr("\"reads\"  blocking"));
  end.count_down();
}

TEST(DumpOf, ARuntimeThatIsGone) {
  std::optional<Runtime> runtime = runtime_with(1);
  const TaskId id = let_run(runtime->spawn(pending_forever<void>()));
  see_idle({id});
  runtime.reset();
  EXPECT_EQ(see().find(id), nullptr);
}

TEST(DumpOf, NothingSaysSo) {
  const Seen seen = see();
  EXPECT_EQ(seen.json()["tasks"].number(), 0U);
  EXPECT_EQ(seen.text(), "0 tasks\n");
  EXPECT_EQ(seen.folded(), "");
}

// --- Where a task was spawned. ---

TEST(SpawnPlace, OfACallIsInsideOfThisProgram) {
  const Runtime runtime = runtime_with(1);
  const TaskId id = let_run(runtime.spawn([](int) { return pending_forever<void>(); }, 1));
  const Seen seen = see_idle({id});
  const auto offset = std::stoull(seen.task(id)["spawned"]["offset"].string(), nullptr, 16);
  const auto size = static_cast<std::size_t>(&etext - &__executable_start);
  EXPECT_GT(offset, 0U);
  EXPECT_LT(offset, size);
  EXPECT_THAT(seen.text_of(id), HasSubstr("sight_tests+0x"));
}

/// What addr2line says of an address, inlined calls, too.
std::optional<std::string> lines_by_addr2line(const Json& code) {
  const std::string command = "addr2line -i -e '" + code["module"].string() + "' " +
                              code["offset"].string() + " 2>/dev/null";
  FILE* const pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a test
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const bool is_known = ::pclose(pipe) == 0 && text.find("??") == std::string::npos;
  return is_known ? std::optional(text) : std::nullopt;
}

TEST(SpawnPlace, OfACallIsFoundByAddr2line) {
  const Runtime runtime = runtime_with(1);
  const int line = __LINE__ + 1;
  const TaskId id = let_run(runtime.spawn([](int) { return pending_forever<void>(); }, 1));
  const auto lines = lines_by_addr2line(see_idle({id}).task(id)["spawned"]);
  if (!lines) GTEST_SKIP() << "there is no addr2line, or no debug information";
  EXPECT_THAT(*lines, HasSubstr("dump_test.cpp:" + std::to_string(line)));
}

TEST(SpawnPlace, OfAFutureInATaskIsItsLine) {
  Runtime runtime = runtime_with(2);
  TaskId id = 0;
  auto main = [&]() -> Async<void> {
    id = let_run(spawn(pending_forever<void>()));  // spawned here
    co_return;
  };
  runtime.block_on(main());
  EXPECT_THAT(source_line(see_idle({id}).task(id)["spawned"]), HasSubstr("// spawned here"));
}

// --- What a task does. ---

TEST(DumpState, ATaskThatIsPolledIsRunning) {
  std::latch began(1);
  std::atomic<bool> go_on = false;
  const Runtime runtime = runtime_with(2);
  auto spins = [&]() -> Async<void> {
    began.count_down();
    while (!go_on.load()) std::this_thread::yield();
    co_return;
  };
  const TaskId id = let_run(task::Builder().name("spins").spawn_on(runtime.spawner(), spins));
  began.wait();
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const Seen seen = see();
    EXPECT_LT(std::chrono::steady_clock::now() - start, rouse::test::bound);
    EXPECT_EQ(seen.state_of(id), "running");
    EXPECT_FALSE(seen.task(id).has("waits"));
    EXPECT_THAT(seen.text_of(id), HasSubstr("\"spins\"  running"));
  }
  go_on = true;
  see_when([&](const Seen& seen) { return seen.find(id) == nullptr; });
}

TEST(DumpState, ATaskOfABusyLocalExecutorCanNotBeSeen) {
  std::latch began(1);
  std::atomic<bool> go_on = false;
  LocalExecutor executor;
  std::thread owner([&] {
    auto spins = [&]() -> Async<void> {
      began.count_down();
      while (!go_on.load()) std::this_thread::yield();
      co_return;
    };
    executor.run_until(spins());
  });
  began.wait();
  const auto start = std::chrono::steady_clock::now();
  const Seen seen = see();
  EXPECT_LT(std::chrono::steady_clock::now() - start, rouse::test::bound);
  EXPECT_THAT(seen.text(), HasSubstr("not seen: the thread that runs it has been in one poll"));
  EXPECT_THAT(seen.json()["executors"][0]["not_seen"].string(), HasSubstr("in one poll"));
  go_on = true;
  owner.join();
}

TEST(DumpState, ATaskThatBlocksInPlaceIsBlocking) {
  std::latch began(1);
  std::latch end(1);
  const Runtime runtime = runtime_with(1);
  auto blocks = [&]() -> Async<void> {
    co_await yield_now();
    block_in_place([&] {
      began.count_down();
      end.wait();
    });
  };
  const TaskId id = let_run(runtime.spawn(blocks));
  // The only worker goes on elsewhere.
  const TaskId other = let_run(runtime.spawn(pending_forever<void>()));
  began.wait();
  const Seen seen = see_idle({other});
  EXPECT_EQ(seen.state_of(id), "blocking");
  EXPECT_FALSE(seen.task(id).has("waits"));
  end.count_down();
  see_when([&](const Seen& now) { return now.find(id) == nullptr; });
}

TEST(DumpState, ATaskBehindOneThatIsPolledIsQueued) {
  std::latch began(1);
  std::latch end(1);
  sync::Notify told;
  const Runtime runtime = runtime_with(1);
  auto blocks = [&]() -> Async<void> {
    began.count_down();
    end.wait();
    co_return;
  };
  const TaskId first = let_run(runtime.spawn(blocks));
  began.wait();
  const TaskId second = let_run(runtime.spawn(borrowed(wait_for(told))));
  const Seen seen = see();
  EXPECT_EQ(seen.state_of(first), "running");
  EXPECT_EQ(seen.state_of(second), "queued");
  EXPECT_FALSE(seen.task(second).has("wakers"));
  end.count_down();
  see_idle({second});
  told.notify_waiters();
  see_when([&](const Seen& now) { return now.find(second) == nullptr; });
}

// --- Groups. ---

TEST(DumpGroups, EqualChainsAreOneGroupWithTheLowestId) {
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  std::vector<TaskId> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.push_back(let_run(runtime.spawn(borrowed(wait_for(told)))));
  }
  // Elsewhere, or with a name, they are others.
  const TaskId elsewhere = let_run(runtime.spawn(borrowed(wait_for(told))));
  const TaskId named =
      let_run(task::Builder().name("x").spawn_on(runtime.spawner(), borrowed(wait_for(told))));
  const std::uint64_t lowest = *std::min_element(ids.begin(), ids.end());
  const Seen seen = see_when([&](const Seen& now) {
    const Json* const group = now.find(lowest);
    return group != nullptr && (*group)["count"].number() == 1000 &&
           now.state_of(elsewhere) == "idle" && now.state_of(named) == "idle";
  });
  const Json& group = seen.task(lowest);
  EXPECT_EQ(group["count"].number(), 1000U);
  EXPECT_EQ(group["ids"][0].number(), lowest);
  EXPECT_EQ(group["ids"].items().size(), 4U);
  for (const Json& id : group["ids"].items()) {
    EXPECT_THAT(ids, ::testing::Contains(id.number()));
  }
  EXPECT_EQ(seen.task(elsewhere)["count"].number(), 1U);
  EXPECT_EQ(seen.task(named)["count"].number(), 1U);
  EXPECT_THAT(seen.text(), HasSubstr("1000 tasks (" + std::to_string(lowest) + ", "));
  told.notify_waiters();
  see_when([&](const Seen& now) { return now.json()["tasks"].number() == 0; });
}

}  // namespace
