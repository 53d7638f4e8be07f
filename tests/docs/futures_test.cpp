// The code in docs/guide/01_futures.md that is in no example.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/future/shared.hpp>
#include <rouse/rouse.hpp>
#include <rouse/testing/drop_at_each_poll.hpp>
#include <rouse/testing/gate.hpp>
#include <rouse/testing/poll_harness.hpp>

namespace {

using rouse::testing::drop_at_each_poll;
using rouse::testing::DropReport;
using rouse::testing::Gate;
using rouse::testing::PollHarness;

// [flag]
/// A flag that one task waits for and any thread sets.
class Flag {
 public:
  class Wait {
   public:
    using Output = void;
    explicit Wait(Flag& flag) : flag_(flag) {}
    Wait(Wait&&) = default;  // before the first poll
    ~Wait() {
      if (registered_) flag_.waiter_.take();  // dropped: nobody is to be woken
    }

    rouse::Poll<void> poll(rouse::Context& cx) {
      registered_ = true;
      flag_.waiter_.register_waker(cx.waker());                  // first the waker,
      if (flag_.set_.load()) return rouse::Poll<void>::ready();  // then the look
      return rouse::pending;
    }

   private:
    Flag& flag_;
    bool registered_ = false;
  };

  Wait wait() { return Wait(*this); }
  void set() {
    set_.store(true);
    waiter_.wake();
  }

