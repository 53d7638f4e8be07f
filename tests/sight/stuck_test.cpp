// find_stuck: tasks that can't go on are found, and tasks that can never are.
#include "rouse/sight/stuck.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/by_ref.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/shared.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sight/name.hpp"
#include "rouse/sync/barrier.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/once_cell.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse::sight {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Lock = sync::Mutex<int>;
using Guard = sync::MutexGuard<int>;

Async<void> lock_both(Lock& first, Lock& second, sync::Barrier& both_have_one) {
  const auto one = co_await first.lock();
  co_await both_have_one.wait();
  const auto other = co_await second.lock();
}

Async<void> lock_twice(Lock& lock) {
  const auto one = co_await lock.lock();
  const auto other = co_await lock.lock();
}

/// Until it finds as many.
std::vector<Stuck> find_so_many(std::size_t count) {
  for (;;) {
    std::vector<Stuck> found = find_stuck();
    if (found.size() == count) return found;
    EXPECT_LT(found.size(), count);
    std::this_thread::yield();
  }
}

/// Tasks that are aborted in the end.
class StuckTasks {
 public:
  explicit StuckTasks(Runtime& rt) : rt_(rt) {}
  StuckTasks(const StuckTasks&) = delete;
  StuckTasks& operator=(const StuckTasks&) = delete;
  ~StuckTasks() {
    for (auto& task : tasks_) task.abort();
    for (auto& task : tasks_) end(std::move(task));
  }
  TaskId add(JoinHandle<void> task) {
    tasks_.push_back(std::move(task));
    return tasks_.back().id();
  }

 private:
  /// It may go on when another is aborted, and end before it is aborted itself.
  void end(JoinHandle<void> task) {
    try {
      rt_.block_on(std::move(task));
    } catch (const JoinError&) {
    }
  }

  Runtime& rt_;
  std::vector<JoinHandle<void>> tasks_;
};

TEST(Stuck, TwoTasksThatLockTwoMutexesInDifferentOrder) {
  Runtime rt;
  Lock first;
  Lock second;
  const auto named = name(first, "accounts");
  sync::Barrier barrier(2);
  StuckTasks tasks(rt);
  const TaskId a =
      tasks.add(rt.spawn(lock_both, std::ref(first), std::ref(second), std::ref(barrier)));
  const TaskId b =
      tasks.add(rt.spawn(lock_both, std::ref(second), std::ref(first), std::ref(barrier)));
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_EQ(found[0].kind, Stuck::Kind::deadlock);
  EXPECT_THAT(found[0].tasks, UnorderedElementsAre(a, b));
  EXPECT_THAT(found[0].text, HasSubstr("acquired by task " + std::to_string(a)));
  EXPECT_THAT(found[0].text, HasSubstr("\"accounts\", acquired by task " + std::to_string(a)));
  EXPECT_THAT(found[0].text, HasSubstr("stuck_test.cpp"));
  const Report report = dump();
  EXPECT_THAT(report.text(), HasSubstr("DEADLOCK 1"));
  EXPECT_THAT(report.json(), HasSubstr("\"deadlocks\":["));
}

Async<void> lock_next_one(std::vector<Lock>& locks, std::size_t own, sync::Barrier& all_have_one) {
  const auto one = co_await locks[own].lock();
  co_await all_have_one.wait();
  const auto other = co_await locks[(own + 7) % locks.size()].lock();
}

/// Each waits for the next one that is told.
TEST(Stuck, AThousandTasksInARing) {
  constexpr std::size_t count = 1000;
  Runtime rt;
  std::vector<Lock> locks(count);
  sync::Barrier barrier(count);
  StuckTasks tasks(rt);
  std::vector<TaskId> ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(tasks.add(rt.spawn(lock_next_one, std::ref(locks), i, std::ref(barrier))));
  }
  const Stuck found = std::move(find_so_many(1)[0]);
  ASSERT_EQ(found.tasks.size(), count);
  std::vector<std::size_t> numbers;
  for (const TaskId id : found.tasks) {
    numbers.push_back(static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin()));
  }
  for (std::size_t i = 0; i + 1 < count; ++i) EXPECT_EQ(numbers[i + 1], (numbers[i] + 7) % count);
  EXPECT_THAT(found.text, HasSubstr("... 984 more tasks"));
}

Async<void> lock_once(Lock& lock) { const auto guard = co_await lock.lock(); }
Async<void> join_many(Lock& lock) {
  const auto guard = co_await lock.lock();
  std::vector<JoinHandle<void>> children;
  for (int i = 0; i < 100; ++i) children.push_back(spawn(lock_once, std::ref(lock)));
  co_await join_all(std::move(children));
}

