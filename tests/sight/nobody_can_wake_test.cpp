// A dump says which tasks nobody can wake; and of no other task that it is one.
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/exec/await_local_set.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "sight/seen.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::let_run;
using rouse::test::runtime_with;
using rouse::test::see;
using rouse::test::see_idle;
using rouse::test::see_when;
using rouse::test::Seen;
using ::testing::HasSubstr;
using ::testing::Not;

/// Keeps no waker.
class Forgetful {
 public:
  using Output = void;
  Poll<void> poll(Context&) { return pending; }
};
/// Keeps it, and gives it away.
class Remembers {
 public:
  using Output = void;
  explicit Remembers(Waker& kept) : kept_(&kept) {}
  Poll<void> poll(Context& cx) {
    *kept_ = cx.waker();
    return pending;
  }

 private:
  Waker* kept_;
};

Async<void> forgets() {
  co_await Forgetful();  // keeps no waker
}

void expect_nobody_can_wake(TaskId id) {
  const Seen seen = see_when([&](const Seen& now) { return now.state_of(id) == "idle"; });
  EXPECT_TRUE(seen.task(id).has("nobody_can_wake"));
  EXPECT_EQ(seen.task(id)["wakers"].number(), 0U);
  EXPECT_THAT(seen.text(), HasSubstr("1 that nobody can wake\n"));
  EXPECT_THAT(seen.text_of(id), HasSubstr("-> NOBODY CAN WAKE IT\n"));
  EXPECT_THAT(seen.text_of(id), HasSubstr("Forgetful\n"));
  // Such tasks come first.
  EXPECT_LT(seen.text().find("NOBODY CAN WAKE IT"), seen.text().find("\n== "));
}

TEST(NobodyCanWake, ATaskOfAPoolWhoseFutureKeptNoWaker) {
  const Runtime runtime = runtime_with(2);
  expect_nobody_can_wake(let_run(runtime.spawn(forgets())));
}

TEST(NobodyCanWake, ATaskThatIsJoined) {
  const Runtime runtime = runtime_with(2);
  const auto handle = runtime.spawn(forgets());
  expect_nobody_can_wake(handle.id());
}

TEST(NobodyCanWake, ATaskOfALocalExecutorWhoseFutureKeptNoWaker) {
  LocalExecutor executor;
  TaskId id = 0;
  auto main = [&]() -> Async<void> {
    id = let_run(spawn(forgets()));
    co_await yield_now();
  };
  executor.run_until(main());
  expect_nobody_can_wake(id);
}

TEST(NobodyCanWake, ATaskThatBecomesOne) {
  Waker kept;
  const Runtime runtime = runtime_with(1);
  const TaskId id = let_run(runtime.spawn(borrowed(Remembers(kept))));
  Seen seen = see_idle({id});
  EXPECT_FALSE(seen.task(id).has("nobody_can_wake"));
  EXPECT_EQ(seen.task(id)["wakers"].number(), 1U);
  Waker another = kept;
  EXPECT_EQ(see_idle({id}).task(id)["wakers"].number(), 2U);
  another = Waker();
  kept = Waker();
  seen = see_idle({id});
  EXPECT_TRUE(seen.task(id).has("nobody_can_wake"));
  EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 1U);
}

/// What waits as it should: all that a program may wait for at once.
class WaitsProperly {
 public:
  explicit WaitsProperly(const Spawner& spawner) {
    const auto add = [&](auto handle) { ids.push_back(let_run(std::move(handle))); };
    add(spawner.spawn(sleep(1h)));
    add(spawner.spawn(pending_forever<void>()));
    add(spawner.spawn([](sync::Mutex<int>& it) -> Async<void> { (void)co_await it.lock(); },
                      std::ref(mutex_)));
    add(spawner.spawn([](sync::Receiver<int>& from) -> Async<void> { (void)co_await from.recv(); },
                      std::ref(channel_.second)));
    add(spawner.spawn([]() -> Async<void> { co_await spawn(sleep(1h)); }));
    add(spawner.spawn([]() -> Async<void> {
      JoinSet<void> set;
      for (int i = 0; i < 3; ++i) set.spawn(sleep(1h));
      co_await set.join_next();
    }));
    add(spawner.spawn(
        []() -> Async<void> { co_await select(pending_forever<void>(), sleep(1h)); }));
    add(spawner.spawn([]() -> Async<void> { co_await join(sleep(1h), sleep(2h)); }));
    add(spawner.spawn([]() -> Async<void> { co_await timeout(1h, pending_forever<void>()); }));
    add(spawner.spawn([]() -> Async<void> {
      std::vector<Async<void>> all;
      for (int i = 0; i < 50; ++i) all.push_back(sleeps());
      co_await join_all(std::move(all));
    }));
    add(spawner.spawn([]() -> Async<void> { co_await parallel(sleeps(), sleeps()); }));
    add(spawner.spawn([]() -> Async<void> {
      auto body = [](Scope& children) -> Async<void> {
        children.spawn(sleeps());
        co_return;
      };
      co_await scope(body);
    }));
    add(spawner.spawn([]() -> Async<void> {
      LocalSet set;
      set.spawn_local(sleeps()).detach();
      co_await run_all(set);
    }));
  }
  WaitsProperly(const WaitsProperly&) = delete;
  WaitsProperly& operator=(const WaitsProperly&) = delete;