 private:
  std::atomic<bool> set_{false};
  rouse::AtomicWaker waiter_;
};
// [/flag]

TEST(FuturesGuide, AThreadSetsAFlagThatAFutureWaitsFor) {
  // [block_on_flag]
  Flag flag;
  std::jthread thread([&] { flag.set(); });
  rouse::block_on(flag.wait());
  // [/block_on_flag]
}

TEST(FuturesGuide, APollGivesReadyOrPending) {
  // [poll]
  rouse::Poll<int> later = rouse::pending;
  rouse::Poll<int> now = rouse::Poll<int>::ready(7);
  EXPECT_TRUE(later.is_pending());
  EXPECT_EQ(now.value(), 7);
  // [/poll]
}

// [make_waker]
/// What the waker calls. It is counted: wakers keep it alive.
struct Alarm : rouse::RefCounted<Alarm> {
  void wake() { rung = true; }  // from any thread
  std::atomic<bool> rung{false};
};
// [/make_waker]

TEST(FuturesGuide, MakeWakerCallsTheTarget) {
  // [use_make_waker]
  auto alarm = rouse::make_ref<Alarm>();
  rouse::Waker waker = rouse::make_waker(alarm);
  rouse::Context cx(waker);
  EXPECT_TRUE(rouse::yield_now().poll(cx).is_pending());  // it wakes itself
  EXPECT_TRUE(alarm->rung);
  // [/use_make_waker]
}

rouse::Async<int> number(int n) { co_return n; }

TEST(FuturesGuide, JoinGivesATuple) {
  // [join]
  auto [one, two] = rouse::block_on(rouse::join(number(1), number(2)));
  // [/join]
  EXPECT_EQ(one + two, 3);
}

TEST(FuturesGuide, SelectGivesTheFirst) {
  Gate<std::string> mail;
  Gate<> closing;
  closing.open();
  // [select]
  auto first = rouse::block_on(rouse::select(closing.wait(), mail.wait()));
  if (first.index() == 0) {
    // closing came first; the wait for mail is dropped
  }
  // [/select]
  EXPECT_EQ(first.index(), 0U);
}

// [select_loop]
rouse::Async<int> sum_for_a_while(rouse::sync::Receiver<int> numbers,
                                  rouse::sync::Receiver<int> tens) {
  int sum = 0;
  bool is_over = false;
  auto deadline = rouse::sleep(std::chrono::seconds(5));  // one for all rounds
  while (!is_over) {
    co_await rouse::select(rouse::on(rouse::by_ref(deadline), [&] { is_over = true; }),
                           rouse::on(numbers.recv(),
                                     [&](std::optional<int> n) {
                                       is_over = !n;  // the senders are gone
                                       sum += n.value_or(0);
                                     }),
                           rouse::on(tens.recv(), [&](std::optional<int> n) -> rouse::Async<> {
                             is_over = !n;
                             co_await rouse::yield_now();
                             sum += 10 * n.value_or(0);
                           }));
  }
  co_return sum;
}
// [/select_loop]

TEST(FuturesGuide, SelectInALoop) {
  auto rt = rouse::Runtime::builder().current_thread().start_paused().build();
  auto [one, numbers] = rouse::sync::channel<int>(8);
  auto [ten, tens] = rouse::sync::channel<int>(8);
  for (int n = 1; n <= 3; ++n) {
    EXPECT_TRUE(one.try_send(n));
    EXPECT_TRUE(ten.try_send(n));
  }
  EXPECT_EQ(rt.block_on(sum_for_a_while(std::move(numbers), std::move(tens))), 66);
}

TEST(FuturesGuide, AndThenChains) {
  // [and_then]
  auto length = rouse::and_then(rouse::ready(std::string("seven")),
                                [](const std::string& text) { return number(int(text.size())); });
  auto twice = rouse::map(std::move(length), [](int n) { return 2 * n; });
  EXPECT_EQ(rouse::block_on(twice), 10);
  // [/and_then]
}

TEST(FuturesGuide, JoinAllKeepsTheOrder) {
  // [join_all]
  std::vector<rouse::Async<int>> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back(number(i));
  std::vector<int> results = rouse::block_on(rouse::join_all(std::move(jobs)));
  // [/join_all]
  EXPECT_EQ(results.at(99), 99);
}

// [futures_unordered]
rouse::Async<int> sum_as_they_come(std::vector<rouse::Async<int>> jobs) {
  rouse::FuturesUnordered<rouse::Async<int>> running;
  for (auto& job : jobs) running.push(std::move(job));
  int sum = 0;
  while (auto result = co_await running.next()) sum += *result;
  co_return sum;
}
// [/futures_unordered]

TEST(FuturesGuide, FuturesUnorderedGivesResultsAsTheyCome) {
  std::vector<rouse::Async<int>> jobs;
  for (int i = 1; i <= 4; ++i) jobs.push_back(number(i));
  EXPECT_EQ(rouse::block_on(sum_as_they_come(std::move(jobs))), 10);
}

// [select_all]
/// The results of two of the jobs, the fastest ones; the others are dropped.
rouse::Async<int> best_two(std::vector<rouse::Async<int>> jobs) {
  auto first = co_await rouse::select_all(std::move(jobs));  // first.index says which it was
  auto second = co_await std::move(first.rest);
  co_return first.value + second.value;
}
// [/select_all]

TEST(FuturesGuide, SelectAllGivesTheRest) {
  std::vector<rouse::Async<int>> jobs;
  for (int i = 1; i <= 4; ++i) jobs.push_back(number(i));
  EXPECT_EQ(rouse::block_on(best_two(std::move(jobs))), 3);
}

// [shared]
rouse::Async<int> plus_limit(int x, rouse::Shared<rouse::Async<int>> limit) {
  co_return x + co_await std::move(limit);
}

rouse::Async<int> both() {
  const rouse::Shared limit = rouse::shared(number(100));  // runs once
  auto [one, two] = co_await rouse::join(plus_limit(1, limit), plus_limit(2, limit));
  co_return one + two;
}
// [/shared]

TEST(FuturesGuide, ASharedFutureIsAwaitedByMany) { EXPECT_EQ(rouse::block_on(both()), 203); }

TEST(FuturesGuide, PollFnIsAFutureInPlace) {
  // [poll_fn]
  auto third_time = rouse::poll_fn([polls = 0](rouse::Context& cx) mutable -> rouse::Poll<int> {
    if (++polls == 3) return rouse::Poll<int>::ready(polls);
    cx.waker().wake_by_ref();
    return rouse::pending;
  });
  EXPECT_EQ(rouse::block_on(third_time), 3);
  // [/poll_fn]
}

TEST(FuturesGuide, AnyFutureHoldsDifferentFutures) {
  // [any_future]
  std::vector<rouse::AnyFuture<int>> futures;
  futures.push_back(number(1));        // a coroutine: no allocation
  futures.push_back(rouse::ready(2));  // any other: one block of memory
  // [/any_future]
  int sum = 0;
  for (int n : rouse::block_on(rouse::join_all(std::move(futures)))) sum += n;
  EXPECT_EQ(sum, 3);
}

TEST(FuturesGuide, DestroyingAFutureCancelsIt) {
  // [cancel]
  auto file = std::make_shared<std::string>("open");
  const auto use = [](std::shared_ptr<std::string> held) -> rouse::Async<void> {
    co_await rouse::pending_forever<>();
    held->clear();  // never comes
  };
  {
    auto future = use(file);
    rouse::Context cx(rouse::Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    EXPECT_EQ(file.use_count(), 2);  // the suspended coroutine holds it
  }
  EXPECT_EQ(file.use_count(), 1);  // destroyed: all it held is given back
  // [/cancel]
}

// [harness]
TEST(FlagWait, IsReadyOnceTheFlagIsSet) {
  Flag flag;
  PollHarness wait(flag.wait());
  EXPECT_TRUE(wait.poll().is_pending());
  EXPECT_TRUE(wait.kept_waker());  // pending, and somebody will wake it

  flag.set();
  EXPECT_TRUE(wait.is_woken());
  EXPECT_TRUE(wait.poll().is_ready());
}

TEST(FlagWait, WakesTheLatestWaker) {
  Flag flag;
  PollHarness wait(flag.wait());
  EXPECT_TRUE(wait.poll().is_pending());
  wait.change_waker();  // as if it had moved to another task
  EXPECT_TRUE(wait.poll().is_pending());
  flag.set();
  EXPECT_TRUE(wait.is_woken());
}
// [/harness]

// [drop]
TEST(SumAsTheyCome, GivesEverythingBackWhereverItIsDropped) {
  Gate<int> gate;
  const auto wait = [](Gate<int>& g) -> rouse::Async<int> { co_return co_await g.wait(); };
  const DropReport report = drop_at_each_poll(
      [&] {
        std::vector<rouse::Async<int>> jobs;
        jobs.push_back(wait(gate));
        return sum_as_they_come(std::move(jobs));
      },
      [&](std::size_t) { gate.open(5); });  // lets it progress between two polls
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
}
// [/drop]

}  // namespace
