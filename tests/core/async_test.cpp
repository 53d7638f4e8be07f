// Async: what it returns, when it runs, what it awaits. Exceptions, cancellation, adoption and
// backtraces have files of their own.
#include "rouse/core/async.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::poll_once;
using test::ReadyAfter;
using testing::Gate;
using testing::PollHarness;

Async<int> echo_back(int x) { co_return x; }

TEST(Async, ReturnsAValue) {
  auto future = echo_back(7);
  EXPECT_EQ(poll_once(future).value(), 7);
}

Async<> set(bool& done) {
  done = true;
  co_return;
}

TEST(Async, OfVoidRuns) {
  bool done = false;
  auto future = set(done);
  EXPECT_TRUE(poll_once(future).is_ready());
  EXPECT_TRUE(done);
}

TEST(Async, IsLazy) {
  bool done = false;
  {
    [[maybe_unused]] auto future = set(done);
    EXPECT_FALSE(done);
  }
  EXPECT_FALSE(done);  // destroyed before it began
}

Async<int&> refer(int& x) { co_return x; }
Async<int&> refer_through(int& x) { co_return co_await refer(x); }
Async<const std::string&> refer_const(const std::string& s) { co_return s; }

TEST(Async, ReturnsAReferenceToTheObjectItself) {
  int x = 1;
  auto future = refer_through(x);
  EXPECT_EQ(&poll_once(future).value(), &x);
  const std::string text = "text";
  auto constant = refer_const(text);
  EXPECT_EQ(&poll_once(constant).value(), &text);
}

Async<std::unique_ptr<int>> give_unique(std::unique_ptr<int> p) { co_return p; }
Async<std::unique_ptr<int>> pass_unique(std::unique_ptr<int> p) {
  auto got = co_await give_unique(std::move(p));
  ++*got;
  co_return got;
}

TEST(Async, TakesAndReturnsMoveOnlyValues) {
  auto future = pass_unique(std::make_unique<int>(4));
  EXPECT_EQ(*poll_once(future).value(), 5);
}

struct TwoNumbers {
  TwoNumbers(int a, int b) : first(a), second(b) {}
  int first;
  int second;
};
Async<TwoNumbers> give_pair() { co_return {1, 2}; }
Async<std::string> give_text() { co_return "text"; }

TEST(Async, ConvertsWhatIsReturnedToItsType) {
  auto pair = give_pair();
  EXPECT_EQ(poll_once(pair).value().second, 2);
  auto text = give_text();
  EXPECT_EQ(poll_once(text).value(), "text");
}

/// Can be made and moved, but neither assigned nor default-constructed: like a lock's guard.
class Guard {
 public:
  explicit Guard(int& target) : target_(target) {}
  Guard(Guard&& other) noexcept : target_(other.target_) {}
  Guard& operator=(Guard&&) = delete;
  void set(int value) { target_ = value; }

 private:
  int& target_;
};

Async<Guard> guard_of(int& target) { co_return Guard(target); }
Async<> set_through_guards(int& x, int& y) {
  Guard from_child = co_await guard_of(x);
  from_child.set(1);
  Guard from_leaf = co_await ReadyAfter<Guard>(1, Guard(y));
  from_leaf.set(2);
}

TEST(Async, AwaitsValuesThatCannotBeAssigned) {
  int x = 0;
  int y = 0;
  PollHarness h(set_through_guards(x, y));
  EXPECT_TRUE(h.poll_until_ready(2).is_ready());
  EXPECT_EQ(x, 1);
  EXPECT_EQ(y, 2);
}

Async<int> sum(int n) {
  int total = 0;
  for (int i = 1; i <= n; ++i) total += co_await echo_back(i);
  co_return total;
}

TEST(Async, AwaitsChildren) {
  auto future = sum(10);
  EXPECT_EQ(poll_once(future).value(), 55);
}

Async<int> add_leaves() {
  const int a = co_await ReadyAfter<int>(0, 1);
  const int b = co_await ReadyAfter<int>(2, 10);
  ReadyAfter<int> named(1, 100);
  const int c = co_await named;
  co_return a + b + c;
}

TEST(Async, AwaitsLeavesNamedAndTemporary) {
  PollHarness h(add_leaves());
  EXPECT_EQ(h.poll_until_ready(10).value(), 111);
  EXPECT_EQ(h.polls(), 4u);  // one, and one more for each pending
}

/// Records whether it was polled inside the same resumption as what came before.
Async<> await_ready_leaves(int count, int& awaited) {
  for (int i = 0; i < count; ++i) {
    co_await ReadyAfter<int>(0, i);
    ++awaited;
  }
}

TEST(Async, NeverSuspendsOnALeafThatIsReady) {
  int awaited = 0;
  PollHarness h(await_ready_leaves(1000, awaited));
  EXPECT_TRUE(h.poll().is_ready());
  EXPECT_EQ(awaited, 1000);
  EXPECT_EQ(h.waker().clones_made(), 0u);
}

Async<int> pass_gate(Gate<int>& gate) { co_return co_await gate.wait(); }
Async<int> await_gate_deeply(Gate<int>& gate) { co_return 1 + co_await pass_gate(gate); }

TEST(Async, IsPendingUntilItsLeafIsReady) {
  Gate<int> gate;
  PollHarness h(await_gate_deeply(gate));
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_TRUE(h.kept_waker());
  EXPECT_FALSE(h.is_woken());
  EXPECT_TRUE(h.poll().is_pending());  // a spurious poll
  gate.open(6);
  EXPECT_TRUE(h.is_woken());
  EXPECT_EQ(h.poll().value(), 7);
}

/// Breaks the contract: pending, and nobody will ever wake it.
class Forgetful {
 public:
  using Output = void;
  Forgetful() noexcept {}
  Poll<void> poll(Context&) { return pending; }
};

