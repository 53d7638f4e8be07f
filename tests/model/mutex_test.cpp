// Models of what guards a value: Mutex, RwLock, and SpinLock, of which all others are made.
#include "rouse/sync/mutex.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/rw_lock.hpp"

#include "model/waiting.hpp"

namespace rouse::model {

using namespace internal;
namespace {

TEST(SpinLockModel, OneAtATimeHoldsIt) {
  check([] {
    SpinLock lock;
    Cell<int> guarded{0};
    const auto use = [&] {
      const SpinGuard guard(lock);
      guarded.write() += 1;
    };
    Thread second(use);
    Thread third(use);
    use();
    second.join();
    third.join();
    ensure(guarded.read() == 3);
  });
}

TEST(SpinLockModel, WhoGivesItBackInBetweenHasToTakeItAgain) {
  check([] {
    SpinLock lock;
    Cell<int> guarded{0};
    Thread other([&] {
      const SpinGuard guard(lock);
      guarded.write() += 1;
    });
    {
      SpinGuard guard(lock);
      guarded.write() += 1;
      guard.unlock();
      guard.lock();
      guarded.write() += 1;
    }
    other.join();
    ensure(guarded.read() == 3);
  });
}

struct Shared : RefCounted<Shared> {
  Cell<int> uses{0};
};

TEST(RefPtrModel, TheLastOwnerDestroysAfterAllHaveUsedIt) {
  check(
      [] {
        RefPtr<Shared> mine = make_ref<Shared>();
        Thread other([theirs = mine]() mutable {
          (void)theirs->uses.read();
          const RefPtr<Shared> copy = theirs;
          theirs = nullptr;
          (void)copy->uses.read();
        });
        (void)mine->uses.read();
        mine = nullptr;
        other.join();
      },
      {.preemption_bound = Options::unbounded});
}

TEST(MutexModel, OneAtATimeHasTheValue) {
  check([] {
    sync::Mutex<Cell<int>> mutex(0);
    const auto use = [&] {
      const auto guard = block_on(mutex.lock());
      guard->write() += 1;
    };
    Thread other(use);
    use();
    use();
    other.join();
    ensure(mutex.get_mut().read() == 3);
  });
}

TEST(MutexModel, WhoGivesUpWaitingPassesTheLockOn) {
  check([] {
    sync::Mutex<Cell<int>> mutex(0);
    auto held = mutex.try_lock();
    auto first = std::make_optional(mutex.lock());
    auto second = mutex.lock();
    let_wait(*first);
    let_wait(second);
    Thread holder([&] {
      (*held)->write() = 1;
      held->unlock();
    });
    first.reset();
    {
      const auto guard = block_on(second);
      ensure(guard->read() == 1, "it sees what the holder did");
    }
    holder.join();
    ensure(mutex.try_lock().has_value(), "it is free");
  });
}

TEST(MutexModel, AWaiterThatIsOvertakenGetsItsTurn) {
  check([] {
    sync::Mutex<Cell<int>> mutex(0);
    auto held = mutex.try_lock();
    auto waiting = mutex.lock();
    let_wait(waiting);
    Thread holder([&] {
      (*held)->write() = 1;
      held->unlock();
    });
    if (const auto overtaking = mutex.try_lock()) {
      ensure((*overtaking)->read() == 1, "it sees what the holder did");
      (*overtaking)->write() = 1;
    }
    ensure(block_on(waiting)->read() == 1);
    holder.join();
    ensure(mutex.try_lock().has_value(), "it is free");
  });
}

TEST(MutexModel, AWaiterThatLosesATurnIsHandedTheLock) {
  check([] {
    sync::Mutex<Cell<int>> mutex(0);
    auto held = mutex.try_lock();
    auto first = mutex.lock();
    let_wait(first);
    held.reset();
    Thread other([&] {
      for (int i = 0; i < 2; ++i) {
        if (const auto overtaking = mutex.try_lock()) (*overtaking)->write() += 1;
      }
    });
    {
      const auto guard = block_on(first);
      guard->write() += 1;
    }
    other.join();
    const int uses = mutex.get_mut().read();
    ensure(uses >= 1 && uses <= 3);
    ensure(mutex.try_lock().has_value(), "it is free");
  });
}

TEST(MutexModel, AWokenWaiterThatGivesUpWakesTheNext) {
  check(
      [] {
        sync::Mutex<Cell<int>> mutex(0);
        auto held = mutex.try_lock();
        auto first = std::make_optional(mutex.lock());
        auto second = mutex.lock();
        let_wait(*first);
        let_wait(second);
        held.reset();
        Thread other([&] {
          if (const auto overtaking = mutex.try_lock()) (*overtaking)->write() += 1;
        });
        Thread leaving([&] { first.reset(); });
        block_on(second)->write() += 1;
        other.join();
        leaving.join();
        ensure(mutex.try_lock().has_value(), "it is free");
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(MutexModel, AWokenWaiterIsPolledAndOneBehindItLeaves) {
  check(
      [] {
        sync::Mutex<Cell<int>> mutex(0);
        auto held = mutex.try_lock();
        auto first = mutex.lock();
        auto second = std::make_optional(mutex.lock());
        let_wait(first);
        let_wait(*second);
        held.reset();
        held = mutex.try_lock();
        Thread leaving([&] { second.reset(); });
        Thread holder([&] {
          (*held)->write() = 1;
          held->unlock();
        });
        ensure(block_on(first)->read() == 1, "it sees what the holder did");
        leaving.join();
        holder.join();
        ensure(mutex.try_lock().has_value(), "it is free");
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(MutexModel, OfThreeEachGetsItTwice) {
  check(
      [] {
        sync::Mutex<Cell<int>> mutex(0);
        const auto use = [&] {
          for (int i = 0; i < 2; ++i) block_on(mutex.lock())->write() += 1;
        };
        Thread second(use);
        Thread third(use);
        use();
        second.join();
        third.join();
        ensure(mutex.get_mut().read() == 6);
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

/// Who gets the lock as the last of all futures may destroy it.
TEST(MutexModel, TheLastFutureMayBeTheLastOwner) {
  check([] {
    struct Owned : RefCounted<Owned> {
      sync::Mutex<Cell<int>> mutex{0};
    };
    RefPtr<Owned> owned = make_ref<Owned>();
    auto held = owned->mutex.try_lock();
    auto waiting = owned->mutex.lock();
    let_wait(waiting);
    Thread holder([&] { held->unlock(); });
    block_on(waiting)->write() = 1;
    owned = nullptr;  // the holder may still be in `unlock`
    holder.join();
  });
}

TEST(RwLockModel, AWriterIsAlone) {
  check([] {
    sync::RwLock<Cell<int>> lock(0);
    Thread writer([&] {
      const auto writing = block_on(lock.write());
      writing->write() += 1;
      writing->write() += 1;
    });
    {
      const auto reading = block_on(lock.read());
      ensure(reading->read() != 1, "all or nothing");
    }
    writer.join();
    ensure(lock.get_mut().read() == 2);
  });
}

TEST(RwLockModel, ReadersAndAWriterAllGetTheirTurn) {
  check(
      [] {
        sync::RwLock<Cell<int>> lock(sync::MaxReaders(2), 0);
        Thread reader([&] { (void)block_on(lock.read())->read(); });
        Thread writer([&] { block_on(lock.write())->write() += 1; });
        (void)block_on(lock.read())->read();
        reader.join();
        writer.join();
        ensure(lock.get_mut().read() == 1);
      },
      {.old_value_bound = 1});
}

TEST(RwLockModel, NoWriterComesInBetweenADowngrade) {
  check([] {
    sync::RwLock<Cell<int>> lock(0);
    Thread writer([&] { block_on(lock.write())->write() = 2; });
    {
      auto writing = block_on(lock.write());
      writing->write() = 1;
      const auto reading = std::move(writing).downgrade();
      ensure(reading->read() == 1, "it is as it was left");
    }
    writer.join();
  });
}

TEST(RwLockModel, AReaderBehindAWriterThatGivesUpGoesOn) {
  check([] {
    sync::RwLock<Cell<int>> lock(0);
    auto held = lock.try_read();
    auto writing = std::make_optional(lock.write());
    auto reading = lock.read();
    let_wait(*writing);
    let_wait(reading);
    Thread holder([&] { held->unlock(); });
    writing.reset();
    (void)block_on(reading)->read();
    holder.join();
    ensure(lock.try_write().has_value(), "it is free");
  });
}

TEST(RwLockModel, ReadersBehindAWokenWriterThatGivesUpGoOn) {
  check([] {
    sync::RwLock<Cell<int>> lock(0);
    auto held = lock.try_write();
    auto writing = std::make_optional(lock.write());
    auto reading = lock.read();
    let_wait(*writing);
    let_wait(reading);
    held.reset();
    Thread other([&] {
      if (const auto overtaking = lock.try_write()) (*overtaking)->write() = 1;
    });
    writing.reset();
    (void)block_on(reading)->read();
    other.join();
    ensure(lock.try_write().has_value(), "it is free");
  });
}

}  // namespace
}  // namespace rouse::model
