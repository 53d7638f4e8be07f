// What a runtime's metrics say of its timers, sockets and blocking threads. Those of its executor:
// tests/exec/metrics_test.cpp.
#include <fcntl.h>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/join.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/time/sleep.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;

Async<void> sleep_one_ms() { co_await sleep(1ms); }

TEST(RuntimeMetrics, TimersThatFireAreCounted) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  rt.block_on([]() -> Async<void> {
    std::vector<JoinHandle<>> sleepers;
    sleepers.reserve(40);
    for (int i = 0; i < 40; ++i) sleepers.push_back(spawn(sleep_one_ms));
    for (auto& sleeper : sleepers) co_await sleeper;
  }());
  EXPECT_EQ(rt.metrics().workers[0].timers_fired, 40U);
}

TEST(RuntimeMetrics, DescriptorsAndTheirEventsAreCounted) {
  for (const std::size_t workers : {0U, 1U, 4U}) {
    Runtime rt = workers == 0 ? Runtime::builder().current_thread().build()
                              : Runtime::builder().worker_threads(workers).build();
    int ends[2] = {};
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    EXPECT_EQ(rt.metrics().io.sources, 0U);
    rt.block_on([&]() -> Async<void> {
      const auto read_end = io::AsyncFd(io::OwnedFd(ends[0]), io::Interest::readable);
      EXPECT_EQ(rt.metrics().io.sources, 1U);
      EXPECT_EQ(rt.metrics().io.ready_events, 0U);
      // Whoever waits before there is anything to read needs the event.
      const auto write = [&]() -> Async<void> {
        EXPECT_EQ(::write(ends[1], "a", 1), 1);
        co_return;
      };
      auto both = co_await join(read_end.readable(), write());
      EXPECT_TRUE(std::get<0>(both).ready().is_readable());
      EXPECT_EQ(rt.metrics().io.ready_events, 1U);
    }());
    EXPECT_EQ(rt.metrics().io.sources, 0U);
    ::close(ends[1]);
  }
}

TEST(RuntimeMetrics, BlockingCallsAreCounted) {
  Runtime rt = Runtime::builder().worker_threads(1).build();
  rt.block_on(rt.spawn_blocking([] {}));
  rt.block_on(rt.spawn_blocking([] {}));
  EXPECT_EQ(rt.metrics().blocking.calls, 2U);
}

}  // namespace
}  // namespace rouse
