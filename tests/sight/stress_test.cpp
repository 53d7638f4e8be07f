// Two threads dump in a loop while tasks do all that tasks may do: each dump is well formed, none
// says that nobody can wake a task, and all tasks end.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/await_local_set.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_builder.hpp"
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
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "sight/seen.hpp"
#include "support/sanitizer.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::runtime_with;
using rouse::test::sanitized;
using rouse::test::see_when;
using rouse::test::Seen;
using ::testing::HasSubstr;
using ::testing::Not;

/// Dumps in a loop, with and without patience, until it is destroyed.
class Dumpers {
 public:
  explicit Dumpers(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] { run(i); });
    }
  }
  Dumpers(const Dumpers&) = delete;
  Dumpers& operator=(const Dumpers&) = delete;
  ~Dumpers() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
    EXPECT_GT(dumps_.load(), 0U);
    ::testing::Test::RecordProperty("dumps", std::to_string(dumps_.load()));
  }

  [[nodiscard]] std::uint64_t dumps() const { return dumps_.load(); }

 private:
  void run(int number) {
    sight::DumpOptions options;
    options.patience(number % 2 == 0 ? 0us : 500us);
    do {
      const sight::Report report = sight::dump(options);
      const Seen seen(report);
      EXPECT_EQ(seen.json()["nobody_can_wake"].number(), 0U) << seen.text();
      EXPECT_EQ(seen.json()["left_out"].number(), 0U);
      EXPECT_FALSE(seen.json().has("deadlocks")) << seen.text();
      dumps_.fetch_add(1);
      if (::testing::Test::HasFailure()) return;
    } while (!is_over_.load());
  }

  std::atomic<bool> is_over_ = false;
  std::atomic<std::uint64_t> dumps_ = 0;
  std::vector<std::thread> threads_;
};

// --- What tasks may do. ---

