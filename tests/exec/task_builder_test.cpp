// task::id, task::name and task::Builder: what a task knows of itself, and who else hears of it.
#include "rouse/exec/task_builder.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

namespace rouse {

using namespace internal;
namespace {

// Too long to fit into the string object, so that ASan sees a dangling one.
constexpr const char* heap_name = "a name that lives on the heap, not inside its string object";

Async<TaskId> own_id() {
  co_await yield_now();
  co_return task::id();
}
Async<std::string> own_name() {
  co_await yield_now();
  co_return std::string(task::name());
}
Async<std::string> own_name_and(const std::string& text) {
  co_await yield_now();
  co_return std::string(task::name()) + text;
}
Async<void> fails_by_name() {
  co_await yield_now();
  throw std::runtime_error("no luck");
}

TEST(ThisTask, HasTheIdOfItsJoinHandle) {
  LocalExecutor executor;
  auto first = executor.spawn(own_id);
  auto second = executor.spawn(own_id);
  const TaskId first_id = first.id();
  const TaskId second_id = second.id();
  executor.run();
  EXPECT_NE(first_id, second_id);
  EXPECT_EQ(executor.run_until(first), first_id);
  EXPECT_EQ(executor.run_until(second), second_id);
}

TEST(ThisTask, OutsideOfTasksTheIdIsZeroAndTheNameIsEmpty) {
  EXPECT_EQ(task::id(), 0U);
  EXPECT_EQ(task::name(), "");
  LocalExecutor executor;
  executor.spawn(own_id).detach();
  executor.run();
  EXPECT_EQ(task::id(), 0U);
  EXPECT_EQ(block_on(own_id()), 0U);
}

TEST(ThisTask, WithoutANameIsEmpty) {
  LocalExecutor executor;
  EXPECT_EQ(executor.run_until(executor.spawn(own_name)), "");
  auto unnamed = []() -> Async<std::string> { co_return co_await task::Builder().spawn(own_name); };
  EXPECT_EQ(executor.run_until(unnamed()), "");
}

TEST(TaskBuilder, NamesATaskThatIsAFunctionWithArguments) {
  LocalExecutor executor;
  auto run = []() -> Async<std::string> {
    auto named = task::Builder().name(heap_name).spawn(own_name_and, "!");
    co_return co_await named;
  };
  EXPECT_EQ(executor.run_until(run()), std::string(heap_name) + "!");
}

TEST(TaskBuilder, NamesATaskThatIsAFuture) {
  LocalExecutor executor;
  auto run = []() -> Async<std::string> {
    co_return co_await task::Builder().name(heap_name).spawn(own_name());
  };
  EXPECT_EQ(executor.run_until(run()), heap_name);
}

TEST(TaskBuilder, NamesOnlyItsOwnTaskAndNotThoseThatOneSpawns) {
  LocalExecutor executor;
  auto run = []() -> Async<std::string> {
    const std::string child = co_await spawn(own_name);
    co_return std::string(task::name()) + "/" + child;
  };
  EXPECT_EQ(executor.run_until(task::Builder().name("parent").spawn_on(executor.spawner(), run)),
            "parent/");
}

TEST(TaskBuilder, SpawnsAnyNumberOfTasks) {
  LocalExecutor executor;
  task::Builder builder;
  builder.name("worker");
  auto a = builder.spawn_on(executor.spawner(), own_name);
  auto b = builder.name("other").spawn_on(executor.spawner(), own_name_and, "+");
  executor.run();
  EXPECT_EQ(executor.run_until(a), "worker");
  EXPECT_EQ(executor.run_until(b), "other+");
}

TEST(TaskBuilder, SpawnsOnTheExecutorOfASpawnerFromAnotherThread) {
  LocalExecutor executor;
  testing::Gate<std::string> answer;
  std::jthread thread([&answer, spawner = executor.spawner()] {
    answer.open(block_on(task::Builder().name("from afar").spawn_on(spawner, own_name)));
  });
  EXPECT_EQ(executor.run_until(answer.wait()), "from afar");
}

TEST(TaskBuilder, SpawnsOnTheLocalExecutorOfThisThread) {
  LocalExecutor executor;
  auto run = []() -> Async<std::string> {
    auto a = task::Builder().name("bound").spawn_local(own_name);
    auto b = task::Builder().name("bound").spawn_local(own_name_and, " too");
    const std::string first = co_await a;
    const std::string second = co_await b;
    co_return first + ", " + second;
  };
  EXPECT_EQ(executor.run_until(run()), "bound, bound too");
}

TEST(TaskBuilder, TheNameIsThereWhileTheTaskIsCancelled) {
  LocalExecutor executor;
  std::string seen;
  auto note_name = [](std::string* into) { *into = task::name(); };
  auto waits = [&]() -> Async<void> {
    const std::unique_ptr<std::string, decltype(note_name)> at_end(&seen, note_name);
    co_await pending_forever<>();
  };
  auto waiting = task::Builder().name(heap_name).spawn_on(executor.spawner(), waits);
  executor.run_until(yield_now());
  waiting.abort();
  executor.run();
  EXPECT_EQ(seen, heap_name);
}

TEST(TaskBuilder, TheHookForUnhandledExceptionsGetsTheName) {
  LocalExecutor executor;
  std::vector<std::string> names;
  executor.on_unhandled(
      [&](const UnhandledException& unhandled) { names.push_back(unhandled.name); });
  task::Builder().name(heap_name).spawn_on(executor.spawner(), fails_by_name).detach();
  executor.run();
  executor.spawn(fails_by_name).detach();
  executor.run();
  EXPECT_EQ(names, (std::vector<std::string>{heap_name, ""}));
}

TEST(TaskBuilder, TheLineOnStderrShowsTheName) {
  LocalExecutor executor;
  task::Builder().name("resolver").spawn_on(executor.spawner(), fails_by_name).detach();
  ::testing::internal::CaptureStderr();
  executor.run();
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(" \"resolver\" ("), std::string::npos) << line;
}

TEST(TaskBuilderDeathTest, AFutureThatBorrowsIsRefusedByName) {
  LocalExecutor executor;
  const std::string text = "gone before the task";
  EXPECT_DEATH(task::Builder().name("n").spawn_on(executor.spawner(), own_name_and(text)).detach(),
               "spawn of a coroutine that borrows.*own_name_and");
}

TEST(TaskBuilderDeathTest, OutsideOfATaskItSaysWhatToDo) {
  EXPECT_DEATH(task::Builder().name("n").spawn(own_name).detach(), "spawn without an executor");
}

static_assert(sizeof(Task<YieldNow>) < sizeof(Task<YieldNow, std::string>),
              "a task without a name has no room for one");

}  // namespace
}  // namespace rouse
