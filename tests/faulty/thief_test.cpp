// A child of `parallel` that a thief has no memory for, while a branch waits for it; and a kernel
// that does not let thieves take what waits behind a long poll.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/exec/parallel.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/notify.hpp"

#include "faulty/allocations.hpp"
#include "faulty/faults.hpp"
#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

using std::chrono::milliseconds;

Async<void> tell(sync::Notify& told) {
  told.notify_one();
  co_return;
}
/// Suspends while the thief is at the allocation that fails, or is done.
Async<void> wait_for_the_other(const FailingAllocation& failing, sync::Notify& told) {
  const auto enough = std::chrono::steady_clock::now() + milliseconds(100);  // it needs no memory
  while (!failing.has_failed() && std::chrono::steady_clock::now() < enough) {
    std::this_thread::yield();
  }
  co_await told.notified();
}
Async<void> fork(const std::atomic<bool>& begin, long allocation, Failing how) {
  while (!begin) co_await yield_now();
  sync::Notify told;
  auto one = tell(told);
  std::optional<FailingAllocation> failing;
  auto other = wait_for_the_other(failing.emplace(1'000'000, how), told);
  failing.emplace(allocation, how, milliseconds(10));
  co_await parallel(std::move(one), std::move(other));
}

TEST(FaultyThief, ABranchDoesNotWaitInVainForAChildThatItsThiefHasNoMemoryFor) {
  Runtime rt = make_runtime(On::two_workers);
  long reported = 0;
  for (const Failing how : {Failing::once, Failing::from_then_on}) {
    for (long allocation = 0; allocation < 4; ++allocation) {
      const Watchdog watchdog("allocation " + std::to_string(allocation + 1) + " of a thief");
      std::atomic<bool> begin{false};
      auto task = rt.spawn(fork, std::ref(begin), allocation, how);
      begin = true;
      while (!task.is_finished()) std::this_thread::yield();  // which takes no memory
      const std::error_code code = outcome_of([&] { rt.block_on(task); });
      if (code) ++reported;
      EXPECT_TRUE(!code || code == std::errc::not_enough_memory) << code.message();
    }
  }
  EXPECT_GT(reported, 0);
}

/// Spawns a task and computes until another worker has tried to take it.
Async<bool> compute(const Injection& injection) {
  auto child = rouse::spawn([]() -> Async<void> { co_return; });
  const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const long before = injection.hits();
  while (injection.hits() == before && std::chrono::steady_clock::now() < enough) {
    std::this_thread::yield();
  }
  const bool has_waited = !child.is_finished();
  co_await child;
  co_return has_waited;
}

TEST(FaultyThief, WithoutMembarrierWhatWaitsBehindALongPollIsLeftThere) {
  for (const int error : {EINVAL, ENOSYS, EPERM}) {
    const Watchdog watchdog("membarrier");
    const Injection injection(Fault("membarrier", error).always());
    Runtime rt = make_runtime(On::two_workers);
    EXPECT_EQ(injection.hits(), 1) << "it is told that it will be used";
    EXPECT_TRUE(rt.block_on(compute(injection)));
    EXPECT_GT(injection.hits(), 1) << "and then used";
    add_row("membarrier", name_of_error(error), "take a task behind a long poll", 1,
            "waits for the end of the poll");
  }
}

}  // namespace
}  // namespace rouse::faulty