/// Counts tasks that live.
class Alive {
 public:
  explicit Alive(std::atomic<int>& count) : count_(&count) { count_->fetch_add(1); }
  Alive(Alive&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Alive& operator=(Alive&&) = delete;
  ~Alive() {
    if (count_ != nullptr) count_->fetch_sub(1);
  }

 private:
  std::atomic<int>* count_;
};

struct Shared {
  std::atomic<int> alive = 0;
  sync::Mutex<int> mutex;
  sync::Notify told;
};

Async<int> fork_deep(Shared& shared, int depth) {
  if (depth == 0) {
    co_await yield_now();
    co_return 1;
  }
  auto [left, right] =
      co_await parallel(fork_deep(shared, depth - 1), fork_deep(shared, depth - 1));
  co_return left + right;
}

Async<void> lock_a_while(Shared& shared, int times) {
  for (int i = 0; i < times; ++i) {
    auto guard = co_await shared.mutex.lock();
    *guard += 1;
    co_await yield_now();
  }
}

Async<void> in_a_set(Shared& shared) {
  LocalSet set;
  auto main = [](Shared& all) -> Async<void> {
    std::vector<JoinHandle<>> tasks;
    for (int i = 0; i < 5; ++i) tasks.push_back(spawn_local(lock_a_while, std::ref(all), 2));
    tasks.push_back(spawn_local([]() -> Async<void> { co_await sleep(50us); }));
    for (auto& task : tasks) co_await task;
  };
  set.spawn_local([]() -> Async<void> { co_await sleep(100us); }).detach();
  co_await run_until(set, main(shared));
  co_await run_all(set);
}

Async<void> in_a_scope(Shared& shared) {
  auto body = [&](Scope& children) -> Async<void> {
    for (int i = 0; i < 4; ++i) {
      children.spawn(lock_a_while(shared, 2));
      co_await yield_now();
    }
  };
  co_await scope(body);
}

Async<void> talk() {
  auto [tx, rx] = sync::channel<int>(2);
  auto sends = spawn(
      [](sync::Sender<int> to) -> Async<void> {
        for (int i = 0; i < 20; ++i) (void)co_await to.send(i);
      },
      std::move(tx));
  int sum = 0;
  while (auto got = co_await rx.recv()) sum += *got;
  co_await sends;
  EXPECT_EQ(sum, 190);
}

/// Dropped midway, in a fork or not.
Async<void> abort_others(Shared& shared) {
  auto forks = spawn(
      [](Shared& all) -> Async<void> {
        const Alive alive(all.alive);
        co_await parallel(pending_forever<void>(), fork_deep(all, 3), lock_a_while(all, 50));
      },
      std::ref(shared));
  auto locks = spawn(
      [](Shared& all) -> Async<void> {
        const Alive alive(all.alive);
        co_await join(lock_a_while(all, 1000), pending_forever<void>());
      },
      std::ref(shared));
  for (int i = 0; i < 3; ++i) co_await yield_now();
  forks.abort();
  locks.abort();
  for (JoinHandle<>* task : {&forks, &locks}) {
    try {
      co_await *task;
      ADD_FAILURE() << "it was aborted";
    } catch (const JoinError&) {
      // As it should.
    }
  }
}

Async<void> join_many(Shared& shared) {
  JoinSet<void> set;
  for (int i = 0; i < 10; ++i) set.spawn(lock_a_while, std::ref(shared), 1);
  while (co_await set.join_next()) {
  }
}

Async<void> be_told(Shared& shared) {
  auto waits =
      spawn([](Shared& all) -> Async<void> { co_await all.told.notified(); }, std::ref(shared));
  // It may not wait yet.
  while (!waits.is_finished()) {
    shared.told.notify_waiters();
    co_await yield_now();
  }
  co_await waits;
}

Async<void> select_and_time_out() {
  for (int i = 0; i < 5; ++i) {
    co_await select(pending_forever<void>(), sleep(20us));
    (void)co_await timeout(30us, pending_forever<void>()).result();
  }
}

Async<void> block_a_bit() {
  block_in_place([] { std::this_thread::sleep_for(100us); });
  co_await yield_now();
  co_await spawn_blocking([] { std::this_thread::sleep_for(50us); });
}

Async<void> act(Shared& shared, unsigned what, bool may_block_in_place) {
  const Alive alive(shared.alive);
  switch (what % 10) {
    case 0:
      EXPECT_EQ(co_await fork_deep(shared, 5), 32);
      break;
    case 1:
      co_await lock_a_while(shared, 3);
      break;
    case 2:
      co_await in_a_set(shared);
      break;
    case 3:
      co_await in_a_scope(shared);
      break;
    case 4:
      co_await talk();
      break;
    case 5:
      co_await abort_others(shared);
      break;
    case 6:
      co_await join_many(shared);
      break;
    case 7:
      co_await be_told(shared);
      break;
    case 8:
      co_await select_and_time_out();
      break;
    default:
      if (may_block_in_place) {
        co_await block_a_bit();
      } else {
        co_await yield_now();
      }
  }
}

/// Rounds of tasks, each with all kinds, in an order that the seed gives.
Async<void> act_in_rounds(Shared& shared, int rounds, std::uint32_t seed, bool may_block_in_place) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::vector<JoinHandle<>> tasks;
    for (int i = 0; i < 24; ++i) {
      const auto what = static_cast<unsigned>(random());
      if (what % 3 == 0) {
        tasks.push_back(task::Builder()
                            .name("act " + std::to_string(what % 10))
                            .spawn(act, std::ref(shared), what, may_block_in_place));
      } else {
        tasks.push_back(spawn(act, std::ref(shared), what, may_block_in_place));
      }
    }
    for (auto& task : tasks) co_await task;
  }
}

constexpr int stress_rounds = sanitized ? 10 : 150;

TEST(SightStress, TasksOfAPool) {
  Shared shared;
  Runtime runtime = runtime_with(4);
  {
    const Dumpers dumpers(2);
    runtime.block_on(act_in_rounds(shared, stress_rounds, 1, true));
  }
  EXPECT_EQ(shared.alive.load(), 0);
  see_when([](const Seen& seen) { return seen.json()["tasks"].number() == 0; });
}

TEST(SightStress, TasksOfACurrentThreadRuntime) {
  Shared shared;
  Runtime runtime = Runtime::builder().current_thread().build();
  {
    const Dumpers dumpers(2);
    runtime.block_on(act_in_rounds(shared, stress_rounds, 2, false));
  }
  EXPECT_EQ(shared.alive.load(), 0);
}

TEST(SightStress, TasksOfASetBesideACurrentThreadRuntime) {
  Shared shared;
  const Runtime runtime = Runtime::builder().current_thread().build();
  LocalSet set;
  {
    const Dumpers dumpers(2);
    auto main = [&]() -> Async<void> {
      auto there = spawn(act_in_rounds, std::ref(shared), stress_rounds / 2, 3U, false);
      auto local = spawn_local(act_in_rounds, std::ref(shared), stress_rounds / 2, 4U, false);
      co_await there;
      co_await local;
    };
    set.block_on(runtime, main());
  }
  EXPECT_EQ(shared.alive.load(), 0);
}

