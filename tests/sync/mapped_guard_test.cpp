#include "rouse/sync/mapped_guard.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/map.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/owned.hpp"
#include "rouse/sync/rw_lock.hpp"

namespace {

using namespace rouse;
using namespace rouse::sync;

struct LockedState {
  std::vector<int> numbers;
  std::unique_ptr<std::string> name;
};

TEST(MappedGuard, GivesAPartAndKeepsTheWholeLocked) {
  Mutex<LockedState> state;
  {
    MappedMutexGuard<LockedState, std::vector<int>> numbers =
        sync::map(*state.try_lock(), [](LockedState& s) -> auto& { return s.numbers; });
    numbers->push_back(1);
    (*numbers).push_back(2);
    EXPECT_FALSE(state.try_lock());
  }
  ASSERT_TRUE(state.try_lock());
  EXPECT_EQ(state.get_mut().numbers, (std::vector{1, 2}));
}

TEST(MappedGuard, IsFoundWithoutItsNamespaceNextToTheMapOfFutures) {
  Mutex<LockedState> state;
  auto push = [&]() -> Async<std::size_t> {
    auto numbers = map(co_await state.lock(), [](LockedState& s) -> auto& { return s.numbers; });
    numbers->push_back(1);
    co_return numbers->size();
  };
  EXPECT_EQ(block_on(push()), 1U);
}

TEST(MappedGuard, AMemberIsEnough) {
  struct Linked {
    std::vector<int> numbers;
    std::vector<int>* other;
    std::vector<int>& first() { return numbers; }
  };
  Mutex<Linked> state(Linked{{1}, nullptr});
  EXPECT_EQ(map(*state.try_lock(), &Linked::numbers)->size(), 1U);
  EXPECT_EQ(map(*state.try_lock(), &Linked::first)->size(), 1U);
  auto whole = *state.try_lock();
  EXPECT_FALSE(try_map(std::move(whole), &Linked::other));
  whole->other = &whole->numbers;  // NOLINT(bugprone-use-after-move): as it was
  EXPECT_EQ((*try_map(std::move(whole), &Linked::other))->size(), 1U);
  RwLock<Linked> shared(Linked{{1, 2}, nullptr});
  EXPECT_EQ(map(*shared.try_read(), &Linked::numbers)->size(), 2U);
}

TEST(MappedGuard, TheOldGuardIsEmpty) {
  Mutex<LockedState> state;
  auto whole = *state.try_lock();
  auto numbers = map(std::move(whole), [](LockedState& s) -> auto& { return s.numbers; });
  whole.unlock();  // NOLINT(bugprone-use-after-move): does nothing
  EXPECT_FALSE(state.try_lock());
  numbers.unlock();
  EXPECT_TRUE(state.try_lock());
}

TEST(MappedGuard, AReaderGetsAPartItCanOnlyRead) {
  RwLock<LockedState> state;
  auto first = map(*state.try_read(), [](const LockedState& s) -> auto& { return s.numbers; });
  static_assert(std::is_same_v<decltype(first), MappedReadGuard<LockedState, std::vector<int>>>);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(*first)>>);
  EXPECT_TRUE(state.try_read()) << "others read, too";
  EXPECT_FALSE(state.try_write());
  first.unlock();
  auto written = map(*state.try_write(), [](LockedState& s) -> auto& { return s.numbers; });
  static_assert(std::is_same_v<decltype(written), MappedWriteGuard<LockedState, std::vector<int>>>);
  EXPECT_FALSE(state.try_read());
}

TEST(MappedGuard, MapsAgain) {
  Mutex<LockedState> state;
  state.get_mut().numbers = {1, 2};
  {
    auto numbers = map(*state.try_lock(), [](LockedState& s) -> auto& { return s.numbers; });
    auto last = map(std::move(numbers), [](std::vector<int>& all) -> auto& { return all.back(); });
    *last = 7;
    EXPECT_FALSE(state.try_lock());
  }
  EXPECT_TRUE(state.try_lock());
  EXPECT_EQ(state.get_mut().numbers.back(), 7);
}

