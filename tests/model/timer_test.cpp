// Models of timers: sleeps that are begun, reset, polled anew and dropped on one thread while their
// owner's thread fires, sleeps and closes.
//
// The clock stands still: the owner lets it go on to the next timer when he would sleep for it.
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/time/sleep.hpp"

#include "model/waiting.hpp"
#include "time/timers.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using time::Clock;
using time::Instant;

/// So long after the beginning: a model's clock begins with the first second.
Instant at_ms(int ms) { return Instant(std::chrono::milliseconds(1000 + ms)); }

/// The timers of a thread that runs nothing else.
class Owner {
 public:
  Owner() {
    clock.pause();
    ensure(clock.now() == at_ms(0));
    timers->open(clock.now(), false);
  }
  ~Owner() { timers->close(); }

  /// Looks after the timers until `done` is set.
  void run() {
    while (!done_.load(memory_order_relaxed)) {
      timers->fire_due(clock);
      const time::Nanoseconds sleep = timers->sleep_time(clock);
      if (sleep == time::Nanoseconds::max()) {
        parker_.park();
      } else {
        clock.jump(time::add(clock.now(), sleep));
      }
    }
  }
  void stop() {
    done_.store(true, memory_order_relaxed);
    parker_.unpark();
  }
  /// Until somebody wakes it.
  void sleep() { parker_.park(); }
  void fire_at(Instant now) {
    clock.jump(now);
    timers->fire_due(clock);
  }

  /// Runs `body` on a thread of somebody else, whose sleeps this owner looks after.
  template <class Body>
  void from_outside(Body body) {
    TimeContext context(*timers, clock, false);
    context.unpark = [](void* self) noexcept { static_cast<Owner*>(self)->parker_.unpark(); };
    context.unparked = this;
    TimeContext* const before = TimeContext::exchange_current(&context);
    body();
    TimeContext::exchange_current(before);
  }

  Clock clock;
  const std::unique_ptr<Timers> timers = std::make_unique<Timers>();

 private:
  atomic<bool> done_{false};
  Parker parker_;
};

TEST(TimerModel, ASleepEndsAlsoIfItsOwnerSleepsWhenItComes) {
  check([] {
    Owner owner;
    Thread other([&] {
      owner.from_outside([&] {
        block_on(Sleep(at_ms(3), at_ms(0)));
        ensure(owner.clock.now() >= at_ms(3), "not before its time");
      });
      owner.stop();
    });
    owner.run();
    other.join();
  });
}

/// Until when it is to sleep the owner asks with `next`, as one does who waits for I/O meanwhile:
/// then every new sleep has to wake it.
TEST(TimerModel, AnOwnerThatOnlyAskedForTheNextSleepIsWokenByANewOne) {
  check([] {
    Owner owner;
    Thread other([&] { owner.from_outside([&] { block_on(Sleep(at_ms(3), at_ms(0))); }); });
    Instant next = owner.timers->next();
    while (next == Instant::max()) {
      owner.sleep();
      next = owner.timers->next();
    }
    owner.fire_at(next);
    other.join();
  });
}

TEST(TimerModel, TwoSleepsEndInTheOrderOfTheirTimes) {
  check(
      [] {
        Owner owner;
        Thread other([&] {
          owner.from_outside([&] {
            Sleep late(at_ms(5), at_ms(0));
            Sleep early(at_ms(2), at_ms(0));
            let_wait(early);
            block_on(late);
            ensure(early.is_elapsed(), "the earlier one ended before");
          });
          owner.stop();
        });
        owner.run();
        other.join();
      },
      {.old_value_bound = 1});
}

TEST(TimerModel, ASleepThatIsDroppedWhileItFiresIsNotTouchedAnyMore) {
  check([] {
    Owner owner;
    std::optional<Sleep> sleep(std::in_place, at_ms(3), at_ms(0));
    owner.from_outside(
        [&] { ensure(!is_ready_for(make_ref<ParkedThread>(), *sleep), "it is early"); });
    Thread other([&] { sleep.reset(); });
    owner.fire_at(at_ms(3));
    other.join();
    ensure(owner.timers->next() == Instant::max(), "none is left");
  });
}

TEST(TimerModel, WhoSeesThatASleepHasFiredMayFreeIt) {
  check([] {
    Owner owner;
    std::optional<Sleep> sleep(std::in_place, at_ms(3), at_ms(0));
    owner.from_outside([&] { let_wait(*sleep); });
    Thread other([&] {
      if (sleep->is_elapsed()) sleep.reset();
    });
    owner.fire_at(at_ms(3));
    other.join();
  });
}

TEST(TimerModel, TheWakerOfTheLatestPollIsWoken) {
  check([] {
    Owner owner;
    Sleep sleep(at_ms(3), at_ms(0));
    owner.from_outside([&] { let_wait(sleep); });
    Thread other([&] { owner.from_outside([&] { block_on(sleep); }); });
    owner.fire_at(at_ms(3));
    other.join();
  });
}

