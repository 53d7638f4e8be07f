// The code in docs/guide/03_tasks.md.
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>
#include <rouse/testing/gate.hpp>

namespace {

using rouse::testing::Gate;

// [fetch]
rouse::Async<std::size_t> fetch(const std::string& url) {
  co_await rouse::yield_now();  // stands for the real work
  if (url.empty()) throw std::runtime_error("no url");
  co_return url.size();
}
// [/fetch]

// [join]
rouse::Async<std::size_t> two_pages() {
  auto first = rouse::spawn(fetch, "one");
  auto second = rouse::spawn(fetch, "three");  // both run from here on
  const std::size_t a = co_await first;
  const std::size_t b = co_await second;
  co_return a + b;
}
// [/join]

TEST(TasksGuide, TwoTasksRunAtTheSameTime) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(two_pages()), 8U);
}

// [stop]
rouse::Async<bool> stopped() {
  auto task = rouse::spawn([]() -> rouse::Async<void> { co_await rouse::pending_forever<>(); });
  task.abort();
  try {
    co_await task;
  } catch (const rouse::JoinError& error) {
    co_return error.is_cancelled();
  }
  co_return false;
}
// [/stop]

TEST(TasksGuide, AnAbortedTaskIsJoinedWithAnError) {
  rouse::LocalExecutor executor;
  EXPECT_TRUE(executor.run_until(stopped()));
}

// [join_set]
rouse::Async<std::size_t> all_pages(std::vector<std::string> urls) {
  rouse::JoinSet<std::size_t> pages;
  for (const std::string& url : urls) pages.spawn(fetch, url);

  std::size_t total = 0;
  while (auto page = co_await pages.join_next()) total += *page;  // in the order of their ends
  co_return total;
}
// [/join_set]

// [first_page]
rouse::Async<std::size_t> first_page(std::vector<std::string> urls) {
  rouse::JoinSet<std::size_t> pages;
  for (const std::string& url : urls) pages.spawn(fetch, url);

  const auto first = co_await pages.join_next();
  co_await pages.shutdown();  // the others are aborted, and have ended here
  co_return first.value_or(0);
}
// [/first_page]

TEST(TasksGuide, AJoinSetJoinsManyTasks) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(all_pages({"one", "two", "three"})), 11U);
  EXPECT_EQ(executor.run_until(first_page({"one", "one", "one"})), 3U);
  EXPECT_EQ(executor.live_tasks(), 0U);
  EXPECT_THROW(executor.run_until(all_pages({"one", "", "three"})), std::runtime_error);
}

// [name]
rouse::Async<std::string> who_am_i() {
  co_return "task " + std::to_string(rouse::task::id()) + " " + std::string(rouse::task::name());
}

rouse::Async<std::string> named() {
  auto task = rouse::task::Builder().name("resolver").spawn(who_am_i);
  co_return co_await task;  // "task 17 resolver", for example
}
// [/name]

TEST(TasksGuide, ATaskHasAName) {
  rouse::LocalExecutor executor;
  EXPECT_TRUE(executor.run_until(named()).ends_with(" resolver"));
}

// [task_local]
inline rouse::TaskLocal<int> request_id;

std::string log_line(std::string_view text) {  // no coroutine, and no parameter for the id
  const int* id = request_id.try_get();
  return (id ? "[" + std::to_string(*id) + "] " : std::string("[-] ")) + std::string(text);
}

rouse::Async<std::string> handle(std::string request) {
  co_await rouse::yield_now();
  co_return log_line(request);
}

rouse::Async<std::string> serve() {
  const std::string first = co_await request_id.scope(1, handle("get"));
  const std::string second = co_await request_id.scope(2, handle("put"));
  co_return first + ", " + second + ", " + log_line("done");  // "[1] get, [2] put, [-] done"
}
// [/task_local]

// [task_local_spawn]
rouse::Async<std::string> spawned() {
  // A task that is spawned does not inherit the value. It gets a scope of its own.
  auto task = rouse::spawn(request_id.scope(request_id.get(), handle("spawned")));
  co_return co_await task;
}
// [/task_local_spawn]

TEST(TasksGuide, ATaskLocalFollowsTheWork) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(serve()), "[1] get, [2] put, [-] done");
  EXPECT_EQ(executor.run_until(request_id.scope(3, spawned())), "[3] spawned");
}

// [unconstrained]
rouse::Async<std::size_t> join_without_pause(rouse::JoinSet<std::size_t>& pages) {
  std::size_t total = 0;
  while (auto page = co_await rouse::unconstrained(pages.join_next())) total += *page;
  co_return total;
}
// [/unconstrained]

TEST(TasksGuide, UnconstrainedTakesNoBudget) {
  rouse::LocalExecutor executor;
  rouse::JoinSet<std::size_t> pages;
  constexpr std::size_t count = 1000;
  for (std::size_t i = 0; i < count; ++i) pages.spawn_on(executor.spawner(), fetch, "one");
  executor.run();
  std::size_t polls = 0;
  auto joins = join_without_pause(pages);
  auto counted = rouse::poll_fn([&](rouse::Context& cx) {
    ++polls;
    return joins.poll(cx);
  });
  EXPECT_EQ(executor.run_until(counted), 3 * count);
  EXPECT_EQ(polls, 1U);
}

// [local]
struct Cache {  // no locks in here
  int hits = 0;
};

rouse::Async<int> local_work() {
  auto cache = std::make_shared<Cache>();
  auto hit = [](std::shared_ptr<Cache> shared) -> rouse::Async<void> {
    ++shared->hits;
    co_return;
  };
  rouse::JoinSet<> tasks;
  for (int i = 0; i < 3; ++i) tasks.spawn_local(hit, cache);  // stays on this thread
  while (co_await tasks.join_next()) {
  }
  co_return cache->hits;
}
// [/local]

TEST(TasksGuide, LocalTasksNeedNoLocks) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(local_work()), 3);
}

TEST(TasksGuide, ALocalSetRunsBesideARuntime) {
  rouse::LocalExecutor runtime;
  Gate<> stop;
  std::jthread thread([&] { runtime.run_until(stop.wait()); });
  // [local_set]
  rouse::LocalSet set;
  const auto main = []() -> rouse::Async<std::size_t> {
    const std::size_t page = co_await rouse::spawn(fetch, "one");  // runs on the runtime
    const int hits = co_await rouse::spawn_local(local_work);      // runs on this thread
    co_return page + static_cast<std::size_t>(hits);
  };
  EXPECT_EQ(set.block_on(runtime, main()), 6U);
  // [/local_set]
  stop.open();
}

}  // namespace
