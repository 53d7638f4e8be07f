// sight::metrics_text and the table by spawn site: parsed, and compared with what was done.
#include "rouse/sight/metrics.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/time/sleep.hpp"

#include "sight/json.hpp"
#include "sight/metrics.hpp"
#include "sight/prometheus.hpp"

namespace rouse::sight {
namespace {

using test::Json;
using test::Prometheus;

Prometheus metrics() {
  const std::string text = metrics_text();
  try {
    return Prometheus(text);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return Prometheus("# HELP none x\n# TYPE none gauge\n");
  }
}
Json sites() {
  std::string text;
  Out out(text);
  write_sites(out);
  return Json::parse(text);
}
/// The only one of that name.
Json site_named(const Json& table, const std::string& name) {
  Json found;
  int count = 0;
  for (const Json& site : table["sites"].items()) {
    if (site["name"].string() != name) continue;
    found = site;
    ++count;
  }
  EXPECT_EQ(count, 1) << name;
  return found;
}

Async<void> yields(int times) {
  for (int i = 0; i < times; ++i) co_await yield_now();
}
Async<void> nothing() { co_return; }

TEST(MetricsText, HasNoExecutorsWhereThereAreNone) {
  const Prometheus seen = metrics();
  EXPECT_EQ(seen.count("rouse_executor_info"), 0U);
  EXPECT_EQ(seen.sum("rouse_watched"), 0);
  EXPECT_EQ(seen.count("rouse_block_pool_bytes"), 1U);
}

TEST(MetricsText, SaysWhatARuntimeDid) {
  Runtime rt = Runtime::builder().worker_threads(2).build();
  auto stays = rt.spawn(pending_forever<void>());
  rt.block_on(rt.spawn_blocking([] {}));
  rt.block_on(yields(10));
  const Prometheus seen = metrics();
  EXPECT_EQ(seen.count("rouse_executor_info"), 2U);
  EXPECT_EQ(seen.count("rouse_executor_info", {{"kind", "pool"}}), 1U);
  EXPECT_EQ(seen.count("rouse_executor_info", {{"kind", "blocking"}}), 1U);
  // One that stays, two that block_on made.
  EXPECT_EQ(seen.sum("rouse_spawned_tasks_total"), 3);
  EXPECT_EQ(seen.sum("rouse_tasks_alive"), 1);
  EXPECT_EQ(seen.sum("rouse_blocking_calls_total"), 1);
  EXPECT_EQ(seen.count("rouse_worker_busy_seconds_total"), 2U);
  EXPECT_GT(seen.sum("rouse_worker_busy_seconds_total"), 0);
  EXPECT_GE(seen.sum("rouse_worker_polls_total"), 11);
  EXPECT_EQ(seen.count("rouse_io_sources"), 1U);
  EXPECT_EQ(seen.count("rouse_poll_seconds_count"), 0U);  // nothing is watched
}

TEST(MetricsText, KeepsTheNumberOfAnExecutorWhileOthersComeAndGo) {
  auto gone = std::make_unique<LocalExecutor>();
  LocalExecutor stays;
  stays.run_until(nothing());  // spawns one task
  const auto number = [] {
    const Prometheus seen = metrics();
    for (const auto& sample : seen.samples()) {
      if (sample.name == "rouse_spawned_tasks_total" && sample.value == 1) {
        return sample.labels.at("pool");
      }
    }
    return std::string();
  };
  const std::string before = number();
  EXPECT_NE(before, "");
  gone.reset();
  EXPECT_EQ(number(), before);
}

TEST(MetricsText, CountsEachPollThatIsWatched) {
  const Sight sight = start(Options().watch());
  LocalExecutor executor;
  executor.run_until(yields(99));
  const Prometheus seen = metrics();
  EXPECT_EQ(seen.sum("rouse_watched"), 1);
  EXPECT_EQ(seen.sum("rouse_worker_polls_total"), 100);
  EXPECT_EQ(seen.sum("rouse_poll_seconds_count"), 100);
  EXPECT_EQ(seen.sum("rouse_sched_delay_seconds_count"), 3);  // of 99 wakes
  EXPECT_EQ(seen.sum("rouse_site_polls_total"), 100);
  EXPECT_EQ(seen.sum("rouse_site_ended_tasks_total"), 1);
  EXPECT_NEAR(seen.sum("rouse_site_busy_seconds_total"), seen.sum("rouse_poll_seconds_sum"), 1e-9);
}

TEST(MetricsText, APollIsInTheBucketsAboveWhatItTook) {
  const Sight sight = start(Options().watch());
  LocalExecutor executor;
  executor.run_until([]() -> Async<void> {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (std::chrono::steady_clock::now() < end) {
    }
    co_return;
  }());
  const Prometheus seen = metrics();
  for (const auto& sample : seen.samples()) {
    if (sample.name != "rouse_poll_seconds_bucket") continue;
    const std::string& bound = sample.labels.at("le");
    if (bound == "+Inf" || std::stod(bound) < 0.009) {
      EXPECT_EQ(sample.value, bound == "+Inf" ? 1 : 0) << bound;
    }
  }
}

TEST(MetricsText, WatchingIsOnAsLongAsOneSightWantsIt) {
  {
    const Sight first = start(Options().watch());
    {
      const Sight second = start(Options().watch());
      const Sight third = start(Options());
    }
    EXPECT_EQ(metrics().sum("rouse_watched"), 1);
  }
  EXPECT_EQ(metrics().sum("rouse_watched"), 0);
}

/// Tasks of many places.
template <int n>
void spawn_at_many(LocalExecutor& executor) {
  executor.spawn(nothing).detach();
  if constexpr (n > 1) spawn_at_many<n - 1>(executor);
}

TEST(MetricsText, HasTwoHundredSitesAtMostAndTheRestAsOne) {
  const Sight sight = start(Options().watch());
  LocalExecutor executor;
  spawn_at_many<250>(executor);
  executor.run();
  const Prometheus seen = metrics();
  EXPECT_EQ(seen.count("rouse_site_polls_total"), 201U);
  EXPECT_EQ(seen.sum("rouse_site_polls_total"), 250);
  EXPECT_EQ(seen.sum("rouse_site_polls_total", {{"site", "others"}}), 50);
  const Json table = sites();
  EXPECT_EQ(table["sites"].items().size(), 250U);
  EXPECT_EQ(table["others"]["polls"].number(), 0U);
}

TEST(MetricsText, NamesThatAreHostileAreEscaped) {
  const Sight sight = start(Options().watch());
  LocalExecutor executor;
  const std::string name = "a\"b\\c\nd\x01\xff{}";
  executor.spawn(nothing).detach();
  task::Builder().name(name).spawn_on(executor.spawner(), nothing()).detach();
  executor.run();
  EXPECT_EQ(metrics().sum("rouse_site_polls_total", {{"name",
                                                      "a\"b\\c\xef\xbf\xbd"
                                                      "d\xef\xbf\xbd\xef\xbf\xbd{}"}}),
            1);
  EXPECT_EQ(sites()["sites"].items().size(), 2U);
}

Async<void> takes_long() {
  co_await yield_now();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < end) {
  }
  co_await yield_now();
}

TEST(Sites, AreThoseOfAllExecutorsTogetherTheBusiestFirst) {
  const Sight sight = start(Options().watch());
  LocalExecutor first;
  LocalExecutor second;
  for (LocalExecutor* executor : {&first, &second, &second}) {
    executor->run_until(
        []() -> Async<void> { co_await task::Builder().name("long").spawn(takes_long()); }());
  }
  const Json table = sites();
  const Json site = site_named(table, "long");
  EXPECT_EQ(table["sites"][0]["name"].string(), "long");
  EXPECT_EQ(site["tasks"].number(), 3U);
  EXPECT_EQ(site["polls"].number(), 9U);
  EXPECT_GE(site["busy_ns"].number(), 59'000'000U);
  EXPECT_GE(site["longest_ns"].number(), 19'000'000U);
  EXPECT_NE(site["longest_at"]["function"].string().find("takes_long"), std::string::npos);
  EXPECT_NE(site["spawned"]["file"].string().find("metrics_test.cpp"), std::string::npos);
}

TEST(Sites, ATaskWithArgumentsIsKnownByItsCode) {
  const Sight sight = start(Options().watch());
  LocalExecutor executor;
  executor.spawn(yields, 4).detach();
  executor.run();
  const Json table = sites();
  ASSERT_EQ(table["sites"].items().size(), 1U);
  EXPECT_EQ(table["sites"][0]["polls"].number(), 5U);
  EXPECT_NE(table["sites"][0]["spawned"]["module"].string(), "");
  const Prometheus seen = metrics();
  EXPECT_EQ(seen.count("rouse_site_polls_total"), 1U);
}

bool runs(const std::string& command) { return std::system((command + " >&2").c_str()) == 0; }

/// A Python that has the client; empty if none has.
std::string python_with_client() {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (runs(python + " -c 'import prometheus_client' 2>/dev/null")) return python;
  }
  return "";
}

