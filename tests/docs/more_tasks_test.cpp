// The code in docs/guide/03_tasks.md and 07_sync.md about aborting, telling apart and tracking
// tasks.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/all.hpp"

namespace {

rouse::Async<std::size_t> load_page(const std::string& url) {
  co_await rouse::yield_now();  // stands for the real work
  if (url.empty()) throw std::runtime_error("no url");
  co_return url.size();
}

// [abort_handle]
rouse::Async<std::string> load_or_stop(std::string url) {
  auto page = rouse::spawn(load_page, url);
  const rouse::AbortHandle stop = page.abort_handle();  // copy it, give it to anybody
  rouse::spawn(
      [](rouse::AbortHandle page_task) -> rouse::Async<void> {
        page_task.abort();  // does nothing if the task is done
        co_return;
      },
      stop)
      .detach();
  try {
    co_return std::to_string(co_await page);
  } catch (const rouse::JoinError& error) {
    co_return error.id() == stop.id() ? "stopped" : "?";
  }
}
// [/abort_handle]

// [with_id]
rouse::Async<std::vector<std::string>> broken_pages(std::vector<std::string> urls) {
  rouse::JoinSet<std::size_t> pages;
  std::map<rouse::TaskId, std::string> url_of;
  for (const std::string& url : urls) url_of[pages.spawn(load_page, url)] = url;

  std::vector<std::string> broken;
  while (auto done = co_await pages.join_next_with_id()) {  // the JoinHandle of a task that is done
    const std::string url = url_of[done->id()];
    try {
      co_await *done;  // its result, at once
    } catch (const std::exception&) {
      broken.push_back(url);
    }
  }
  co_return broken;
}
// [/with_id]

// [bounded_set]
rouse::Async<std::size_t> at_most_two_at_a_time(std::vector<std::string> urls) {
  rouse::JoinSet<std::size_t> pages;
  std::size_t total = 0;
  for (const std::string& url : urls) {
    if (pages.size() == 2) total += (co_await pages.join_next()).value();  // one place is free
    pages.spawn(load_page, url);
    while (auto page = pages.try_join_next()) total += *page;  // what else is done
  }
  while (auto page = co_await pages.join_next()) total += *page;
  co_return total;
}
// [/bounded_set]

// [await_set]
rouse::Async<int> session() {
  rouse::LocalSet set;
  int sum = 0;  // no lock: the set's tasks run one after the other
  for (int i = 1; i <= 3; ++i) {
    set.spawn_local(
           [](int& total, int part) -> rouse::Async<void> {
             co_await rouse::sleep(std::chrono::milliseconds(part));
             total += part;
           },
           std::ref(sum), i)
        .detach();
  }
  co_await rouse::run_all(set);  // runs them inside this task
  co_return sum;
}
// [/await_set]

// [tracker]
rouse::Async<int> serve_and_drain(std::atomic<int>& served) {
  const rouse::sync::TaskTracker requests;
  for (int i = 0; i < 3; ++i) {
    requests
        .spawn(
            [](std::atomic<int>& done) -> rouse::Async<void> {  // tracked until it has ended
              co_await rouse::yield_now();
              ++done;
            },
            std::ref(served))
        .detach();
  }
  requests.close();
  co_await requests.wait();
  co_return served;
}
// [/tracker]

// [token]
/// Not a task, but shutdown is to wait for it, too.
struct Connection {
  rouse::sync::TaskTracker::Token open;  // counts while the connection lives
  int number;
};

rouse::Async<bool> wait_for_connections(const rouse::sync::TaskTracker& all) {
  auto connection = std::make_unique<Connection>(all.token(), 1);
  all.close();
  auto ended = rouse::spawn(all.wait());
  co_await rouse::yield_now();
  const bool waited = !ended.is_finished();
  connection.reset();
  co_await ended;
  co_return waited;
}
// [/token]

TEST(TasksGuide, TasksAreAbortedToldApartAndTracked) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(load_or_stop("one")), "stopped");
  EXPECT_EQ(executor.run_until(broken_pages({"one", "", "three"})), std::vector<std::string>{""});
  EXPECT_EQ(executor.run_until(at_most_two_at_a_time({"1", "22", "333", "4444"})), 10U);
  std::atomic<int> served{0};
  EXPECT_EQ(executor.run_until(serve_and_drain(served)), 3);
  rouse::Runtime runtime;
  EXPECT_EQ(runtime.block_on(session()), 6);
  const rouse::sync::TaskTracker all;
  EXPECT_TRUE(executor.run_until(wait_for_connections(all)));
}

}  // namespace
