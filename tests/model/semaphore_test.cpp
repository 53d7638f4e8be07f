// Models of Semaphore: permits that are taken, waited for, given back, added, forgotten and closed
// at the same time. None is lost and none is given twice.
#include "rouse/sync/semaphore.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

using sync::Permit;
using sync::Semaphore;

TEST(SemaphoreModel, OneAtATimeHasTheOnlyPermit) {
  check([] {
    Semaphore semaphore(1);
    Cell<int> guarded{0};
    const auto use = [&] {
      const Permit permit = block_on(semaphore.acquire());
      guarded.write() += 1;
    };
    Thread other(use);
    use();
    other.join();
    ensure(guarded.read() == 2);
    ensure(semaphore.available_permits() == 1, "it was given back");
  });
}

TEST(SemaphoreModel, OfThreeEachGetsTheOnlyPermitOnce) {
  check(
      [] {
        Semaphore semaphore(1);
        Cell<int> guarded{0};
        const auto use = [&] {
          const Permit permit = block_on(semaphore.acquire());
          guarded.write() += 1;
        };
        Thread second(use);
        Thread third(use);
        use();
        second.join();
        third.join();
        ensure(guarded.read() == 3);
        ensure(semaphore.available_permits() == 1, "it was given back");
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(SemaphoreModel, TwoWhoTryForTheOnlyPermitDoNotBothGetIt) {
  check([] {
    Semaphore semaphore(1);
    Cell<int> guarded{0};
    const auto try_it = [&] {
      if (const std::optional<Permit> permit = semaphore.try_acquire()) guarded.write() += 1;
    };
    Thread second(try_it);
    Thread third(try_it);
    try_it();
    second.join();
    third.join();
    ensure(guarded.read() >= 1, "one of them got it");
    ensure(semaphore.available_permits() == 1, "it was given back");
  });
}

TEST(SemaphoreModel, AWaiterThatGivesUpPassesItsPermitOn) {
  check([] {
    Semaphore semaphore(1);
    Cell<int> guarded{0};
    std::optional<Permit> held = semaphore.try_acquire();
    auto first = std::make_optional(semaphore.acquire());
    auto second = semaphore.acquire();
    let_wait(*first);
    let_wait(second);
    Thread holder([&] {
      guarded.write() = 1;
      held->release();
    });
    first.reset();
    {
      const Permit permit = block_on(second);
      ensure(guarded.read() == 1, "it sees what the holder did");
    }
    holder.join();
    ensure(semaphore.available_permits() == 1, "it was given back");
  });
}

TEST(SemaphoreModel, WhatTheOnlyWaiterGivesUpIsThereForTheNext) {
  check([] {
    Semaphore semaphore(0);
    Cell<int> guarded{0};
    auto waiting = std::make_optional(semaphore.acquire());
    let_wait(*waiting);
    Thread holder([&] {
      guarded.write() = 1;
      semaphore.add_permits(1);
    });
    waiting.reset();
    {
      const Permit permit = block_on(semaphore.acquire());
      ensure(guarded.read() == 1, "it sees what the holder did");
    }
    holder.join();
    ensure(semaphore.available_permits() == 1, "it was given back");
  });
}

TEST(SemaphoreModel, PermitsThatAreGivenWhileTheLastWaiterLeavesAddUp) {
  check([] {
    Semaphore semaphore(0);
    auto waiting = std::make_optional(semaphore.acquire());
    let_wait(*waiting);
    Thread other([&] { semaphore.add_permits(1); });
    waiting.reset();
    semaphore.add_permits(1);
    other.join();
    ensure(semaphore.available_permits() == 2, "none is lost");
  });
}

TEST(SemaphoreModel, AWaiterForManyThatGivesUpLetsOneForFewGoOn) {
  check([] {
    Semaphore semaphore(0);
    auto for_many = std::make_optional(semaphore.acquire(2));
    auto for_one = semaphore.acquire();
    let_wait(*for_many);
    let_wait(for_one);
    Thread giver([&] { semaphore.add_permits(1); });
    for_many.reset();
    block_on(for_one).forget();
    giver.join();
    ensure(semaphore.available_permits() == 0, "it has the only permit");
  });
}

TEST(SemaphoreModel, AWaiterForManyIsNotOvertaken) {
  check([] {
    Semaphore semaphore(0);
    auto for_two = semaphore.acquire(2);
    let_wait(for_two);
    Thread giver([&] {
      semaphore.add_permits(1);
      semaphore.add_permits(1);
    });
    ensure(!semaphore.try_acquire(), "both are for the one that waits");
    block_on(for_two).forget();
    giver.join();
    ensure(semaphore.available_permits() == 0, "all were taken");
  });
}

TEST(SemaphoreModel, PermitsOfTwoGiversAddUp) {
  check([] {
    Semaphore semaphore(0);
    Cell<int> first{0};
    Cell<int> second{0};
    auto for_two = semaphore.acquire(2);
    Thread one([&] {
      first.write() = 1;
      semaphore.add_permits(1);
    });
    Thread another([&] {
      second.write() = 1;
      semaphore.add_permits(1);
    });
    block_on(for_two).forget();
    ensure(first.read() == 1 && second.read() == 1, "it sees what both did");
    one.join();
    another.join();
    ensure(semaphore.available_permits() == 0, "all were taken");
  });
}

TEST(SemaphoreModel, WhoIsRefusedSeesWhatWasDoneBeforeTheClose) {
  check([] {
    Semaphore semaphore(0);
    Cell<int> data{0};
    Thread closer([&] {
      data.write() = 1;
      semaphore.close();
    });
    const Result<Permit> refused = block_on(semaphore.acquire().result());
    ensure(!refused);
    ensure(data.read() == 1);
    ensure(semaphore.is_closed());
    closer.join();
  });
}

TEST(SemaphoreModel, WhoSeesItClosedSeesWhatWasDoneBefore) {
  check(
      [] {
        Semaphore semaphore(0);
        Cell<int> data{0};
        Thread closer([&] {
          data.write() = 1;
          semaphore.close();
        });
        if (semaphore.is_closed()) ensure(data.read() == 1);
        closer.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(SemaphoreModel, ACloseAgainstAPermitLosesNone) {
  check(
      [] {
        Semaphore semaphore(0);
        auto waiting = semaphore.acquire().result();
        let_wait(waiting);
        Thread giver([&] { semaphore.add_permits(1); });
        Thread closer([&] { semaphore.close(); });
        {
          const Result<Permit> got = block_on(waiting);
        }
        giver.join();
        closer.join();
        ensure(semaphore.available_permits() == 1, "given back, or never taken");
      },
      {.old_value_bound = 1});
}

// A batch of waiters is full with two: see WakeBatch.

TEST(SemaphoreModel, MoreThanABatchIsServedAlsoIfOneGivesUpMeanwhile) {
  check(
      [] {
        Semaphore semaphore(0);
        Cell<int> data{0};
        auto first = semaphore.acquire();
        auto second = semaphore.acquire();
        auto leaving = std::make_optional(semaphore.acquire());
        for (auto* waiting : {&first, &second, &*leaving}) let_wait(*waiting);
        Thread giver([&] {
          data.write() = 1;
          semaphore.add_permits(3);
        });
        leaving.reset();
        block_on(semaphore.acquire()).forget();  // what the other one gave up
        ensure(data.read() == 1);
        block_on(first).forget();
        block_on(second).forget();
        giver.join();
        ensure(semaphore.available_permits() == 0, "none is left");
      },
      {.old_value_bound = 1});
}

TEST(SemaphoreModel, WhatIsLeftAfterABatchPublishesWhatTheGiverDid) {
  check(
      [] {
        Semaphore semaphore(0);
        Cell<int> data{0};
        auto first = semaphore.acquire();
        auto second = semaphore.acquire();
        auto third = semaphore.acquire();
        for (auto* waiting : {&first, &second, &third}) let_wait(*waiting);
        Thread giver([&] {
          data.write() = 1;
          semaphore.add_permits(3);
        });
        Thread other([&] { semaphore.add_permits(1); });  // may serve the rest of the batch
        block_on(third).forget();
        ensure(data.read() == 1, "the first permits were the giver's, or the last");
        giver.join();
        other.join();
        block_on(first).forget();
        block_on(second).forget();
        ensure(semaphore.available_permits() == 1, "none is lost");
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(SemaphoreModel, AGiverDuringACloseOfManyKeepsWhatTheCloserPublished) {
  check(
      [] {
        Semaphore semaphore(0);
        Cell<int> data{0};
        auto first = semaphore.acquire(2).result();
        auto second = semaphore.acquire(2).result();
        auto third = semaphore.acquire(2).result();
        for (auto* waiting : {&first, &second, &third}) let_wait(*waiting);
        Thread closer([&] {
          data.write() = 1;
          semaphore.close();
        });
        Thread giver([&] { semaphore.add_permits(1); });
        if (semaphore.is_closed()) ensure(data.read() == 1);
        closer.join();
        giver.join();
        ensure(semaphore.available_permits() == 1, "nobody got it");
        ensure(!block_on(third), "refused");
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(SemaphoreModel, AGiverToManyDuringACloseKeepsWhatTheCloserPublished) {
  check(
      [] {
        Semaphore semaphore(0);
        Cell<int> data{0};
        std::optional<decltype(semaphore.acquire().result())> waiting[5];
        for (auto& one : waiting) let_wait(one.emplace(semaphore.acquire().result()));
        Thread closer([&] {
          data.write() = 1;
          semaphore.close();
        });
        Thread giver([&] { semaphore.add_permits(3); });
        if (semaphore.is_closed()) ensure(data.read() == 1);
        closer.join();
        giver.join();
        for (auto& one : waiting) one.reset();
        ensure(semaphore.available_permits() == 3, "none is lost");
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(SemaphoreModel, WhatIsForgottenAndWhatIsTakenAreAllThereWere) {
  check([] {
    Semaphore semaphore(1);
    Cell<int> guarded{0};
    std::size_t forgotten = 0;
    {
      Thread other([&] {
        {
          const Permit permit = block_on(semaphore.acquire());
          guarded.write() = 1;
        }
        semaphore.add_permits(1);
      });
      forgotten = semaphore.forget_permits(1);
      if (forgotten == 0) {
        semaphore.add_permits(1);
      } else {
        guarded.write() = 2;  // nobody else has it, and never will
        semaphore.add_permits(2);
      }
      other.join();
    }
    ensure(semaphore.available_permits() == 3, "none is lost");
  });
}

TEST(SemaphoreModel, WhoGotThePermitMayDestroyTheSemaphoreThoughOthersAreLeftOver) {
  check([] {
    auto semaphore = std::make_unique<Semaphore>(0);
    Thread giver([&to = *semaphore] { to.add_permits(2); });
    block_on(semaphore->acquire()).forget();
    semaphore.reset();
    giver.join();
  });
}

TEST(SemaphoreModel, WhoGotThePermitMayDestroyTheSemaphore) {
  check([] {
    auto semaphore = std::make_unique<Semaphore>(0);
    Thread giver([&to = *semaphore] { to.add_permits(1); });
    block_on(semaphore->acquire()).forget();
    semaphore.reset();
    giver.join();
  });
}

}  // namespace
}  // namespace rouse::model