  std::vector<TaskId> ids;

 private:
  static Async<void> sleeps() { co_await sleep(1h); }

  sync::Mutex<int> mutex_;
  std::optional<sync::MutexGuard<int>> guard_ = mutex_.try_lock();
  std::pair<sync::Sender<int>, sync::Receiver<int>> channel_ = sync::channel<int>(1);
};

/// All tasks that there are wait.
bool is_all_idle(const Seen& seen) {
  for (const rouse::test::Json* group : seen.groups()) {
    if ((*group)["state"].string() != "idle") return false;
  }
  return true;
}

void expect_all_can_be_woken(const WaitsProperly& tasks) {
  for (int round = 0; round < 20; ++round) {
    const Seen seen = see();
    EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 0U) << seen.text();
    EXPECT_THAT(seen.text(), Not(HasSubstr("NOBODY")));
  }
  const Seen seen = see_when([&](const Seen& now) {
    for (const TaskId id : tasks.ids) {
      if (now.state_of(id) != "idle") return false;
    }
    return is_all_idle(now);
  });
  EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 0U) << seen.text();
}

TEST(SomebodyCanWake, TasksOfAPoolThatWaitAsTheyShould) {
  std::optional<Runtime> runtime = runtime_with(2);
  const WaitsProperly tasks(runtime->spawner());
  expect_all_can_be_woken(tasks);
  runtime.reset();
}

TEST(SomebodyCanWake, TasksOfACurrentThreadRuntimeThatWaitAsTheyShould) {
  std::optional<Runtime> runtime = Runtime::builder().current_thread().build();
  const WaitsProperly tasks(runtime->spawner());
  sync::Notify end;
  std::thread owner([&] { runtime->block_on(end.notified()); });
  expect_all_can_be_woken(tasks);
  end.notify_one();
  owner.join();
  // Nobody is in it.
  EXPECT_EQ(see().json()["nobody_can_wake"].number(), 0U);
  runtime.reset();
}

/// While its parent is dropped, which waits for another branch, nobody may look at its chain: so
/// nobody knows that it is meant to wait for ever.
TEST(SomebodyCanWake, ABranchWhoseParentIsDropped) {
  sync::Notify told;
  std::latch began(1);
  std::atomic<bool> go_on = false;
  const Runtime runtime = runtime_with(3);
  auto spins = [&]() -> Async<void> {
    began.count_down();
    while (!go_on.load()) std::this_thread::yield();
    co_return;
  };
  auto forks = [&]() -> Async<void> {
    co_await parallel(pending_forever<void>(), spins(), told.notified());
  };
  auto parent = runtime.spawn(forks);
  began.wait();
  see_when([&](const Seen& seen) {
    return seen.state_of(parent.id()) == "idle" &&
           seen.text().find("pending_forever") != std::string::npos;
  });
  parent.abort();
  // Its end is under way, and can't be reached.
  see_when([&](const Seen& seen) {
    const std::string state = seen.state_of(parent.id());
    return state == "running" || state == "blocking";
  });
  for (int round = 0; round < 20; ++round) {
    const Seen seen = see(sight::DumpOptions().patience(1ms));
    EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 0U) << seen.text();
  }
  go_on = true;
  see_when([&](const Seen&) { return parent.is_finished(); });
}

/// Dumps when it is destroyed.
class DumpsWhenItGoes {
 public:
  explicit DumpsWhenItGoes(std::string& to) : to_(&to) {}
  DumpsWhenItGoes(const DumpsWhenItGoes&) = delete;
  DumpsWhenItGoes& operator=(const DumpsWhenItGoes&) = delete;
  ~DumpsWhenItGoes() { *to_ = sight::dump().json(); }

