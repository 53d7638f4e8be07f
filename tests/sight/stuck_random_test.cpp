// find_stuck beside random programs that end: none of their tasks is ever stuck.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/stuck.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/once_cell.hpp"
#include "rouse/sync/rw_lock.hpp"

#include "support/sanitizer.hpp"

namespace rouse::sight {
namespace {

struct Resource {
  sync::Mutex<int> mutex;
  sync::RwLock<int> table;
};
struct World {
  explicit World(std::size_t count) : resources(count) {}
  std::vector<Resource> resources;
  sync::OnceCell<int> cell;
};
Async<void> keep_for_a_while(sync::MutexGuard<int> guard) {
  for (int i = 0; i < 8; ++i) co_await yield_now();
  guard.unlock();
}
Async<void> lock_from(World& world, std::size_t from, std::uint32_t seed);

/// With what it has locked: so those that it waits for lock only what comes later.
Async<void> wait_for_others(World& world, std::size_t from, std::uint32_t seed) {
  std::minstd_rand random(seed);
  const auto next = [&] { return static_cast<std::uint32_t>(random()); };
  switch (random() % 5) {
    case 0:
      co_await yield_now();
      break;
    case 1:
      co_await parallel(lock_from(world, from, next()), lock_from(world, from, next()));
      break;
    case 2:
      co_await scope([&](Scope& children) {
        for (int i = 0; i < 2; ++i) children.spawn(lock_from, std::ref(world), from, next());
      });
      break;
    case 3:
      co_await spawn(lock_from, std::ref(world), from, next());
      break;
    default:
      break;
  }
}
/// Locks some of what there is, in order: so it ends.
Async<void> lock_from(World& world, std::size_t from, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<sync::MutexGuard<int>> guards;
  std::vector<JoinHandle<void>> keepers;
  for (std::size_t i = from; i < world.resources.size(); ++i) {
    Resource& resource = world.resources[i];
    const auto others = [&] {
      return wait_for_others(world, i + 1, static_cast<std::uint32_t>(random()));
    };
    switch (random() % 6) {
      case 0: {
        const auto guard = co_await resource.mutex.lock();
        co_await others();
        break;
      }
      case 1:
        guards.push_back(co_await resource.mutex.lock());
        break;
      case 2: {
        auto guard = co_await resource.mutex.lock();
        keepers.push_back(spawn(keep_for_a_while, std::move(guard)));
        const auto again = co_await resource.mutex.lock();
        break;
      }
      case 3: {
        const auto guard = co_await resource.table.write();
        co_await others();
        break;
      }
      case 4: {
        const auto guard = co_await resource.table.read();
        co_await others();
        break;
      }
      default:
        co_await select(resource.mutex.lock(), yield_now());
    }
  }
  guards.clear();
  for (auto& keeper : keepers) co_await keeper;
}
Async<int> make_value_with_locks(World& world, std::uint32_t seed) {
  co_await lock_from(world, 0, seed);
  co_return 1;
}
Async<void> random_task(World& world, std::vector<JoinHandle<void>> before, std::uint32_t seed) {
  if (seed % 4 == 0) {
    const auto make = [&world, seed] { return make_value_with_locks(world, seed); };
    (void)co_await world.cell.get_or_init(make);
  }
  co_await lock_from(world, 0, seed);
  for (auto& task : before) co_await task;
}

TEST(StuckRandom, NoProgramThatEndsIsEverSaidToBeStuck) {
  const std::uint32_t programs = test::sanitized ? 500 : 10'000;
  Runtime rt = Runtime::builder().worker_threads(2).build();
  std::atomic<bool> is_over{false};
  std::atomic<std::uint32_t> looks{0};
  std::thread looker([&] {
    while (!is_over.load()) {
      for (const Stuck& stuck : find_stuck()) ADD_FAILURE() << stuck.text;
      ++looks;
    }
  });
  for (std::uint32_t program = 1; program <= programs; ++program) {
    std::minstd_rand random(program);
    World world(1 + random() % 3);
    std::vector<JoinHandle<void>> tasks;
    for (unsigned i = 0; i < 6; ++i) {
      std::vector<JoinHandle<void>> before;
      if (!tasks.empty() && random() % 2 == 0) {
        before.push_back(std::move(tasks.back()));
        tasks.pop_back();
      }
      tasks.push_back(rt.spawn(random_task, std::ref(world), std::move(before),
                               static_cast<std::uint32_t>(random())));
    }
    for (auto& task : tasks) rt.block_on(std::move(task));
  }
  is_over = true;
  looker.join();
  EXPECT_GT(looks.load(), 0U);
}

}  // namespace
}  // namespace rouse::sight
