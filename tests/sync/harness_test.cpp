// What the tests of sync rest on: that futures end on each executor, and that the search for an
// order of calls finds one where there is one, and none where there is none.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"

#include "sync/executors.hpp"
#include "sync/linearizability.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;

template <class Executor>
class HarnessOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(HarnessOn, AllExecutors, ExecutorNames);

Async<int> count(std::atomic<int>& counter) {
  co_await yield_now();
  co_return counter.fetch_add(1);
}
template <class Executor>
Async<int> spawn_inside(Executor& executor, std::atomic<int>& counter) {
  executor.spawn(count(counter));
  co_await yield_now();
  co_return 7;
}

TYPED_TEST(HarnessOn, RunGivesTheOutputAndWaitsForAllThatWasSpawned) {
  std::atomic<int> counter{0};
  this->executor.spawn(count(counter));
  this->executor.spawn(count(counter));
  EXPECT_EQ(this->executor.run(spawn_inside(this->executor, counter)), 7);
  EXPECT_EQ(counter.load(), 3);
}

struct CounterModel {
  enum class Op { add, get };
  using Result = int;
  Result apply(Op op) { return op == Op::add ? value++ : value; }
  auto operator<=>(const CounterModel&) const = default;
  int value = 0;
};
using Op = CounterModel::Op;

Call<CounterModel> call(std::size_t thread, Op op, int result, std::uint64_t begin,
                        std::uint64_t end) {
  return Call<CounterModel>{thread, op, result, begin, end};
}

TEST(Linearizability, CallsThatOverlapMayHaveHappenedInEitherOrder) {
  EXPECT_TRUE(is_linearizable<CounterModel>({call(0, Op::add, 0, 0, 3), call(1, Op::get, 0, 1, 2)},
                                            CounterModel()));
  EXPECT_TRUE(is_linearizable<CounterModel>({call(0, Op::add, 0, 0, 3), call(1, Op::get, 1, 1, 2)},
                                            CounterModel()));
}

TEST(Linearizability, ACallSeesWhatEndedBeforeItBegan) {
  EXPECT_FALSE(is_linearizable<CounterModel>({call(0, Op::add, 0, 0, 1), call(1, Op::get, 0, 2, 3)},
                                             CounterModel()));
}

TEST(Linearizability, TwoCallsCannotBothBeTheFirst) {
  EXPECT_FALSE(is_linearizable<CounterModel>({call(0, Op::add, 0, 0, 3), call(1, Op::add, 0, 1, 2)},
                                             CounterModel()));
}

template <class Add>
HistoryReport histories_of_a_counter(Add add) {
  return check_histories<CounterModel>(
      HistoryOptions(), [] { return CounterModel(); },
      [] { return std::make_unique<std::atomic<int>>(0); },
      [](Random& random, std::size_t) { return random() % 2 == 0 ? Op::add : Op::get; },
      [&](std::atomic<int>& counter, std::size_t, Op op) {
        return op == Op::add ? add(counter) : counter.load();
      });
}

TEST(Linearizability, ACounterKeepsToItsModel) {
  const auto report = histories_of_a_counter([](auto& counter) { return counter.fetch_add(1); });
  EXPECT_EQ(report.violation, "");
  EXPECT_GT(report.overlapping, 0U);
}

TEST(Linearizability, ACounterThatLosesAdditionsIsFound) {
  const auto report = histories_of_a_counter([](auto& counter) {
    const int before = counter.load();
    std::this_thread::yield();
    counter.store(before + 1);
    return before;
  });
  EXPECT_NE(report.violation, "");
}

}  // namespace
