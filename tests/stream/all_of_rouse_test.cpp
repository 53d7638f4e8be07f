// Every adapter on a coroutine's stream, with all of rouse included: names of one namespace must
// not be ambiguous with those of another.
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <rouse/rouse.hpp>

namespace rouse {
namespace {

using ::testing::ElementsAre;

AsyncStream<int> numbers(int count) {
  for (int n = 1; n <= count; ++n) {
    co_await yield_now();
    co_yield n;
  }
}
AsyncStream<Result<int>> results(int count) {
  for (int n = 1; n <= count; ++n) co_yield Result<int>(n);
}
Async<int> twice(int n) { co_return 2 * n; }

Async<void> uses_all() {
  using namespace stream;  // NOLINT(google-build-using-namespace): as users do
  const auto is_odd = [](int n) { return n % 2 == 1; };
  const auto is_small = [](int n) { return n < 3; };

  auto pairs = co_await collect(enumerate(numbers(2)));
  EXPECT_EQ(pairs[1].first, 1U);
  int seen = 0;
  EXPECT_THAT(co_await collect(inspect(numbers(2), [&](int n) { seen += n; })), ElementsAre(1, 2));
  EXPECT_EQ(seen, 3);
  EXPECT_THAT(co_await collect(flat_map(numbers(2), [](int n) { return numbers(n); })),
              ElementsAre(1, 1, 2));
  EXPECT_THAT(co_await collect(flatten(stream::map(numbers(2), [](int n) { return numbers(n); }))),
              ElementsAre(1, 1, 2));
  EXPECT_THAT(co_await collect(filter(numbers(4), is_odd)), ElementsAre(1, 3));
  EXPECT_THAT(co_await collect(skip(numbers(4), 2)), ElementsAre(3, 4));
  EXPECT_THAT(co_await collect(skip_while(numbers(4), is_small)), ElementsAre(3, 4));
  EXPECT_THAT(co_await collect(take_while(numbers(4), is_small)), ElementsAre(1, 2));
  EXPECT_THAT(co_await collect(then(numbers(2), twice)), ElementsAre(2, 4));
  EXPECT_THAT(co_await collect(scan(
                  numbers(3), 0, [](int& sum, int n) -> std::optional<int> { return sum += n; })),
              ElementsAre(1, 3, 6));
  EXPECT_THAT(co_await collect(map_while(
                  numbers(3), [](int n) { return n < 3 ? std::optional(n) : std::nullopt; })),
              ElementsAre(1, 2));
  EXPECT_THAT(co_await collect(take_until(numbers(3), pending_forever())), ElementsAre(1, 2, 3));
  auto peeked = peekable(numbers(2));
  EXPECT_EQ(*co_await peeked.peek(), 1);
  EXPECT_THAT(co_await collect(stream::by_ref(peeked)), ElementsAre(1, 2));

  auto doubled = co_await collect(map_ok(results(2), [](int n) { return 2 * n; }));
  EXPECT_EQ(*doubled[1], 4);
  auto after = co_await collect(stream::and_then(results(2), twice));
  EXPECT_EQ(*after[1], 4);
  EXPECT_THAT(co_await try_collect(results(2)), ElementsAre(1, 2));
  int sum = 0;
  co_await try_for_each(results(3), [&](int n) -> Async<void> {
    sum += n;
    co_return;
  });
  EXPECT_EQ(sum, 6);
}

TEST(AllOfRouse, EveryAdapterTakesACoroutinesStream) { block_on(uses_all()); }

TEST(AllOfRouse, ByRefOfWhatStreamsAndFuturesAreNamedAlike) {
  using namespace stream;  // NOLINT(google-build-using-namespace): as users do
  auto all = collect(iter(std::vector<int>{1, 2}));
  EXPECT_THAT(block_on(by_ref(all)), ElementsAre(1, 2));
  auto items = iter(std::vector<int>{1, 2});
  EXPECT_THAT(block_on(collect(by_ref(items))), ElementsAre(1, 2));
}

}  // namespace
}  // namespace rouse
