// Every allocation of a pool of connections fails once: see allocations.hpp.
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/pool.hpp"

#include "faulty/allocations.hpp"

namespace rouse::faulty {
namespace {

class Duplicates {
 public:
  static Async<int> connect() {
    co_await yield_now();
    co_return 1;
  }
  static Async<bool> clean(int& connection) {
    co_await yield_now();
    connection = 1;
    co_return true;
  }
};

Async<void> lend_and_clean() {
  const Pool<Duplicates> pool(Duplicates{}, PoolOptions().max_open(1));
  for (int i = 0; i < 4; ++i) {
    auto lent = co_await pool.take();
    EXPECT_EQ((*lent)++, 1);
    if (i % 2 == 0) continue;  // comes back dirty
    *lent = 1;
    lent.mark_clean();
  }
}

TEST(FaultyAllocation, ConnectionsAreLentAndCleaned) {
  try_each_allocation("a pool of connections", lend_and_clean);
}

}  // namespace
}  // namespace rouse::faulty