TEST(Stuck, ATaskThatJoinsManyThatWaitForItsLock) {
  Lock lock;
  Runtime rt;
  StuckTasks tasks(rt);
  tasks.add(rt.spawn(join_many, std::ref(lock)));
  EXPECT_EQ(find_so_many(1)[0].tasks.size(), 101U);
}

TEST(Stuck, ATaskThatLocksAMutexTwice) {
  Runtime rt;
  Lock lock;
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(lock_twice, std::ref(lock)));
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_THAT(found[0].tasks, UnorderedElementsAre(id));
  EXPECT_THAT(found[0].text, HasSubstr("waits for itself"));
}

Async<Guard> lock_for_who_awaits(Lock& lock) { co_return co_await lock.lock(); }
Async<Guard> lock_for_longer(Lock& lock) {
  Guard guard = co_await lock_for_who_awaits(lock);
  co_return guard;
}
Async<void> lock_twice_by_others(Lock& lock) {
  const auto one = co_await lock_for_longer(lock);
  const auto other = co_await lock_for_longer(lock);
}

/// A result goes to who awaits it, in the same task.
TEST(Stuck, ATaskThatLocksAMutexTwiceByCoroutinesThatReturnTheGuard) {
  Runtime rt;
  Lock lock;
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(lock_twice_by_others, std::ref(lock)));
  EXPECT_THAT(find_so_many(1)[0].tasks, UnorderedElementsAre(id));
}

Async<void> join_so_many(Lock& lock, int tasks) {
  if (tasks == 1) co_return co_await lock_twice(lock);
  co_await spawn(join_so_many, std::ref(lock), tasks - 1);
}

/// Each task is looked at once, also if many lead to a deadlock that is not theirs.
TEST(Stuck, TheEndOfALongChainOfJoins) {
  Lock lock;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  StuckTasks tasks(rt);
  const TaskId first = tasks.add(rt.spawn(join_so_many, std::ref(lock), 30'000));
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_THAT(found[0].text, HasSubstr("waits for itself"));
  EXPECT_NE(found[0].tasks[0], first);
}

Async<void> spawn_and_end(std::atomic<bool>& is_over) {
  while (!is_over.load()) {
    auto ends_at_once = []() -> Async<void> { co_return; };
    for (int i = 0; i < 50; ++i) spawn(ends_at_once).detach();
    co_await yield_now();
  }
}

/// A suspicion is verified among tasks that are not held, and end.
TEST(Stuck, IsFoundWhileOtherTasksEnd) {
  std::atomic<bool> is_over{false};
  Lock lock;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(lock_twice, std::ref(lock)));
  auto first = rt.spawn(spawn_and_end, std::ref(is_over));
  auto second = rt.spawn(spawn_and_end, std::ref(is_over));
  for (int i = 0; i < 200; ++i) {
    EXPECT_THAT(find_so_many(1)[0].tasks, ::testing::ElementsAre(id));
  }
  is_over = true;
  rt.block_on(std::move(first));
  rt.block_on(std::move(second));
}

TEST(Stuck, OnACurrentThreadRuntime) {
  Runtime rt = Runtime::builder().current_thread().build();
  Lock lock;
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(lock_twice, std::ref(lock)));
  rt.block_on(yield_now());
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_THAT(found[0].tasks, UnorderedElementsAre(id));
}

Async<void> lock_in_a_scope(Lock& lock) {
  const auto guard = co_await lock.lock();
  co_await scope([&](Scope& children) {
    children.spawn(lock_once, std::ref(lock));
    children.spawn(lock_once, std::ref(lock));
  });
}

TEST(Stuck, AScopeWhoseChildrenWaitForALockOfItsTask) {
  for (auto builder : {Runtime::builder().worker_threads(2), Runtime::builder().current_thread()}) {
    Lock lock;
    Runtime rt = builder.build();
    auto task = rt.spawn(lock_in_a_scope, std::ref(lock));
    rt.block_on(yield_now());
    const Stuck found = std::move(find_so_many(1)[0]);
    EXPECT_EQ(found.tasks.size(), 3U);
    EXPECT_THAT(found.tasks, ::testing::Contains(task.id()));
    EXPECT_THAT(found.text, HasSubstr("children of the scope"));
  }
}

/// The first child runs in the task itself, and ends; the others are tasks.
Async<void> lock_in_branches(Lock& lock) {
  const auto guard = co_await lock.lock();
  co_await parallel(lock_once(lock), lock_once(lock), yield_now());
}

TEST(Stuck, BranchesThatWaitForALockOfTheirTask) {
  Lock lock;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  auto task = rt.spawn(lock_in_branches, std::ref(lock));
  const Stuck found = std::move(find_so_many(1)[0]);
  EXPECT_THAT(found.tasks, ::testing::Contains(task.id()));
}

