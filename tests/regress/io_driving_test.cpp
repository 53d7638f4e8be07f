// Who looks after I/O, and when: busy and idle workers, timers beside sockets, threads outside, and
// the end of the runtime in the midst of it all.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/error.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/sleep.hpp"

#include "net/support.hpp"
#include "support/sanitizer.hpp"

namespace rouse::net {

using namespace internal;
namespace {

using namespace std::chrono_literals;
using Streams = std::pair<UnixStream, UnixStream>;

Streams pair_in(const Runtime& rt) {
  const EnterGuard here = rt.enter();
  return UnixStream::pair();
}

/// Until the other side ends, or breaks off.
Async<void> echo(UnixStream stream) {
  std::array<char, 16> buf{};
  for (;;) {
    const auto n = co_await stream.read(buf).result();
    if (!n || *n == 0) co_return;
    const io::Buffer answer(std::string_view(buf.data(), *n));
    const auto written = co_await stream.write_all(answer).result();
    if (!written) co_return;
  }
}
Async<void> ping(UnixStream& stream, int times) {
  std::array<char, 4> buf{};
  for (int i = 0; i < times; ++i) {
    co_await stream.write_all("ping");
    co_await stream.read_exact(buf);
  }
}

// --- The end. ---

Async<void> ping_own(UnixStream stream, int times) { co_await ping(stream, times); }

TEST(IoEnd, TasksAbortedAtRandomAndARuntimeEndedInTheMidstLeaveNoDescriptor) {
  constexpr int pairs = 64;
  const int times = test::sanitized ? 200 : 2000;
  const std::size_t before = open_descriptors();
  std::minstd_rand random(7);  // NOLINT: the same each time
  for (int round = 0; round < 2; ++round) {
    Runtime rt = Runtime::builder().worker_threads(4).build();
    std::vector<JoinHandle<void>> pinging;
    for (int i = 0; i < pairs; ++i) {
      auto [one, other] = pair_in(rt);
      rt.spawn(echo, std::move(other)).detach();
      pinging.push_back(rt.spawn(ping_own, std::move(one), times));
    }
    for (int i = 0; i < pairs / 2; ++i) {
      for (auto spins = random() % 500; spins > 0; --spins) std::this_thread::yield();
      pinging[random() % pairs].abort();
    }
    if (round == 0) {
      for (auto& task : pinging) {
        try {
          block_on(task);
        } catch (const JoinError&) {  // it was one of those
        }
      }
    }
    // The second time they are still at it.
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(IoEnd, AStreamThatOutlivesItsRuntimeIsDroppedOnAnyThread) {
  const std::size_t before = open_descriptors();
  std::optional<Streams> streams;
  {
    const Runtime rt = Runtime::builder().worker_threads(2).build();
    streams.emplace(pair_in(rt));
  }
  std::thread([&] { streams.reset(); }).join();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(IoEnd, AReadThatBlocksInPlaceEndsWithTheRuntimeWhichNobodyDrivesAnyMore) {
  std::optional<Runtime> rt(Runtime::builder().worker_threads(2).build());
  auto [silent, other] = pair_in(*rt);
  std::atomic<bool> begun{false};
  std::error_code error;
  rt->spawn(
        [&begun, &error](UnixStream stream) -> Async<void> {
          block_in_place([&] {
            std::array<char, 4> buf{};
            begun = true;
            error = block_on(stream.read(buf).result()).error();
          });
          co_return;
        },
        std::move(silent))
      .detach();
  while (!begun) std::this_thread::yield();
  rt.reset();  // waits for the call: for ever, if that waits for I/O
  EXPECT_EQ(error, io::Error::runtime_ended);
}

// --- Beside timers, and idle. ---

class IoDriving : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, IoDriving, both_kinds(), name_of);

Async<void> read_for_ever(UnixStream stream) {
  std::array<char, 16> buf{};
  while (co_await stream.read(buf) != 0) {
  }
}

TEST_P(IoDriving, ASleepIsNotLateWhileASocketIsWatched) {
  auto [one, other] = pair_in(rt);
  rt.spawn(read_for_ever, std::move(one)).detach();
  auto took = std::chrono::steady_clock::duration::max();
  while (took >= 50ms) {  // the machine may be busy: one of them is on time
    const auto start = std::chrono::steady_clock::now();
    rt.block_on(sleep(5ms));
    took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, 5ms);
  }
}

TEST_P(IoDriving, BytesComeWhileAllTimersAreFarAway) {
  auto [one, other] = pair_in(rt);
  auto far = rt.spawn([]() -> Async<void> { co_await sleep(1h); });
  rt.spawn(echo, std::move(other)).detach();
  rt.block_on(ping(one, 100));
  far.abort();
}

TEST(IoIdle, ARuntimeWhoseSocketsAreSilentDoesNotWakeUp) {
  Runtime rt = Runtime::builder().worker_threads(4).build();
  std::vector<UnixStream> silent;
  for (int i = 0; i < 50; ++i) {
    auto [one, other] = pair_in(rt);
    rt.spawn(read_for_ever, std::move(one)).detach();
    silent.push_back(std::move(other));
  }
  rt.block_on(yield_now());
  const auto parks = [&] {
    std::uint64_t sum = 0;
    for (const auto& worker : rt.metrics().workers) sum += worker.parks;
    return sum;
  };
  const auto all_sleep = [&] {
    bool sleep = true;
    for (const auto& worker : rt.metrics().workers) sleep = sleep && worker.is_parked;
    return sleep;
  };
  // What is ready from the start is told once; then nothing comes any more. A worker that was
  // unparked and has had no CPU yet counts as asleep, so not every window is still; of one that
  // wakes up again and again none is, and the test does not end.
  bool was_still = false;
  while (!was_still) {
    while (!all_sleep()) std::this_thread::yield();
    const std::uint64_t before = parks();
    std::this_thread::sleep_for(300ms);
    was_still = parks() == before && all_sleep();
  }
}

// --- Busy. ---

Async<void> yield_until(std::atomic<bool>& done) {
  while (!done.load()) co_await yield_now();
}

TEST_P(IoDriving, TasksThatYieldForEverDoNotStarveIo) {
  auto [one, other] = pair_in(rt);
  std::atomic<bool> done{false};
  std::vector<JoinHandle<void>> busy;
  for (int i = 0; i < 4; ++i) busy.push_back(rt.spawn(borrowed(yield_until(done))));
  rt.spawn(echo, std::move(other)).detach();
  rt.block_on(ping(one, 20));
  done = true;
  for (auto& task : busy) rt.block_on(task);
}

TEST(IoBusy, AWorkerThatBlocksInPlaceLeavesIoToTheOthers) {
  Runtime rt = Runtime::builder().worker_threads(1).build();
  auto [one, other] = pair_in(rt);
  rt.spawn(echo, std::move(other)).detach();
  auto [open, opened] = sync::oneshot<int>();
  auto blocks = rt.spawn(
      [](sync::OneshotReceiver<int> until) -> Async<int> {
        co_return block_in_place([&] { return block_on(until); }).value();
      },
      std::move(opened));
  rt.block_on(ping(one, 20));
  ASSERT_TRUE(open.send(7));
  EXPECT_EQ(rt.block_on(blocks), 7);
}

// --- Threads outside. ---

TEST(IoOutside, AThreadThatBlocksBesideAPoolIsServedByItsWorkers) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  const EnterGuard here = rt.enter();
  auto [one, other] = UnixStream::pair();
  rt.spawn(echo, std::move(other)).detach();
  block_on(ping(one, 20));
  LocalExecutor local;
  local.run_until(ping(one, 20));
}

TEST(IoOutside, AThreadThatBlocksBesideACurrentThreadRuntimeIsServedWhileThatIsInBlockOn) {
  Runtime rt = Runtime::builder().current_thread().build();
  auto [one, other] = pair_in(rt);
  rt.spawn(echo, std::move(other)).detach();
  auto [finish, finished] = sync::oneshot<int>();
  std::thread outside([&, to = std::move(finish)]() mutable {
    const EnterGuard here = rt.enter();
    block_on(ping(one, 20));
    LocalExecutor local;
    local.run_until(ping(one, 20));
    EXPECT_TRUE(to.send(1));
  });
  EXPECT_EQ(rt.block_on(finished), 1);
  outside.join();
}

TEST(IoOutside, WhatATaskBesideACurrentThreadRuntimeWaitsForIsThereAfterTheNextBlockOn) {
  Runtime rt = Runtime::builder().current_thread().build();
  auto [one, other] = pair_in(rt);
  std::array<char, 8> buf{};
  ASSERT_FALSE(one.try_read(buf));
  ASSERT_TRUE(other.try_write("x"));
  EXPECT_FALSE(one.try_read(buf)) << "nobody looks after it";
  rt.block_on(one.readable());
  EXPECT_TRUE(one.try_read(buf));
}

Async<void> keep_timers_due(const std::atomic<bool>& enough) {
  while (!enough) {
    co_await sleep(1ms);
    const auto busy_until = std::chrono::steady_clock::now() + 3ms;
    while (std::chrono::steady_clock::now() < busy_until) {
    }
  }
}

// When the queue was empty a timer was due, each time; and nobody looked for I/O.
TEST(IoDriving, TimersThatAreAlwaysDueDoNotStarveIo) {
  Runtime rt = Runtime::builder().current_thread().build();
  auto [here, there] = pair_in(rt);
  std::atomic<bool> enough{false};
  const auto reads = [](UnixStream stream, std::atomic<bool>& done) -> Async<void> {
    std::array<char, 4> buf{};
    co_await stream.read_exact(buf);
    done = true;
  };
  auto first = rt.spawn(borrowed(keep_timers_due(enough)));
  auto second = rt.spawn(borrowed(keep_timers_due(enough)));
  auto reader = rt.spawn(borrowed(reads(std::move(here), enough)));
  std::thread outside([&, fd = there.fd()] {
    for (const char c : {'p', 'i', 'n', 'g'}) {
      std::this_thread::sleep_for(20ms);
      EXPECT_EQ(::write(fd, &c, 1), 1);
    }
  });
  rt.block_on(first);
  rt.block_on(second);
  rt.block_on(reader);
  outside.join();
}

}  // namespace
}  // namespace rouse::net
