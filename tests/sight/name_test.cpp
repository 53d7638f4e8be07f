// Names of resources: each is found as long as it is there, however many there are.
#include "rouse/sight/name.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/sight/dump.hpp"
#include "rouse/sync/notify.hpp"

namespace rouse::sight {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Async<void> wait_for_it(sync::Notify& told) { co_await told.notified(); }

/// Forgotten in the order of their making, a hundred thousand take no noticeable time.
TEST(Names, AreFoundAsLongAsTheyAreThere) {
  constexpr std::size_t count = 100'000;
  std::vector<char> others(count);
  std::deque<Named> names;
  sync::Notify told;
  names.emplace_back(&told, "older");
  for (std::size_t i = 0; i < count; ++i) {
    names.emplace_back(&others[i], std::to_string(i));
    if (i == count / 2) names.emplace_back(&told, "newer");
  }
  LocalExecutor executor;
  auto task = executor.spawn(wait_for_it, std::ref(told));
  executor.run_until(yield_now());
  EXPECT_THAT(dump().text(), HasSubstr("waits for Notify"));
  EXPECT_THAT(dump().text(), HasSubstr("\"newer\""));
  while (names.size() > count / 2) names.pop_back();
  EXPECT_THAT(dump().text(), HasSubstr("\"older\""));
  names.pop_front();
  EXPECT_THAT(dump().text(), Not(HasSubstr("older")));
  while (!names.empty()) names.pop_front();
}

}  // namespace
}  // namespace rouse::sight
