// A combinator borrows if one of its children does: spawn asks the outermost future only.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/and_then.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/map.hpp"
#include "rouse/future/race.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/try_join.hpp"

#include "future/helpers.hpp"

namespace rouse::test {
namespace {

Async<int> borrower(const std::string& text) { co_return static_cast<int>(text.size()); }
Async<int> owner(std::string text) { co_return static_cast<int>(text.size()); }

const std::string text = "text";

TEST(Borrows, Map) {
  const auto function = [](int x) { return x; };
  EXPECT_TRUE(map(borrower(text), function).borrows());
  EXPECT_FALSE(map(owner(text), function).borrows());
  EXPECT_FALSE(map(ready(1), function).borrows());
}

TEST(Borrows, AndThen) {
  const auto function = [](int x) { return ready(x); };
  EXPECT_TRUE(and_then(borrower(text), function).borrows());
  EXPECT_FALSE(and_then(owner(text), function).borrows());
}

TEST(Borrows, Join) {
  EXPECT_TRUE(join(ready(1), owner(text), borrower(text)).borrows());
  EXPECT_FALSE(join(ready(1), owner(text)).borrows());
  EXPECT_FALSE(join().borrows());
}

TEST(Borrows, TryJoin) {
  EXPECT_TRUE(try_join(ready(1), owner(text), borrower(text)).borrows());
  EXPECT_FALSE(try_join(ready(1), owner(text)).borrows());
}

TEST(Borrows, JoinAll) {
  std::vector<Async<int>> futures;
  futures.push_back(owner(text));
  auto owners = join_all(std::move(futures));
  EXPECT_FALSE(owners.borrows());

  futures.clear();
  futures.push_back(owner(text));
  futures.push_back(borrower(text));
  auto mixed = join_all(std::move(futures));
  EXPECT_TRUE(mixed.borrows());
  const auto moved = std::move(mixed);
  EXPECT_TRUE(moved.borrows());
  EXPECT_FALSE(mixed.borrows());  // NOLINT(bugprone-use-after-move)
}

TEST(Borrows, Select) {
  EXPECT_TRUE(select(ready(1), owner(text), borrower(text)).borrows());
  EXPECT_FALSE(select(ready(1), owner(text)).borrows());
}

TEST(Borrows, Race) {
  EXPECT_TRUE(race(ready(1), owner(text), borrower(text)).borrows());
  EXPECT_FALSE(race(ready(1), owner(text)).borrows());
}

TEST(Borrows, ThroughSeveralLayers) {
  const auto function = [](int x) { return x; };
  EXPECT_TRUE(join(ready(1), race(map(borrower(text), function), owner(text))).borrows());
  EXPECT_FALSE(join(ready(1), race(map(owner(text), function), owner(text))).borrows());
}

TEST(Borrows, NotAnyMoreOnceTheChildIsGone) {
  CountingWaker waker;
  Gate<int> gate;
  auto joined = join(borrower(text), gate.future());
  EXPECT_TRUE(joined.poll(waker.cx).is_pending());
  EXPECT_FALSE(joined.borrows());
  auto mapped = map(borrower(text), [](int x) { return x; });
  EXPECT_TRUE(mapped.poll(waker.cx).is_ready());
  EXPECT_FALSE(mapped.borrows());
  auto then = and_then(owner(text), [](int) { return borrower(text); });
  EXPECT_FALSE(then.borrows());
  EXPECT_TRUE(then.poll(waker.cx).is_ready());
  EXPECT_FALSE(then.borrows());
}

}  // namespace
}  // namespace rouse::test
