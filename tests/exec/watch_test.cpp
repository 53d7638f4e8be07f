// Watched mode: what a worker notes of its polls and wakes.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/future/yield_now.hpp"

#include "exec/local/local_core.hpp"
#include "exec/pool/pool_core.hpp"
#include "exec/task/histogram.hpp"
#include "exec/task/site_table.hpp"
#include "exec/task/watching.hpp"
#include "exec/watch_sums.hpp"

namespace rouse::internal {
namespace {

using namespace std::chrono_literals;

/// Polls until a worker looks around.
constexpr int look_interval = 61;

ThreadPoolOptions one_or_more_workers(std::size_t count) {
  ThreadPoolOptions options;
  options.workers = count;
  return options;
}
const Examinable& core_of(const ThreadPool& pool) {
  return static_cast<PoolCore&>(pool.scheduler());
}
const Examinable& core_of(const LocalExecutor& executor) {
  return static_cast<LocalCore&>(executor.scheduler());
}

struct SeenSite {
  SpawnPlace place;
  std::string name;
  std::uint64_t polls = 0;
  std::uint64_t tasks = 0;
  std::uint64_t longest_ns = 0;
  std::source_location longest_at;
};
/// The only one of that name.
SeenSite site_named(const Examinable& core, const std::string& name) {
  SeenSite seen;
  int count = 0;
  const WorkerWatch* watch = nullptr;
  for (std::size_t i = 0; core.find_watch(i, watch); ++i) {
    if (watch == nullptr) continue;
    watch->sites.for_each([&](SpawnPlace place, const Site& site) {
      if (site.name() != name) return;
      ++count;
      seen = {place, site.name(), site.polls(), site.tasks(), site.longest_ns(), site.longest_at()};
    });
  }
  EXPECT_EQ(count, 1) << name;
  return seen;
}

Async<void> yields_when_watched(int times) {
  for (int i = 0; i < times; ++i) co_await yield_now();
}
Async<void> ends_when_watched() { co_return; }

TEST(Histogram, KnowsADurationToAQuarter) {
  for (std::uint64_t ns = 1; ns < 1'000'000'000'000; ns += ns / 7 + 1) {
    const std::size_t step = Histogram::step_of(ns);
    ASSERT_LE(Histogram::least_of(step), ns);
    ASSERT_GT(Histogram::least_of(step + 1), ns);
    if (ns >= 4) {
      ASSERT_LE(Histogram::least_of(step + 1), Histogram::least_of(step) * 5 / 4);
    }
  }
  EXPECT_EQ(Histogram::step_of(0), 0U);
  EXPECT_EQ(Histogram::step_of(UINT64_MAX), Histogram::size - 1);
}

TEST(Histogram, CountsWhatIsAdded) {
  Histogram histogram;
  for (const std::uint64_t ns : {0U, 5U, 5U, 4096U}) histogram.add(ns);
  EXPECT_EQ(histogram.count(Histogram::step_of(5)), 2U);
  EXPECT_EQ(histogram.count(Histogram::step_of(4096)), 1U);
  EXPECT_EQ(histogram.total(), 4U);
  EXPECT_EQ(histogram.sum_ns(), 4106U);
}

TEST(SiteTable, KeepsAThousandPlacesAndCountsTheRestTogether) {
  SiteTable table;
  constexpr std::uintptr_t places = 2000;
  for (int round = 0; round < 2; ++round) {
    for (std::uintptr_t i = 0; i < places; ++i) {
      table.find(SpawnPlace::of_word(64 * i), [] { return nullptr; }).add(10, false);
    }
  }
  std::uint64_t polls = 0;
  std::size_t kept = 0;
  table.for_each([&](SpawnPlace place, const Site& site) {
    EXPECT_LT(place.word(), 64 * places);
    EXPECT_EQ(site.polls(), 2U);
    polls += site.polls();
    ++kept;
  });
  EXPECT_GT(kept, SiteTable::size / 2);
  EXPECT_LE(kept, SiteTable::size);
  EXPECT_EQ(polls + table.others().polls(), 2 * places);
  EXPECT_EQ(table.others().busy_ns(), 10 * table.others().polls());
}

TEST(SiteTable, CutsALongName) {
  SiteTable table;
  const std::string name(200, 'n');
  const Site& site = table.find(SpawnPlace(), [&] { return name.c_str(); });
  EXPECT_EQ(site.name(), name.substr(0, Site::longest_name));
}

TEST(WakeSample, IsOneWakeInThirtyTwoAndOneAtATime) {
  // Only their addresses count.
  std::array<long long, 2> places{};
  const auto& first = reinterpret_cast<const TaskHeader&>(places[0]);
  const auto& second = reinterpret_cast<const TaskHeader&>(places[1]);
  WakeSample sample;
  std::uint64_t woken_at = 0;
  for (int i = 0; i < 31; ++i) sample.woken(second);
  EXPECT_FALSE(sample.took(second, woken_at));
  sample.woken(first);
  for (int i = 0; i < 32; ++i) sample.woken(second);
  EXPECT_FALSE(sample.took(second, woken_at));
  EXPECT_FALSE(sample.stole(second, woken_at));
  EXPECT_TRUE(sample.took(first, woken_at));
  EXPECT_FALSE(sample.took(first, woken_at));
  sample.keep(second, 7);
  EXPECT_TRUE(sample.stole(second, woken_at));
  EXPECT_EQ(woken_at, 7U);
  EXPECT_FALSE(sample.took(second, woken_at));
}

TEST(Watch, NotesNothingUnlessItIsOn) {
  ThreadPool pool(one_or_more_workers(1));
  block_on(pool.spawn(yields_when_watched, 3 * look_interval));
  const WorkerWatch* watch = nullptr;
  ASSERT_TRUE(core_of(pool).find_watch(0, watch));
  EXPECT_EQ(watch, nullptr);
}

/// Two readings inside of a task, that many yields_when_watched apart. Each is within a poll that
/// is counted and not yet noted.
Async<void> expect_each_poll_is_noted(const Examinable& core) {
  co_await yields_when_watched(look_interval);  // by then the worker has looked
  for (const int times : {0, 1, 100, 1000}) {
    const WatchSums before = sums_of(core);
    co_await yields_when_watched(times);
    const WatchSums after = sums_of(core);
    EXPECT_EQ(after.polls - before.polls, static_cast<std::uint64_t>(times));
    EXPECT_EQ(after.noted - before.noted, static_cast<std::uint64_t>(times));
    EXPECT_EQ(after.site_polls, after.noted);
    EXPECT_EQ(after.site_busy_ns, after.busy_ns);
    // Each of these polls was of a task that woke itself.
    EXPECT_GE(after.delays - before.delays, static_cast<std::uint64_t>(times / 32));
    EXPECT_LE(after.delays - before.delays, static_cast<std::uint64_t>(times / 32 + 1));
  }
}

TEST(Watch, NotesEachPollOfAWorker) {
  ThreadPool pool(one_or_more_workers(1));
  const Watching watching;
  block_on(pool.spawn(borrowed(expect_each_poll_is_noted(core_of(pool)))));
}

TEST(Watch, NotesEachPollOfALocalExecutor) {
  LocalExecutor executor;
  const Watching watching;
  executor.run_until(expect_each_poll_is_noted(core_of(executor)));
}

TEST(Watch, SeesTheSwitchWithinBoundedPollsAndWhenAWorkerWakes) {
  ThreadPool pool(one_or_more_workers(1));
  const Examinable& core = core_of(pool);
  for (int round = 0; round < 3; ++round) {
    while (!core.worker(0).is_parked) std::this_thread::yield();
    const WatchSums before = sums_of(core);
    {
      const Watching watching;
      block_on(pool.spawn(yields_when_watched, 9));
      while (!core.worker(0).is_parked) std::this_thread::yield();
      const WatchSums watched = sums_of(core);
      EXPECT_EQ(watched.noted - before.noted, 10U);
      EXPECT_EQ(watched.tasks - before.tasks, 1U);
    }
    block_on(pool.spawn(yields_when_watched, 3 * look_interval));
    while (!core.worker(0).is_parked) std::this_thread::yield();
    // One more at most: it woke up before it saw that watching is over.
    EXPECT_LE(sums_of(core).noted - before.noted, 11U);
  }
}

TEST(Watch, CountsEndedTasksAlsoThoseThatAreAborted) {
  LocalExecutor executor;
  const Watching watching;
  executor.run_until([]() -> Async<void> {
    auto stays = task::Builder().name("stays").spawn(pending_forever<void>());
    auto ends = task::Builder().name("ends").spawn(ends_when_watched());
    co_await yield_now();
    stays.abort();
    co_await ends;
    co_await yield_now();
  }());
  EXPECT_EQ(site_named(core_of(executor), "stays").tasks, 1U);
  EXPECT_EQ(site_named(core_of(executor), "stays").polls, 2U);
  EXPECT_EQ(site_named(core_of(executor), "ends").tasks, 1U);
  EXPECT_EQ(site_named(core_of(executor), "ends").polls, 1U);
}

constexpr auto watched_spin = 20ms;

Async<void> spins_watched() {
  co_await yield_now();
  const auto end = std::chrono::steady_clock::now() + watched_spin;
  while (std::chrono::steady_clock::now() < end) {
  }
  co_await yield_now();  // the long poll stops here
}

TEST(Watch, KnowsTheLongestPollOfAPlaceAndWhereItStopped) {
  ThreadPool pool(one_or_more_workers(1));
  const Watching watching;
  std::source_location spawned;
  block_on(pool.spawn([&]() -> Async<void> {
    co_await yields_when_watched(look_interval);
    spawned = std::source_location::current();
    co_await task::Builder().name("spinner").spawn(spins_watched());
  }));
  const SeenSite site = site_named(core_of(pool), "spinner");
  EXPECT_EQ(site.polls, 3U);
  EXPECT_EQ(site.place.source().line(), spawned.line() + 1);
  EXPECT_GE(std::chrono::nanoseconds(site.longest_ns), watched_spin * 99 / 100);
  EXPECT_NE(std::strstr(site.longest_at.function_name(), "spins_watched"), nullptr);
}

TEST(Watch, APollWhoseThreadLosesItsWorkerIsNoted) {
  ThreadPool pool(one_or_more_workers(1));
  const Examinable& core = core_of(pool);
  const Watching watching;
  block_on(pool.spawn(yields_when_watched, look_interval));
  const WatchSums before = sums_of(core);
  block_on(pool.spawn([]() -> Async<void> {
    block_in_place([] {});
    co_await yield_now();
    block_in_place([] {});
  }));
  while (!core.worker(0).is_parked) std::this_thread::yield();
  const WatchSums after = sums_of(core);
  EXPECT_EQ(after.polls - before.polls, after.noted - before.noted);
  EXPECT_EQ(after.tasks - before.tasks, 1U);
  EXPECT_EQ(after.site_polls, after.noted);
}

TEST(Watch, ADelayIsTheTimeThatATaskWaits) {
  LocalExecutor executor;
  const Watching watching;
  // 32 tasks are woken, then this one computes: the one of them that is sampled waits for that.
  executor.run_until([]() -> Async<void> {
    co_await yields_when_watched(1);
    std::array<Waker, 32> wakers;
    std::array<bool, 32> goes_on{};
    std::vector<JoinHandle<>> tasks;
    for (std::size_t i = 0; i < wakers.size(); ++i) {
      tasks.push_back(spawn(poll_fn([&, i](Context& cx) -> Poll<void> {
        if (goes_on[i]) return Poll<void>::ready();
        wakers[i] = cx.waker();
        return pending;
      })));
    }
    co_await yield_now();
    for (std::size_t i = 0; i < wakers.size(); ++i) {
      goes_on[i] = true;
      std::move(wakers[i]).wake();
    }
    const auto end = std::chrono::steady_clock::now() + watched_spin;
    while (std::chrono::steady_clock::now() < end) {
    }
    for (auto& task : tasks) co_await task;
  }());
  const WorkerWatch* watch = nullptr;
  ASSERT_TRUE(core_of(executor).find_watch(0, watch));
  ASSERT_NE(watch, nullptr);
  ASSERT_GE(watch->delays.total(), 1U);
  EXPECT_GE(std::chrono::nanoseconds(watch->delays.sum_ns()), watched_spin * 99 / 100);
}

}  // namespace
}  // namespace rouse::internal