TEST(MappedGuard, MovesAndUnlocksOnce) {
  Mutex<LockedState> one;
  Mutex<LockedState> two;
  const auto numbers_of = [](LockedState& s) -> auto& { return s.numbers; };
  auto first = map(*one.try_lock(), numbers_of);
  auto second = map(*two.try_lock(), numbers_of);
  first = std::move(second);
  EXPECT_TRUE(one.try_lock());
  EXPECT_FALSE(two.try_lock());
  auto third = std::move(first);
  EXPECT_FALSE(two.try_lock());
  third.unlock();
  third.unlock();
  EXPECT_TRUE(two.try_lock());
}

TEST(TryMap, GivesThePartIfThereIsOne) {
  Mutex<LockedState> state;
  state.get_mut().name = std::make_unique<std::string>("ann");
  const auto name_of = [](LockedState& s) { return s.name.get(); };
  auto name = try_map(*state.try_lock(), name_of);
  ASSERT_TRUE(name);
  EXPECT_EQ(**name, "ann");
  EXPECT_FALSE(state.try_lock());
  auto twice = try_map(std::move(*name), [](std::string& text) { return text.data(); });
  ASSERT_TRUE(twice);
  EXPECT_EQ(**twice, 'a');
}

TEST(TryMap, LeavesTheGuardIfThereIsNone) {
  Mutex<LockedState> state;
  auto whole = *state.try_lock();
  EXPECT_FALSE(try_map(std::move(whole), [](LockedState& s) { return s.name.get(); }));
  whole->numbers.push_back(1);  // NOLINT(bugprone-use-after-move): it was not moved from
  EXPECT_FALSE(state.try_lock());
}

TEST(MappedGuard, AFunctionThatThrowsLeavesTheGuard) {
  Mutex<LockedState> state;
  auto whole = *state.try_lock();
  const auto fails = [](LockedState&) -> int& { throw std::runtime_error("no"); };
  EXPECT_THROW((void)map(std::move(whole), fails), std::runtime_error);
  whole->numbers.push_back(1);  // NOLINT(bugprone-use-after-move): it was not moved from
  EXPECT_FALSE(state.try_lock());
}

TEST(OwnedGuards, HaveNamesAndKeepTheirLockAlive) {
  auto mutex = std::make_shared<Mutex<LockedState>>();
  OwnedMutexGuard<LockedState> guard = block_on(Mutex<LockedState>::lock_owned(mutex));
  std::weak_ptr<Mutex<LockedState>> alive = mutex;
  mutex.reset();
  auto numbers = map(std::move(guard), [](LockedState& s) -> auto& { return s.numbers; });
  numbers->push_back(1);
  EXPECT_FALSE(alive.expired());
  numbers.unlock();
  EXPECT_TRUE(alive.expired());

  auto lock = std::make_shared<RwLock<LockedState>>();
  const OwnedReadGuard<LockedState> reads = block_on(RwLock<LockedState>::read_owned(lock));
  EXPECT_FALSE(RwLock<LockedState>::try_write_owned(lock));
  auto other = std::make_shared<RwLock<LockedState>>();
  const OwnedWriteGuard<LockedState> writes = block_on(RwLock<LockedState>::write_owned(other));
  EXPECT_FALSE(RwLock<LockedState>::try_read_owned(other));
  auto slots = std::make_shared<Semaphore>(1);
  const OwnedSemaphorePermit slot = block_on(Semaphore::acquire_owned(slots));
  EXPECT_EQ(slots->available_permits(), 0U);
}

TEST(MappedGuardDeathTest, UseAfterTheUnlockIsAMistake) {
  Mutex<LockedState> state;
  auto numbers = map(*state.try_lock(), [](LockedState& s) -> auto& { return s.numbers; });
  numbers.unlock();
  EXPECT_DEATH(numbers->clear(), "a guard that was unlocked or moved from");
}

}  // namespace
