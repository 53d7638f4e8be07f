// With address sanitizer a coroutine that outlives the variable that it borrows stops the program,
// with both lines (core/internal/checked_promise.hpp); one that does not is left alone.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/rouse.hpp"

namespace rouse {
namespace {

#if ROUSE_CHECKS_BORROWS
constexpr bool is_checked = true;
#else
constexpr bool is_checked = false;
#endif

Async<int> reads(const int& number) {
  co_await yield_now();
  co_return number;
}
Async<std::size_t> counts(std::string_view text) {
  co_await yield_now();
  co_return text.size();
}
Async<int> follows(const int* number) {
  co_await yield_now();
  co_return *number;
}

Async<int> never_follows(const int* number) {
  co_await pending_forever<void>();
  co_return *number;
}

class CheckedBorrowDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_checked) GTEST_SKIP() << "needs clang's address sanitizer";
  }
};

TEST_F(CheckedBorrowDeathTest, ABorrowerThatIsKeptStops) {
  std::optional<Async<int>> kept;
  const auto makes = [&]() -> Async<void> {
    const int local = 1;
    kept.emplace(reads(local));
    co_await yield_now();
  };
  EXPECT_DEATH(
      block_on(makes()),
      "borrows a variable(.|\n)*in: .*reads(.|\n)*variable is of .*checked_borrow_test.cpp:"
      "[0-9]+ (.|\n)*borrower is at .*checked_borrow_test.cpp:[0-9]+ .*reads");
}

TEST_F(CheckedBorrowDeathTest, SoDoesOneThatWaitsElsewhere) {
  auto [tx, rx] = sync::channel<AnyFuture<std::size_t>>(4);
  const auto makes = [](auto sender) -> Async<void> {
    const std::string local = "short";  // in the string itself, so in the frame
    (void)sender.try_send(AnyFuture<std::size_t>(counts(local)));
    co_await yield_now();
  };
  EXPECT_DEATH(block_on(makes(std::move(tx))), "borrows a variable(.|\n)*counts");
}

/// A future that does not say that it borrows.
class Wrapper {
 public:
  using Output = int;
  explicit Wrapper(Async<int> inner) : inner_(std::move(inner)) {}
  Poll<int> poll(Context& cx) { return inner_.poll(cx); }

 private:
  Async<int> inner_;
};

TEST_F(CheckedBorrowDeathTest, SoDoesOneThatIsSpawnedInAWrapper) {
  const auto spawns = [](LocalExecutor& executor) -> Async<void> {
    int local = 1;
    executor.spawn(Wrapper(never_follows(&local))).detach();
    co_await yield_now();  // so `local` is in the frame, and not on the stack
    ++local;
  };
  EXPECT_DEATH(
      {
        LocalExecutor executor;
        executor.run_until(spawns(executor));
      },
      "borrows a variable(.|\n)*never_follows");
}

struct Answerer {
  int answered = 0;
  Async<void> answer() {
    co_await yield_now();
    ++answered;
  }
};

TEST(CheckedBorrow, WhoDoesNotOutliveWhatItBorrowsIsLeftAlone) {
  const auto all = []() -> Async<int> {
    const int local = 1;
    std::string text = "four";
    int sum = co_await reads(local) + co_await follows(&local);
    sum += static_cast<int>(co_await counts(text));
    const auto [a, b] = co_await join(reads(local), follows(&local));
    sum += a + b;
    sum += std::get<0>(co_await select(reads(local), pending_forever<int>()));
    std::vector<Async<int>> dropped;  // without a poll, and before `local`
    dropped.push_back(reads(local));
    FuturesUnordered<Async<int>> some;
    some.push(reads(local));
    sum += *co_await some.next();
    some.push(reads(local));
    co_return sum;
  };
  EXPECT_EQ(block_on(all()), 10);
}

TEST(CheckedBorrow, AnObjectOfItsOwnMayOutliveTheMaker) {
  Answerer server;
  std::vector<Async<void>> kept;
  const auto makes = [&]() -> Async<void> {
    kept.push_back(server.answer());
    co_await yield_now();
  };
  block_on(makes());
  for (Async<void>& one : kept) block_on(one);
  EXPECT_EQ(server.answered, 1);
}

TEST(CheckedBorrow, ParametersGoTogether) {
  const auto fills = [](std::vector<Async<int>> tasks, int value) -> Async<int> {
    tasks.push_back(reads(value));  // never polled: goes with the other parameters
    co_return value;
  };
  EXPECT_EQ(block_on(fills({}, 3)), 3);
}

TEST(CheckedBorrow, ChildrenOfAScopeAndOfParallelMayBorrow) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const auto forks = []() -> Async<int> {
    int local = 2;
    const auto [a, b] = co_await parallel(reads(local), follows(&local));
    int sum = a + b;
    const auto fill = [&](Scope& children) -> Async<void> {
      children.spawn([&sum, &local]() -> Async<void> { sum += co_await reads(local); });
      co_return;
    };
    co_await scope(fill);
    co_return sum;
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.block_on(forks()), 6);
}

}  // namespace
}  // namespace rouse
