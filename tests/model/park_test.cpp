// Models of how threads sleep: no unpark is lost, and who wakes up sees what was written before it.
#include "rouse/exec/park.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/park/thread_park.hpp"
#include "exec/park/worker_park.hpp"
#include "runtime/drivers.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using std::chrono::nanoseconds;

TEST(ThreadParkModel, AnUnparkIsNotLostWheneverItComes) {
  check(
      [] {
        ThreadPark park;
        Cell<int> work{0};
        Thread other([&] {
          work.write() = 1;
          park.unpark();
        });
        park.park(Park::for_ever);
        ensure(work.read() == 1);
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(ThreadParkModel, WorkOfTwoIsSeenThoughTheirUnparksAreOne) {
  check([] {
    ThreadPark park;
    atomic<int> work{0};
    const auto bring = [&] {
      work.fetch_add(1, memory_order_relaxed);
      park.unpark();
    };
    Thread first(bring);
    Thread second(bring);
    while (work.load(memory_order_relaxed) != 2) park.park(Park::for_ever);
    first.join();
    second.join();
  });
}

TEST(ThreadParkModel, AParkWithALimitEndsByItselfAndLeavesNothingBehind) {
  check([] {
    ThreadPark park;
    Cell<int> work{0};
    Thread other([&] {
      work.write() = 1;
      park.unpark();
    });
    park.park(nanoseconds(5));
    park.park(nanoseconds(5));
    other.join();
  });
}

TEST(ReactorParkModel, AnUnparkIsNotLostWheneverItComes) {
  check(
      [] {
        ReactorPark park;
        Cell<int> work{0};
        Thread other([&] {
          work.write() = 1;
          park.unpark();
        });
        park.park(Park::for_ever);
        ensure(work.read() == 1);
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(ReactorParkModel, WorkOfTwoIsSeenThoughTheirUnparksAreOne) {
  check([] {
    ReactorPark park;
    atomic<int> work{0};
    const auto bring = [&] {
      work.fetch_add(1, memory_order_relaxed);
      park.unpark();
    };
    Thread first(bring);
    Thread second(bring);
    while (work.load(memory_order_relaxed) != 2) park.park(Park::for_ever);
    first.join();
    second.join();
  });
}

TEST(ReactorParkModel, AParkWithALimitDoesNotLoseTheUnparkThatComesAsItEnds) {
  check([] {
    ReactorPark park;
    atomic<int> work{0};
    Thread other([&] {
      work.store(1, memory_order_relaxed);
      park.unpark();
    });
    park.park(nanoseconds(5));
    park.poll();
    while (work.load(memory_order_relaxed) != 1) park.park(Park::for_ever);
    other.join();
  });
}

/// A driver of which nothing is asked but to wait.
class WaitingDriver final : public Park {
 public:
  void park(nanoseconds at_most) override {
    entered.write() += 1;  // one worker at a time
    waiting_.park(at_most);
  }
  void unpark() noexcept override { waiting_.unpark(); }
  Cell<int> entered{0};

 private:
  ThreadPark waiting_;
};

/// Sleeps until there is work. The seat is given back by whoever had it.
void sleep_until(WorkerPark& park, IoSeat& seat, atomic<int>& work, int all) {
  while (work.load(memory_order_relaxed) != all) {
    if (park.park(seat, Park::for_ever)) seat.give_back();
  }
}

TEST(WorkerParkModel, AWorkerInTheDriverIsWoken) {
  check([] {
    WaitingDriver driver;
    IoSeat seat(&driver);
    WorkerPark park;
    Cell<int> work{0};
    Thread other([&] {
      work.write() = 1;
      park.unpark(seat);
    });
    ensure(park.park(seat, Park::for_ever), "nobody else wants the seat");
    seat.give_back();
    ensure(work.read() == 1);
    other.join();
  });
}

TEST(WorkerParkModel, AWorkerWithoutADriverIsWoken) {
  check([] {
    IoSeat seat(nullptr);
    WorkerPark park;
    Cell<int> work{0};
    Thread other([&] {
      work.write() = 1;
      park.unpark(seat);
    });
    ensure(!park.park(seat, Park::for_ever));
    ensure(work.read() == 1);
    other.join();
  });
}

TEST(WorkerParkModel, TwoWakesOfOneWorkerAreNotLost) {
  check([] {
    WaitingDriver driver;
    IoSeat seat(&driver);
    WorkerPark park;
    atomic<int> work{0};
    const auto bring = [&] {
      work.fetch_add(1, memory_order_relaxed);
      park.unpark(seat);
    };
    Thread first(bring);
    Thread second(bring);
    sleep_until(park, seat, work, 2);
    first.join();
    second.join();
  });
}

TEST(WorkerParkModel, OfTwoWorkersOneSitsInTheDriverAndBothAreWoken) {
  check(
      [] {
        WaitingDriver driver;
        IoSeat seat(&driver);
        WorkerPark parks[2];
        atomic<int> work{0};
        Thread worker([&] { sleep_until(parks[1], seat, work, 1); });
        Thread other([&] {
          work.store(1, memory_order_relaxed);
          for (WorkerPark& park : parks) park.unpark(seat);
        });
        sleep_until(parks[0], seat, work, 1);
        worker.join();
        other.join();
      },
      {.preemption_bound = 2});
}

TEST(WorkerParkModel, TheSeatIsPassedOnWithWhatWasDoneInIt) {
  check([] {
    WaitingDriver driver;
    IoSeat seat(&driver);
    const auto sit = [&] {
      if (seat.take() == nullptr) return;
      driver.entered.write() += 1;
      seat.give_back();
    };
    Thread other(sit);
    sit();
    other.join();
    ensure(driver.entered.read() >= 1);
  });
}

}  // namespace
}  // namespace rouse::model