Async<void> write_twice(sync::RwLock<int>& lock) {
  const auto one = co_await lock.write();
  const auto other = co_await lock.read();
}

TEST(Stuck, AWriterThatReads) {
  Runtime rt;
  sync::RwLock<int> lock;
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(write_twice, std::ref(lock)));
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_THAT(found[0].tasks, UnorderedElementsAre(id));
}

Async<int> make_of_itself(sync::OnceCell<int>& cell) {
  co_return co_await cell.get_or_init([&cell] { return make_of_itself(cell); });
}
Async<void> make_value(sync::OnceCell<int>& cell) { (void)co_await make_of_itself(cell); }

TEST(Stuck, ACellWhoseInitializerAsksForIt) {
  Runtime rt;
  sync::OnceCell<int> cell;
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(make_value, std::ref(cell)));
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_THAT(found[0].tasks, UnorderedElementsAre(id));
  EXPECT_THAT(found[0].text, HasSubstr("OnceCell"));
}

/// Waits for a task that it is given later.
Async<void> join_later(sync::Receiver<JoinHandle<void>> handles) {
  auto handle = co_await handles.recv();
  co_await *handle;
}

TEST(Stuck, TwoTasksThatJoinEachOther) {
  Runtime rt;
  auto [to_first, of_first] = sync::channel<JoinHandle<void>>(1);
  auto [to_second, of_second] = sync::channel<JoinHandle<void>>(1);
  auto first = rt.spawn(join_later, std::move(of_first));
  auto second = rt.spawn(join_later, std::move(of_second));
  const TaskId a = first.id();
  const TaskId b = second.id();
  (void)rt.block_on(to_first.send(std::move(second)));
  (void)rt.block_on(to_second.send(std::move(first)));
  EXPECT_THAT(find_so_many(1)[0].tasks, UnorderedElementsAre(a, b));
}

/// Keeps no waker.
class Forgetful {
 public:
  using Output = void;
  Forgetful() noexcept {}
  Poll<void> poll(Context&) { return pending; }
};
Async<void> forget() { co_await Forgetful(); }

TEST(Stuck, ATaskThatNobodyCanWake) {
  Runtime rt;
  StuckTasks tasks(rt);
  const TaskId id = tasks.add(rt.spawn(forget()));
  const std::vector<Stuck> found = find_so_many(1);
  EXPECT_EQ(found[0].kind, Stuck::Kind::forgotten);
  EXPECT_THAT(found[0].tasks, UnorderedElementsAre(id));
  EXPECT_THAT(found[0].text, HasSubstr("NOBODY CAN WAKE IT"));
  EXPECT_THAT(found[0].text, HasSubstr("forget()"));
}

// --- What is not stuck. ---

Async<void> lock_or_time(Lock& lock) {
  const auto one = co_await lock.lock();
  co_await select(lock.lock(), sleep(std::chrono::hours(1)));
}

/// Waits until the task is idle: it shows what it waits for.
void wait_until_shown(const std::string& text) {
  while (dump().text().find(text) == std::string::npos) std::this_thread::yield();
}

TEST(Stuck, ASelectWithATimerIsNot) {
  Runtime rt;
  Lock lock;
  StuckTasks tasks(rt);
  tasks.add(rt.spawn(lock_or_time, std::ref(lock)));
  wait_until_shown("select, one of");
  EXPECT_TRUE(find_stuck().empty());
}

Async<int> take_long() {
  co_await sleep(std::chrono::hours(1));
  co_return 1;
}
Async<void> make_in_a_handler(sync::OnceCell<int>& cell) {
  (void)co_await cell.get_or_init(
      [] { return select(on(yield_now(), [] { return take_long(); })); });
}

/// What a handler of a select does is not told: so nobody knows whether it goes on.
TEST(Stuck, AnInitializerThatNobodySeesIsNot) {
  Runtime rt;
  sync::OnceCell<int> cell;
  StuckTasks tasks(rt);
  tasks.add(rt.spawn(make_in_a_handler, std::ref(cell)));
  wait_until_shown("get_or_init");
  EXPECT_TRUE(find_stuck().empty());
}

Async<void> hold_until(Lock& lock, sync::Notify& end) {
  const auto guard = co_await lock.lock();
  co_await end.notified();
}

TEST(Stuck, ALockWhoseHolderGoesOnIsNot) {
  Runtime rt;
  Lock lock;
  sync::Notify end;
  auto holder = rt.spawn(hold_until, std::ref(lock), std::ref(end));
  wait_until_shown("waits for Notify");
  auto waiter = rt.spawn(lock_once, std::ref(lock));
  wait_until_shown("acquired by task " + std::to_string(holder.id()));
  EXPECT_TRUE(find_stuck().empty());
  end.notify_one();
  rt.block_on(std::move(waiter));
  rt.block_on(std::move(holder));
}

