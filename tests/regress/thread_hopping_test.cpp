// Pitfalls 1, both compilers: a thread-local's address may be cached across a suspension point.
// What a coroutine uses of the library (its frames' memory) must belong to the thread that runs it
// now, not to the one that ran it before the await. Here a coroutine changes its thread at every
// await.
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/async.hpp"

#include "core/support.hpp"

namespace rouse {

using namespace internal;
namespace {

Async<std::string> make_text(int i) {
  co_await test::PendingOnce();
  co_return std::to_string(i);
}

Async<std::size_t> hop(int count) {
  std::size_t sum = 0;
  for (int i = 0; i < count; ++i) {
    auto held = make_text(i);       // made on one thread,
    co_await test::PendingOnce();   // and with the next poll
    sum += (co_await held).size();  // run and freed on others
    sum += (co_await make_text(i)).size();
  }
  co_return sum;
}

void spin_until(auto condition) {
  for (int i = 0; !condition(); ++i) {
    if (i < 100) {
      spin_hint();
    } else {
      std::this_thread::yield();
    }
  }
}

TEST(ThreadHopping, ACoroutineUsesTheMemoryOfTheThreadThatRunsIt) {
  constexpr int count = 5'000;
  const std::size_t before = block_pool_bytes();
  auto future = hop(count);
  atomic<int> turn{0};
  std::size_t sum = 0;
  bool done = false;
  const auto poll_in_turn = [&](int mine) {
    for (;;) {
      spin_until([&] { return turn.load(memory_order_acquire) == mine; });
      if (!done) {
        const auto polled = test::poll_once(future);
        if (polled.is_ready()) {
          sum = polled.value();
          done = true;
        }
      }
      const bool ended = done;
      turn.store(1 - mine, memory_order_release);
      if (ended) return;
    }
  };
  Thread other([&] { poll_in_turn(1); });
  poll_in_turn(0);
  other.join();

  std::size_t expected = 0;
  for (int i = 0; i < count; ++i) expected += 2 * std::to_string(i).size();
  EXPECT_EQ(sum, expected);
  EXPECT_LT(block_pool_bytes(), before + 1024u * 1024u);
}

}  // namespace
}  // namespace rouse