/// Wakes from other threads come through while the examiner holds a task, or is in an executor.
TEST(SightStress, WakesFromOtherThreads) {
  Runtime pool = runtime_with(2);
  Runtime current_thread = Runtime::builder().current_thread().build();
  LocalExecutor executor;
  const Dumpers dumpers(2);
  auto ping = [](sync::Receiver<int> from, sync::Sender<int> to) -> Async<int> {
    int last = 0;
    while (auto got = co_await from.recv()) {
      last = *got;
      (void)co_await to.send(last + 1);
    }
    co_return last;
  };
  constexpr int pings = sanitized ? 300 : 5000;
  auto pong = [](sync::Sender<int> to, sync::Receiver<int> from) -> Async<void> {
    for (int i = 0; i < pings; ++i) {
      (void)co_await to.send(i);
      auto got = co_await from.recv();
      EXPECT_EQ(got, i + 1);
    }
  };
  const auto meet = [&](auto run) {
    auto [to, in] = sync::channel<int>(1);
    auto [back, out] = sync::channel<int>(1);
    auto other = pool.spawn(ping, std::move(in), std::move(back));
    run(pong(std::move(to), std::move(out)));
    EXPECT_EQ(pool.block_on(std::move(other)), pings - 1);
  };
  meet([&](Async<void> future) { pool.block_on(std::move(future)); });
  meet([&](Async<void> future) { current_thread.block_on(std::move(future)); });
  meet([&](Async<void> future) { executor.run_until(std::move(future)); });
}

/// Executors come and go.
TEST(SightStress, RuntimesThatAreMadeAndShutDown) {
  Shared shared;
  constexpr int rounds = sanitized ? 30 : 300;
  {
    const Dumpers dumpers(2);
    for (int round = 0; round < rounds; ++round) {
      Runtime runtime = round % 3 == 0 ? Runtime::builder().current_thread().build()
                                       : runtime_with(static_cast<std::size_t>(round % 4 + 1));
      for (int i = 0; i < 10; ++i) {
        runtime.spawn(act, std::ref(shared), static_cast<unsigned>(i), round % 3 != 0).detach();
        runtime.spawn(sleep(1h)).detach();
      }
      if (round % 2 == 0) runtime.block_on(yield_now());
      // Its tasks end where they are.
      LocalExecutor executor;
      executor.spawn(act, std::ref(shared), 1U, false).detach();
      executor.run_until(yield_now());
    }
  }
  EXPECT_EQ(shared.alive.load(), 0);
  EXPECT_EQ(sight::dump().tasks(), 0U);
}

/// It takes a while until all their timers are gone.
TEST(SightStress, RuntimesWithManyTimersThatEnd) {
  constexpr int rounds = sanitized ? 3 : 40;
  constexpr int timers = 10'000;
  const Dumpers dumpers(2);
  for (int round = 0; round < rounds; ++round) {
    Runtime runtime =
        round % 4 == 0 ? runtime_with(2) : Runtime::builder().current_thread().build();
    std::atomic<int> asleep = 0;
    auto sleeps = [&]() -> Async<void> {
      ++asleep;
      co_await sleep(1h);
    };
    auto spawns = [&]() -> Async<void> {
      for (int i = 0; i < timers; ++i) spawn(sleeps).detach();
      while (asleep.load() < timers) co_await yield_now();
    };
    runtime.block_on(spawns());
  }
}

/// The same with shutdowns that do not wait.
TEST(SightStress, RuntimesThatEndInTheBackground) {
  auto shared = std::make_unique<Shared>();
  constexpr int rounds = sanitized ? 20 : 200;
  {
    const Dumpers dumpers(1);
    for (int round = 0; round < rounds; ++round) {
      Runtime runtime = runtime_with(2);
      for (unsigned i = 0; i < 20; ++i) {
        runtime.spawn(act, std::ref(*shared), i, true).detach();
      }
      runtime.shutdown_background();
    }
    see_when([](const Seen& seen) { return seen.json()["tasks"].number() == 0; });
  }
  see_when([&](const Seen&) { return shared->alive.load() == 0; });
}

}  // namespace
