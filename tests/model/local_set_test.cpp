// Models of a LocalSet beside a current-thread runtime: whoever runs the runtime, what is spawned
// there is run.
#include "rouse/exec/local_set.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/await_local_set.hpp"
#include "rouse/exec/internal/timer_driver.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/oneshot.hpp"

#include "exec/local/ownership.hpp"
#include "exec/park/thread_park.hpp"
#include "tasks.hpp"

namespace rouse::model {

using namespace internal;
namespace {

// --- Who owns it. ---

/// Only its owner or guest counts.
class OwnedCount {
 public:
  void own() {
    ensure(ownership_.own(Unparker(unpark, &park_)), "there are two owners");
    count_.write() += 1;
    ownership_.leave();
  }

  /// Until it was the guest once.
  void be_guest() {
    ThreadPark mine;
    Ownership::Guest guest(Unparker(unpark, &mine));
    while (!ownership_.lend(guest)) {
      while (ownership_.is_awaited()) mine.park(Park::for_ever);
    }
    count_.write() += 1;
    ownership_.give_back();
  }
  int count() const { return count_.read(); }

 private:
  static void unpark(void* park) noexcept { static_cast<ThreadPark*>(park)->unpark(); }

  Ownership ownership_;
  ThreadPark park_;
  Cell<int> count_{0};
};

TEST(LocalOwnershipModel, AGuestAndAnOwnerComeAndGo) {
  check([] {
    OwnedCount counted;
    Thread owner([&] {
      counted.own();
      counted.own();
    });
    counted.be_guest();
    owner.join();
    counted.own();
    ensure(counted.count() == 4);
  });
}

TEST(LocalOwnershipModel, OfTwoGuestsBothAreServed) {
  check([] {
    OwnedCount counted;
    Thread other([&] { counted.be_guest(); });
    counted.be_guest();
    other.join();
    ensure(counted.count() == 2);
  });
}

/// Of two owners at once one is refused. One that comes while the other leaves is not, and sees
/// what that has done.
TEST(LocalOwnershipModel, AnOwnerMayComeWhileAnotherLeaves) {
  check([] {
    Ownership ownership;
    Cell<int> count{0};
    const Unparker nobody([](void*) noexcept {}, nullptr);
    Thread other([&] {
      if (!ownership.own(nobody)) return;
      count.write() += 1;
      ownership.leave();
    });
    if (ownership.own(nobody)) {
      count.write() += 1;
      ownership.leave();
    }
    other.join();
    ensure(count.read() >= 1);
  });
}

/// It sleeps for ever as a guest, so only an owner that wants it ends that.
TEST(LocalOwnershipModel, AGuestThatSleepsGivesWay) {
  check([] {
    Ownership ownership;
    ThreadPark park;
    const Unparker unpark([](void* it) noexcept { static_cast<ThreadPark*>(it)->unpark(); }, &park);
    Ownership::Guest guest(unpark);
    ensure(ownership.lend(guest));
    Thread owner([&] {
      ensure(ownership.own(unpark));
      ownership.leave();
    });
    while (!ownership.is_wanted()) park.park(Park::for_ever);
    ownership.give_back();
    owner.join();
    ensure(ownership.is_free());
  });
}

// --- Whole executors. ---

class NoTimers final : public TimerDriver {
 public:
  Before enter() noexcept override { return {}; }
  void restore(Before) noexcept override {}
  std::size_t poll() noexcept override { return 0; }
  std::size_t poll_for_owner() noexcept override { return 0; }
  std::chrono::nanoseconds until_next(bool) noexcept override { return Park::for_ever; }
  void set_beside(TimerDriver*) noexcept override {}
  const void* clock() const noexcept override { return nullptr; }
  bool is_paused() const noexcept override { return false; }
  void close() noexcept override {}
};

class NoDrivers final : public TimerDrivers {
 public:
  internal::Box<TimerDriver> make(Unparker) override { return internal::make_box<NoTimers>(); }
  DriverContext& shared_context() noexcept override { return shared_context_; }
  IoMetrics io_metrics() const noexcept override { return {}; }