 private:
  std::string* to_;
};

/// Timers and locks have let go of their wakers, but the tasks are about to end.
TEST(SomebodyCanWake, TasksThatEndWithTheirExecutor) {
  for (const bool current_thread : {false, true}) {
    std::string json;
    sync::Mutex<int> mutex;
    {
      Runtime runtime =
          current_thread ? Runtime::builder().current_thread().build() : runtime_with(2);
      std::atomic<int> waiting = 0;
      auto holds = [&]() -> Async<void> {
        const DumpsWhenItGoes at_end(json);
        const auto guard = co_await mutex.lock();
        ++waiting;
        co_await sleep(1h);
      };
      auto sleeps = [&]() -> Async<void> {
        ++waiting;
        co_await sleep(1h);
      };
      auto locks = [&]() -> Async<void> {
        ++waiting;
        const auto guard = co_await mutex.lock();
      };
      let_run(runtime.spawn(holds));
      auto until = [&](int count) -> Async<void> {
        while (waiting.load() < count) co_await yield_now();
      };
      runtime.block_on(until(1));
      for (int i = 0; i < 3; ++i) {
        let_run(runtime.spawn(sleeps));
        let_run(runtime.spawn(locks));
      }
      runtime.block_on(until(7));
    }
    EXPECT_EQ(Seen(json).json()["nobody_can_wake"].number(), 0U) << json;
  }
}

/// Its wake is on its way to the executor's thread, which shows it to a dump.
TEST(SomebodyCanWake, ATaskThatOtherThreadsHaveWokenAndLetGo) {
  for (int round = 0; round < 5; ++round) {
    Waker kept;
    std::optional<JoinHandle<>> handle;
    std::latch began(1);
    std::atomic<bool> go_on = false;
    sync::Notify end;
    LocalExecutor executor;
    std::thread owner([&] {
      auto main = [&]() -> Async<void> {
        handle = spawn(borrowed(Remembers(kept)));
        co_await yield_now();
        began.count_down();
        while (!go_on.load()) std::this_thread::yield();
        co_await end.notified();
      };
      executor.run_until(main());
    });
    began.wait();
    std::string json;
    std::thread dumper([&] { json = sight::dump(sight::DumpOptions().patience(60s)).json(); });
    // Where the dump is by now is up to luck, but it fails nowhere.
    const auto soon = std::chrono::steady_clock::now() + 5ms;
    while (std::chrono::steady_clock::now() < soon) std::this_thread::yield();
    std::move(kept).wake();
    handle->detach();
    go_on = true;
    dumper.join();
    const Seen seen(json);
    EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 0U) << json;
    end.notify_one();
    owner.join();
  }
}

/// What a dump did not see to its end may be meant to wait for ever.
TEST(SomebodyCanWake, ATaskWhoseChainIsTooLongToBeSeen) {
  const Runtime runtime = runtime_with(2);
  AnyFuture<void> nested = pending_forever<void>();
  for (int i = 0; i < 1000; ++i) {
    auto wraps = [](AnyFuture<void> inner) -> Async<void> { co_await select(std::move(inner)); };
    nested = wraps(std::move(nested));
  }
  const TaskId id = let_run(runtime.spawn(std::move(nested)));
  EXPECT_FALSE(see_idle({id}).task(id).has("nobody_can_wake"));
}

/// A handle to abort it is not a waker, but may make it go.
TEST(SomebodyCanWake, ATaskThatIsWokenAgainAndAgain) {
  const Runtime runtime = runtime_with(2);
  std::atomic<bool> go_on = true;
  auto yields = [&]() -> Async<void> {
    while (go_on.load()) co_await yield_now();
  };
  auto first = runtime.spawn(yields);
  auto second = runtime.spawn([&]() -> Async<void> {
    while (go_on.load()) co_await sleep(10us);
  });
  for (int round = 0; round < 300; ++round) {
    const Seen seen = see(sight::DumpOptions().patience(100us));
    EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 0U) << seen.text();
    EXPECT_NE(seen.find(first.id()), nullptr);
    EXPECT_NE(seen.find(second.id()), nullptr);
  }
  go_on = false;
  see_when([&](const Seen&) { return first.is_finished() && second.is_finished(); });
}

}  // namespace
