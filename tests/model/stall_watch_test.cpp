// Models of who watches: workers that sleep, awake, go off with work and watch as PoolCore's do,
// but have nothing else to do. While one is off and another sleeps, somebody watches.
#include "exec/pool/stall_watch.hpp"

#include <array>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/park/worker_park.hpp"

namespace rouse::model {

using namespace internal;
namespace {

template <std::size_t count>
class Watched {
 public:
  /// Sleeps, and looks so often if it watches; until then it is not woken but by a call.
  void sleep(std::size_t index, int looks) {
    Worker& self = worker(index);
    idle_.sleep(self, false, watch_.is_watcher(self));
    while (looks != 0) {
      const bool watches = watch_.begin(self, idle_);
      parks_[index].park(seat_, watches ? StallWatch::interval : Park::for_ever);
      if (!watches) continue;
      watch_.begin_look();
      --looks;
      was_seen_.fetch_add(off_.load(memory_order_relaxed) ? 1 : 0, memory_order_relaxed);
    }
    ensure(idle_.wake_up(self), "nobody chose it");
  }
  void go_off(std::size_t index) {
    if (!watch_.leave(worker(index)) || idle_.sleeping() == 0) return;
    if (Worker* sleeper = idle_.last_sleeper()) {
      reinterpret_cast<WorkerPark*>(sleeper)->unpark(seat_);
    }
  }

  /// Is in a poll until a watcher has seen it, or those that sleep are done.
  void poll_until_seen(const atomic<int>& sleepers) {
    off_.store(true, memory_order_relaxed);
    while (was_seen_.load(memory_order_relaxed) == 0 && sleepers.load(memory_order_relaxed) != 0) {
      spin_hint();
    }
  }

 private:
  Worker& worker(std::size_t index) { return *reinterpret_cast<Worker*>(&parks_[index]); }

  IoSeat seat_{nullptr};
  std::array<WorkerPark, count> parks_;
  IdleWorkers idle_{count};
  StallWatch watch_{count};
  atomic<bool> off_{false};
  atomic<int> was_seen_{0};
};

TEST(StallWatchModel, WhoGoesToSleepBesideAWorkerThatIsOffWatches) {
  check([] {
    Watched<2> workers;
    atomic<int> sleepers{1};
    Thread sleeper([&] {
      workers.sleep(1, 1);
      sleepers.store(0, memory_order_relaxed);
    });
    workers.go_off(0);
    workers.poll_until_seen(sleepers);
    sleeper.join();
  });
}

TEST(StallWatchModel, WhoAwakesWhileAllSleepIsWatchedByTheOther) {
  check(
      [] {
        Watched<2> workers;
        atomic<int> sleepers{1};
        Thread sleeper([&] {
          workers.sleep(1, 2);
          sleepers.store(0, memory_order_relaxed);
        });
        workers.sleep(0, 0);  // and awakes by itself
        workers.go_off(0);
        workers.poll_until_seen(sleepers);
        sleeper.join();
      },
      {.preemption_bound = 3});
}

TEST(StallWatchModel, AWatcherThatGoesOffIsFollowedByAnother) {
  check(
      [] {
        Watched<3> workers;
        atomic<int> sleepers{1};
        Thread watcher([&] {
          workers.sleep(1, 1);
          workers.go_off(1);
        });
        Thread sleeper([&] {
          workers.sleep(2, 1);
          workers.go_off(2);
          sleepers.store(0, memory_order_relaxed);
        });
        workers.go_off(0);
        watcher.join();
        workers.poll_until_seen(sleepers);
        sleeper.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

}  // namespace
}  // namespace rouse::model
