// Models of what tasks meet at: Barrier, OnceCell, SetOnce and TaskTracker.
#include "rouse/sync/once_cell.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/barrier.hpp"
#include "rouse/sync/set_once.hpp"
#include "rouse/sync/task_tracker.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

// --- OnceCell ---

struct Value {
  explicit Value(int number) : cell(number) {}
  Value(Value&& other) noexcept : cell(other.cell.read()) {}
  Cell<int> cell;
};

TEST(OnceCellModel, OneOfTwoMakesTheValueAndBothSeeIt) {
  check([] {
    sync::OnceCell<Value> cell;
    Cell<int> made{0};
    const auto use = [&] {
      Value& value = block_on(cell.get_or_init([&] {
        made.write() += 1;
        return Value(7);
      }));
      ensure(value.cell.read() == 7);
    };
    Thread other(use);
    use();
    other.join();
    ensure(made.read() == 1, "made once");
  });
}

TEST(OnceCellModel, WhoFindsTheValueSetSeesIt) {
  check(
      [] {
        sync::OnceCell<Value> cell;
        Thread other([&] { ensure(cell.set(7), "it was empty"); });
        if (const Value* value = cell.get()) ensure(value->cell.read() == 7);
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(OnceCellModel, OfTwoWhoSetItOneDoes) {
  check([] {
    sync::OnceCell<Value> cell;
    bool other_did = false;
    Thread other([&] { other_did = cell.set(1); });
    const bool did = cell.set(2);
    other.join();
    ensure(did != other_did);
    ensure(cell.get()->cell.read() == (did ? 2 : 1));
  });
}

TEST(OnceCellModel, AfterAnInitializerThatIsDroppedAnotherRunsItsOwn) {
  check([] {
    sync::OnceCell<Value> cell;
    Cell<int> resource{0};  // of one initializer at a time
    struct NeverReady {
      using Output = Value;
      explicit NeverReady(Cell<int>& used) : resource(used) {}
      NeverReady(NeverReady&&) = default;
      ~NeverReady() { resource.write() = 0; }
      Poll<Value> poll(Context&) { return pending; }
      Cell<int>& resource;
    };
    auto first = std::make_optional(cell.get_or_init([&] { return NeverReady(resource); }));
    let_wait(*first);
    Thread other([&] {
      Value& value = block_on(cell.get_or_init([&] {
        resource.write() = 1;
        return Value(7);
      }));
      ensure(value.cell.read() == 7);
    });
    first.reset();
    other.join();
    ensure(resource.read() == 1, "it came after the first");
  });
}

TEST(OnceCellModel, WhoGivesUpWaitingForTheValueLeavesItToTheOthers) {
  check([] {
    sync::OnceCell<Value> cell;
    const auto init = [] { return Value(7); };
    Thread other([&] { ensure(block_on(cell.get_or_init(init)).cell.read() == 7); });
    {
      auto waiting = cell.get_or_init(init);
      (void)is_ready_for(make_ref<ParkedThread>(), waiting);
    }
    other.join();
    ensure(cell.is_set());
  });
}

// --- SetOnce ---

TEST(SetOnceModel, WhoWaitsSeesTheValue) {
  check([] {
    sync::SetOnce<Value> cell;
    Thread other([&] { ensure(cell.set(7), "it was empty"); });
    ensure(block_on(cell.wait()).cell.read() == 7);
    other.join();
  });
}

TEST(SetOnceModel, OfTwoWhoSetItOneDoesAndWhoWaitedSeesThatOne) {
  check([] {
    sync::SetOnce<Value> cell;
    auto waits = cell.wait();
    let_wait(waits);
    Cell<bool> other_set{false};
    Thread other([&] { other_set.write() = cell.set(7); });
    const bool set = cell.set(8);
    const int seen = block_on(waits).cell.read();
    other.join();
    ensure(set != other_set.read(), "one of them");
    ensure(seen == (set ? 8 : 7));
  });
}

// --- Barrier ---

TEST(BarrierModel, AllGoOnTogetherAndOneIsTheLeader) {
  check([] {
    sync::Barrier barrier(2);
    Cell<int> mine{0};
    Cell<int> theirs{0};
    bool other_leads = false;
    Thread other([&] {
      theirs.write() = 1;
      other_leads = block_on(barrier.wait()).is_leader();
      ensure(mine.read() == 1);
    });
    mine.write() = 1;
    const bool leads = block_on(barrier.wait()).is_leader();
    ensure(theirs.read() == 1);
    other.join();
    ensure(leads != other_leads);
  });
}

TEST(BarrierModel, OfThreeEachSeesWhatAllDidBefore) {
  check(
      [] {
        sync::Barrier barrier(3);
        Cell<int> done[3];
        const auto arrive = [&](int number) {
          done[number].write() = 1;
          (void)block_on(barrier.wait());
          for (const Cell<int>& cell : done) ensure(cell.read() == 1);
        };
        Thread second([&] { arrive(1); });
        Thread third([&] { arrive(2); });
        arrive(0);
        second.join();
        third.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(BarrierModel, TheNextRoundBeginsAtOnce) {
  check(
      [] {
        sync::Barrier barrier(2);
        Cell<int> turns{0};
        Thread other([&] {
          (void)block_on(barrier.wait());
          turns.write() += 1;  // between the rounds
          (void)block_on(barrier.wait());
        });
        turns.write() = 1;
        (void)block_on(barrier.wait());
        (void)block_on(barrier.wait());
        ensure(turns.read() == 2);
        other.join();
      },
      {.old_value_bound = 1});
}

TEST(BarrierModel, WhoGivesUpHasNotArrived) {
  check([] {
    sync::Barrier barrier(2);
    auto waiting = std::make_optional(barrier.wait());
    let_wait(*waiting);
    std::optional<sync::Barrier::Wait> arriving(barrier.wait());
    bool was_ready = false;
    Thread other([&] { was_ready = is_ready(*arriving); });
    waiting.reset();
    other.join();
    if (!was_ready) {
      auto second = barrier.wait();
      ensure(is_ready(second), "two are there now");
    }
  });
}

// --- TaskTracker ---

TEST(TaskTrackerModel, WaitEndsAfterAllThatWasTracked) {
  check([] {
    const sync::TaskTracker tracker;
    Cell<int> first_data{0};
    Cell<int> second_data{0};
    Thread first([&, token = tracker.token()]() mutable {
      const auto mine = std::move(token);
      first_data.write() = 1;
    });
    Thread second([&, token = tracker.token()]() mutable {
      const auto mine = std::move(token);
      second_data.write() = 1;
    });
    tracker.close();
    block_on(tracker.wait());
    ensure(first_data.read() == 1 && second_data.read() == 1);
    first.join();
    second.join();
  });
}

TEST(TaskTrackerModel, ACloseAgainstTheLastTokenWakesWhoWaits) {
  check([] {
    const sync::TaskTracker tracker;
    Cell<int> tasks{0};
    Cell<int> closers{0};
    Thread task([&tasks, token = tracker.token()]() mutable {
      const auto mine = std::move(token);
      tasks.write() = 1;
    });
    Thread closer([&] {
      closers.write() = 1;
      tracker.close();
    });
    block_on(tracker.wait());
    ensure(tasks.read() == 1 && closers.read() == 1, "it sees what both did");
    task.join();
    closer.join();
  });
}

}  // namespace
}  // namespace rouse::model