TEST(PollHarness, SeesAFutureThatKeptNoWaker) {
  PollHarness forgetful{Forgetful()};
  EXPECT_TRUE(forgetful.poll().is_pending());
  EXPECT_FALSE(forgetful.kept_waker());

  PollHarness waking{test::PendingOnce()};
  EXPECT_TRUE(waking.poll().is_pending());
  EXPECT_TRUE(waking.kept_waker());
}

/// Breaks the contract: keeps the first waker for ever.
class KeepsFirstWaker {
 public:
  using Output = void;
  KeepsFirstWaker() noexcept {}
  Poll<void> poll(Context& cx) {
    if (!kept_) kept_ = cx.waker();
    return pending;
  }

 private:
  Waker kept_;
};

TEST(PollHarness, SeesAFutureThatDidNotKeepTheLatestWaker) {
  PollHarness h{KeepsFirstWaker()};
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_TRUE(h.kept_waker());
  h.change_waker();
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_FALSE(h.kept_waker());
}

TEST(PollHarness, GivesUpAfterTheGivenNumberOfPolls) {
  PollHarness h{ReadyAfter<int>(5, 1)};
  EXPECT_TRUE(h.poll_until_ready(5).is_pending());
  EXPECT_EQ(h.polls(), 5u);
  EXPECT_EQ(h.poll_until_ready(5).value(), 1);
  EXPECT_EQ(h.polls(), 6u);
}

Async<std::string> concatenate(std::string a, std::string b) {
  co_await test::PendingOnce();
  co_return a + b;
}

TEST(Async, OwnsItsArguments) {
  PollHarness h(concatenate(std::string(100, 'a'), std::string("b")));
  EXPECT_TRUE(h.poll().is_pending());
  EXPECT_EQ(h.poll().value(), std::string(100, 'a') + "b");
}

TEST(Async, CanBeMovedBeforeAndBetweenPolls) {
  Gate<int> gate;
  auto first = await_gate_deeply(gate);
  auto second = std::move(first);
  EXPECT_TRUE(poll_once(second).is_pending());
  auto third = std::move(second);  // the frame stays where it is
  gate.open(1);
  EXPECT_EQ(poll_once(third).value(), 2);
}

Async<std::vector<int>> collect(int n) {
  std::vector<Async<int>> children;
  for (int i = 0; i < n; ++i) children.push_back(echo_back(i));
  std::vector<int> values;
  for (Async<int>& child : children) values.push_back(co_await child);
  co_return values;
}

TEST(Async, AwaitsChildrenThatWereMadeBefore) {
  auto future = collect(4);
  EXPECT_EQ(poll_once(future).value(), (std::vector<int>{0, 1, 2, 3}));
}

TEST(Async, HasTheSizeOfAPointerAndIsMoveOnly) {
  static_assert(sizeof(Async<std::string>) == sizeof(void*));
  static_assert(Future<Async<int>>);
  static_assert(Future<Async<>>);
  static_assert(Future<Async<int&>>);
  static_assert(!std::is_copy_constructible_v<Async<>>);
  static_assert(std::is_nothrow_move_constructible_v<Async<>>);
  static_assert(std::is_nothrow_move_assignable_v<Async<>>);
}

Async<long double> give_wide() { co_return 1.5L; }

TEST(Async, ReturnsTypesWithTheLargestNormalAlignment) {
  auto future = give_wide();
  EXPECT_EQ(poll_once(future).value(), 1.5L);
}

struct Base {
  virtual ~Base() = default;
  virtual Async<int> number() = 0;
};
struct Derived final : Base {
  Async<int> number() override { co_return co_await echo_back(value); }
  int value = 9;
};

TEST(Async, WorksInVirtualFunctions) {
  Derived derived;
  auto future = static_cast<Base&>(derived).number();
  EXPECT_EQ(poll_once(future).value(), 9);
}

Async<int> fib(int n) {
  if (n < 2) co_return n;
  const int a = co_await fib(n - 1);
  const int b = co_await fib(n - 2);
  co_return a + b;
}

TEST(Async, Recurses) {
  auto future = fib(15);
  EXPECT_EQ(poll_once(future).value(), 610);
}

Async<> await_twice() {
  auto child = echo_back(1);
  (void)co_await child;
  (void)co_await child;
}
Async<> await_moved_from() {
  auto child = echo_back(1);
  [[maybe_unused]] const auto moved = std::move(child);
  (void)co_await child;  // NOLINT(bugprone-use-after-move)
}

TEST(AsyncDeathTest, PolledAfterItWasReadyIsRefusedByName) {
  auto future = echo_back(1);
  EXPECT_TRUE(poll_once(future).is_ready());
  EXPECT_DEATH((void)poll_once(future), "polled after it was ready.*in: .*echo_back");
}

TEST(AsyncDeathTest, AwaitedAfterItHadFinishedIsRefusedByTheAwaitersName) {
  auto future = await_twice();
  EXPECT_DEATH((void)poll_once(future), "moved from or awaited before.*in: .*await_twice");
}

TEST(AsyncDeathTest, AwaitOfAMovedFromAsyncIsRefusedByTheAwaitersName) {
  auto future = await_moved_from();
  EXPECT_DEATH((void)poll_once(future),
               "co_await of an Async that was moved from.*await_moved_from");
}

TEST(AsyncDeathTest, PollOfAMovedFromAsyncIsRefused) {
  auto future = echo_back(1);
  [[maybe_unused]] const auto moved = std::move(future);
  EXPECT_DEATH((void)poll_once(future),  // NOLINT(bugprone-use-after-move)
               "poll\\(\\) of an Async that was moved from");
}

}  // namespace
}  // namespace rouse