class Counterpart : public ::testing::Test {
 protected:
  Counterpart() {
    const Sight sight = start(Options().watch());
    Runtime rt = Runtime::builder().worker_threads(2).build();
    rt.block_on(yields(100));
    std::ofstream(path_) << metrics_text();
  }
  ~Counterpart() override { ::unlink(path_.c_str()); }
  const std::string path_ = "metrics_" + std::to_string(::getpid()) + ".txt";
};

TEST_F(Counterpart, ThePythonClientReadsIt) {
  const std::string python = python_with_client();
  if (python.empty()) GTEST_SKIP() << "not installed";
  EXPECT_TRUE(
      runs(python +
           " -c 'import sys; from prometheus_client import parser; "
           "names = {s.name for f in parser.text_string_to_metric_families(open(sys.argv[1])"
           ".read()) for s in f.samples}; assert \"rouse_poll_seconds_bucket\" in names; "
           "assert \"rouse_tasks_alive\" in names' " +
           path_));
}

TEST_F(Counterpart, PromtoolFindsNothingWrong) {
  if (!runs("promtool --version >/dev/null 2>&1")) GTEST_SKIP() << "not installed";
  EXPECT_TRUE(runs("promtool check metrics < " + path_));
}

}  // namespace
}  // namespace rouse::sight