 private:
  NoTimers shared_context_;
};

/// As far as a LocalSet is concerned.
class CurrentThread {
 public:
  CurrentThread() { executor.emplace().set_drivers(make_ref<NoDrivers>()); }
  std::optional<LocalExecutor> executor;
};

/// Stays after its executor.
class JustSpawner {
 public:
  explicit JustSpawner(const LocalExecutor& executor) : spawner_(executor.spawner()) {}
  Spawner spawner() const { return spawner_; }

 private:
  Spawner spawner_;
};

class AtOnce {
 public:
  using Output = Number;
  Poll<Number> poll(Context&) { return Poll<Number>::ready(42); }
};

/// Spawns it beside the set and awaits it there.
class Elsewhere {
 public:
  using Output = bool;
  explicit Elsewhere(const Spawner& spawner) noexcept : spawner_(spawner) {}
  Elsewhere(Elsewhere&&) = default;
  Elsewhere& operator=(Elsewhere&&) = delete;
  Poll<bool> poll(Context& cx) {
    if (!handle_) handle_.emplace(spawner_.spawn(AtOnce()));
    try {
      auto result = handle_->poll(cx);
      if (result.is_pending()) return pending;
      return Poll<bool>::ready(std::move(result).value().value() == 42);
    } catch (const JoinError&) {
      return Poll<bool>::ready(false);
    }
  }

 private:
  const Spawner& spawner_;
  std::optional<JoinHandle<Number>> handle_;
};

TEST(GuestModel, AnotherThreadRunsTheRuntimeMeanwhile) {
  check([] {
    CurrentThread runtime;
    const Spawner spawner = runtime.executor->spawner();
    Thread other([&] { ensure(runtime.executor->run_until(AtOnce()).value() == 42); });
    {
      LocalSet set;
      ensure(set.block_on(*runtime.executor, Elsewhere(spawner)));
    }
    other.join();
  });
}

TEST(GuestModel, AnotherSetRunsTheRuntimeMeanwhile) {
  check(
      [] {
        CurrentThread runtime;
        const Spawner spawner = runtime.executor->spawner();
        Thread other([&] {
          LocalSet set;
          ensure(set.block_on(*runtime.executor, Elsewhere(spawner)));
        });
        {
          LocalSet set;
          ensure(set.block_on(*runtime.executor, Elsewhere(spawner)));
        }
        other.join();
      },
      {.preemption_bound = 2});
}

TEST(GuestModel, AnotherThreadEndsTheRuntimeMeanwhile) {
  check([] {
    CurrentThread runtime;
    const JustSpawner beside(*runtime.executor);
    Thread other([&] { runtime.executor.reset(); });
    {
      LocalSet set;
      const Spawner spawner = beside.spawner();
      static_cast<void>(set.block_on(beside, Elsewhere(spawner)));
    }
    other.join();
  });
}

// --- A set that a task awaits. ---

TEST(AwaitedLocalSetModel, AWakeFromAnotherThreadIsSeenOrWakesTheTaskThatAwaitsTheSet) {
  check([] {
    LocalSet set;
    auto [tx, rx] = sync::oneshot<int>();
    auto task = set.spawn_local(std::move(rx));
    Thread other([to = std::move(tx)]() mutable { (void)to.send(7); });
    block_on(run_all(set));
    ensure(task.is_finished(), "it was polled again");
    other.join();
  });
}

TEST(AwaitedLocalSetModel, AnAbortFromAnotherThreadEndsTheTask) {
  check([] {
    LocalSet set;
    auto [tx, rx] = sync::oneshot<int>();
    auto task = set.spawn_local(std::move(rx));
    Thread other([&] { task.abort(); });
    block_on(run_all(set));
    ensure(task.is_finished(), "it has ended");
    other.join();
  });
}

}  // namespace
}  // namespace rouse::model