TEST(TimerModel, ASleepThatIsResetWhileItFiresEndsAtItsNewTime) {
  check(
      [] {
        Owner owner;
        Thread other([&] {
          owner.from_outside([&] {
            Sleep sleep(at_ms(2), at_ms(0));
            (void)is_ready(sleep);
            sleep.reset(at_ms(4));
            block_on(sleep);
            ensure(owner.clock.now() >= at_ms(4), "not before its time");
          });
          owner.stop();
        });
        owner.run();
        other.join();
      },
      {.old_value_bound = 1});
}

TEST(TimerModel, ASleepThatIsResetToAnEarlierTimeEndsThen) {
  check(
      [] {
        Owner owner;
        Thread other([&] {
          owner.from_outside([&] {
            Sleep sleep(at_ms(4), at_ms(0));
            (void)is_ready(sleep);
            sleep.reset(at_ms(2));
            block_on(sleep);
            ensure(owner.clock.now() >= at_ms(2), "not before its time");
          });
          owner.stop();
        });
        owner.run();
        other.join();
      },
      {.old_value_bound = 1});
}

/// A task that resets the sleep it waits for, and does not poll it after that.
struct ResetsIt {
  using Output = void;
  Sleep& sleep;
  bool was_reset = false;
  Poll<void> poll(Context& cx) {
    if (was_reset) return sleep.poll(cx);
    (void)sleep.poll(cx);
    sleep.reset(at_ms(4));
    was_reset = true;
    return pending;
  }
};

TEST(TimerModel, WhoWaitsForASleepIsWokenAtTheTimeItWasResetTo) {
  check(
      [] {
        Owner owner;
        Sleep sleep(at_ms(6), at_ms(0));
        Thread other([&] {
          owner.from_outside([&] { block_on(ResetsIt{sleep}); });
          ensure(owner.clock.now() >= at_ms(4), "not before its time");
          owner.stop();
        });
        owner.run();
        other.join();
      },
      {.old_value_bound = 1});
}

TEST(TimerModel, AnotherSleepGoesOnWhenOneIsDropped) {
  check([] {
    Owner owner;
    std::optional<Sleep> dropped(std::in_place, at_ms(3), at_ms(0));
    Sleep kept(at_ms(3), at_ms(0));
    owner.from_outside([&] {
      let_wait(*dropped);
      let_wait(kept);
    });
    Thread firing([&] { owner.fire_at(at_ms(3)); });
    dropped.reset();
    owner.from_outside([&] { block_on(kept); });
    firing.join();
  });
}

TEST(TimerModel, ASleepThatIsDroppedWhileItsTimersCloseIsNotTouchedAnyMore) {
  check([] {
    Owner owner;
    Thread closing([&] { owner.timers->close(); });
    owner.from_outside([&] {
      Sleep sleep(at_ms(3), at_ms(0));
      (void)is_ready_for(make_ref<ParkedThread>(), sleep);
    });
    closing.join();
    owner.from_outside([&] {
      Sleep late(at_ms(3), at_ms(0));
      let_wait(late);
      ensure(owner.timers->next() == Instant::max(), "closed timers take none");
    });
  });
}

TEST(TimerModel, ASleepAgainstTheCloseOfItsTimersIsWokenOrWasNotTaken) {
  check([] {
    Owner owner;
    Cell<int> data{0};
    struct Reader : RefCounted<Reader> {
      explicit Reader(Cell<int>& cell) : data(cell) {}
      void wake() {
        ensure(data.read() == 1, "it is woken by the close");
        wakes.fetch_add(1, memory_order_relaxed);
      }
      Cell<int>& data;
      atomic<int> wakes{0};
    };
    const RefPtr<Reader> reader = make_ref<Reader>(data);
    Thread closing([&] {
      data.write() = 1;
      owner.timers->close();
    });
    TimerEntry entry(at_ms(3), at_ms(0));
    const Timers::Inserted inserted = owner.timers->insert(entry, make_waker(reader));
    closing.join();
    const int wakes = reader->wakes.load(memory_order_relaxed);
    ensure((wakes == 1) == (inserted != Timers::Inserted::closed));
  });
}

TEST(ClockModel, TimeDoesNotGoBackWhenTheClockGoesOn) {
  check(
      [] {
        Clock clock;
        clock.pause();
        clock.jump(at_ms(5));
        Thread other([&] { clock.resume(); });
        ensure(clock.now() >= at_ms(5));
        other.join();
        ensure(clock.now() >= at_ms(5));
      },
      {.preemption_bound = Options::unbounded});
}

}  // namespace
}  // namespace rouse::model