Async<void> never_end() { co_await pending_forever(); }
Async<void> join_one(JoinHandle<void> task) { co_await std::move(task); }

Async<void> lock_until(Lock& lock, sync::Notify& locked, sync::Notify& end) {
  const auto held = co_await lock.lock();
  locked.notify_one();
  co_await end.notified();
}

/// Locks by way of a copy that it drops, and leaves the lock to who has another copy.
template <class S>
Async<void> lock_after_leaving(S copy, Lock& lock, sync::Notify& locked) {
  (void)co_await select(std::move(copy), locked.notified());
  const auto held = co_await lock.lock();
}
template <class S>
Async<void> wait_for_it(S copy) {
  co_await copy;
}

/// A future of several tasks belongs to none of them, and so does a lock that it has.
TEST(Stuck, WhoWaitsForALockOfASharedFutureIsNot) {
  Lock lock;
  sync::Notify locked;
  sync::Notify end;
  Runtime rt = Runtime::builder().current_thread().build();
  auto both = shared(borrowed(lock_until(lock, locked, end)));
  auto first = rt.spawn(borrowed(lock_after_leaving(both, lock, locked)));
  auto second = rt.spawn(wait_for_it(std::move(both)));
  auto look = []() -> Async<void> {
    for (int i = 0; i < 10; ++i) co_await yield_now();  // until all wait
    EXPECT_THAT(find_stuck(), ::testing::IsEmpty());
    EXPECT_THAT(dump().text(), HasSubstr("waits for Mutex"));
  };
  rt.block_on(look());
  end.notify_one();
  rt.block_on(std::move(first));
  rt.block_on(std::move(second));
}

Async<void> keep_until(Guard guard, sync::Notify& end) {
  co_await end.notified();
  guard.unlock();
}
Async<void> keep_in(std::optional<Guard>& place, sync::Notify& end) {
  co_await end.notified();
  place.reset();
}
Async<void> pass_on_to_a_task(Lock& lock, sync::Notify& end) {
  auto guard = co_await lock.lock();
  spawn(keep_until, std::move(guard), std::ref(end)).detach();
  const auto again = co_await lock.lock();
}
Async<void> pass_on_at_once(Lock& lock, sync::Notify& end) {
  spawn(borrowed(keep_until(co_await lock.lock(), end))).detach();
  const auto again = co_await lock.lock();
}
Async<void> pass_on_by_a_place(Lock& lock, sync::Notify& end) {
  std::optional<Guard> place(co_await lock.lock());
  auto keeps = spawn(keep_in, std::ref(place), std::ref(end));
  const auto again = co_await lock.lock();
  co_await std::move(keeps);
}
Async<void> pass_on_by_assignment(Lock& lock, sync::Notify& end) {
  Lock other;
  Guard place = co_await other.lock();
  place = co_await lock.lock();
  auto keep = [](Guard& guard, sync::Notify& until) -> Async<void> {
    co_await until.notified();
    guard.unlock();
  };
  auto keeps = spawn(keep, std::ref(place), std::ref(end));
  const auto again = co_await lock.lock();
  co_await std::move(keeps);
}
Async<void> pass_on_what_has_it(Lock& lock, sync::Notify& end) {
  auto has_it = borrowed(hold_until(lock, end));
  co_await select(by_ref(has_it), yield_now());
  spawn(std::move(has_it)).detach();
  const auto again = co_await lock.lock();
}

/// Whoever locked it waits for it, and somebody else will unlock it.
TEST(Stuck, ALockWhoseGuardWasPassedOnIsNot) {
  using PassesOn = Async<void> (*)(Lock&, sync::Notify&);
  for (const PassesOn pass_on : {&pass_on_to_a_task, &pass_on_at_once, &pass_on_by_a_place,
                                 &pass_on_by_assignment, &pass_on_what_has_it}) {
    Lock lock;
    sync::Notify end;
    Runtime rt;
    auto task = rt.spawn(pass_on, std::ref(lock), std::ref(end));
    wait_until_shown("waits for Mutex");
    wait_until_shown("waits for Notify");
    EXPECT_THAT(find_stuck(), ::testing::IsEmpty());
    end.notify_one();
    rt.block_on(std::move(task));
  }
}

TEST(Stuck, WhatIsMeantToWaitForEverIsNot) {
  Runtime rt;
  StuckTasks tasks(rt);
  tasks.add(rt.spawn(join_one, rt.spawn(never_end())));
  wait_until_shown("waits for task");
  EXPECT_TRUE(find_stuck().empty());
}

}  // namespace
}  // namespace rouse::sight
