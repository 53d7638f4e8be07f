// The recipes of docs/cookbook.md that are about tasks and what they share.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/future/shared.hpp>
#include <rouse/rouse.hpp>

namespace cookbook_tasks {

using namespace std::chrono_literals;

template <class F>
auto run(F future) {
  auto runtime = rouse::Runtime::builder().worker_threads(2).build();
  return runtime.block_on(std::move(future));
}

rouse::Async<int> fetch(int page) {
  co_await rouse::yield_now();  // stands for a request
  co_return page* page;
}

// [fan_out]
rouse::Async<int> sum_of_pages(int pages) {
  std::vector<int> numbers(static_cast<std::size_t>(pages));
  std::iota(numbers.begin(), numbers.end(), 1);
  auto requests = rouse::stream::map(rouse::stream::iter(std::move(numbers)), fetch);
  auto answers = rouse::stream::buffer_unordered(std::move(requests), 8);  // 8 at a time
  int sum = 0;
  while (const auto answer = co_await rouse::stream::next(answers)) sum += *answer;
  co_return sum;
}
// [/fan_out]

TEST(Cookbook, FanOut) { EXPECT_EQ(run(sum_of_pages(100)), 338350); }

// [pool]
rouse::Async<int> worker(rouse::sync::Receiver<int> jobs) {
  int sum = 0;
  while (const auto job = co_await jobs.recv()) sum += co_await fetch(*job);
  co_return sum;
}

rouse::Async<int> pool_of_four(int jobs) {
  rouse::JoinSet<int> workers;
  {
    auto [tx, rx] = rouse::sync::channel<int>(16);
    for (int i = 1; i < 4; ++i) workers.spawn(worker, rx.clone());
    workers.spawn(worker, std::move(rx));  // we keep none: without workers the channel is closed
    for (int i = 1; i <= jobs; ++i) {
      const auto sent = co_await tx.send(i);  // waits while 16 wait
      if (!sent) break;
    }
  }  // the last sender goes: the workers end when the queue is empty
  int sum = 0;
  while (const auto part = co_await workers.join_next()) sum += *part;
  co_return sum;
}
// [/pool]

TEST(Cookbook, WorkerPool) { EXPECT_EQ(run(pool_of_four(100)), 338350); }

// [supervise]
/// Runs a task again whenever it fails, until it ends by itself. Gives how often it failed.
rouse::Async<int> supervise(std::function<rouse::Async<void>()> work) {
  for (int failures = 0;; ++failures) {
    try {
      co_await rouse::spawn(work);  // in a task of its own, on any thread
      co_return failures;
    } catch (const std::exception& error) {
      std::clog << std::string("restarting after: ") + error.what() + "\n";
    }
    co_await rouse::sleep(10ms * std::min(failures, 100));
  }
}
// [/supervise]

TEST(Cookbook, Supervision) {
  int left = 2;
  const auto work = [&left]() -> rouse::Async<void> {
    if (left-- > 0) throw std::runtime_error("connection lost");
    co_return;
  };
  EXPECT_EQ(run(supervise(work)), 2);
}

// [actor]
/// A request and the place for its answer.
struct Deposit {
  Deposit(long amount, rouse::sync::OneshotSender<long> to) : cents(amount), reply(std::move(to)) {}
  long cents;
  rouse::sync::OneshotSender<long> reply;
};

/// Owns the account: no lock, and it may wait in the middle of a change.
rouse::Async<void> account(rouse::sync::Receiver<Deposit> requests) {
  long balance = 0;
  while (auto request = co_await requests.recv()) {
    balance += request->cents;
    (void)request->reply.send(balance);
  }
}

rouse::Async<std::optional<long>> deposit(rouse::sync::Sender<Deposit> to, long cents) {
  auto [tx, rx] = rouse::sync::oneshot<long>();
  Deposit request(cents, std::move(tx));
  if (!co_await to.send(std::move(request))) co_return std::nullopt;  // it has ended
  co_return co_await rx;
}
// [/actor]

rouse::Async<long> two_deposits() {
  auto [tx, rx] = rouse::sync::channel<Deposit>(8);
  rouse::spawn(account, std::move(rx)).detach();
  (void)co_await deposit(tx, 100);
  const auto balance = co_await deposit(tx, 50);
  co_return balance.value_or(-1);
}

TEST(Cookbook, Actor) { EXPECT_EQ(run(two_deposits()), 150); }

// [cancel_group]
rouse::Async<void> serve_until(rouse::sync::CancellationToken stop, rouse::sync::Sender<int> log) {
  const bool ended = co_await stop.run_until_cancelled(rouse::pending_forever<>());
  if (!ended) (void)log.try_send(1);  // there is time to tidy up
}

rouse::Async<int> start_and_stop() {
  auto [log, stopped] = rouse::sync::channel<int>(16);
  const rouse::sync::CancellationToken all;
  const auto group = all.child();  // can be stopped alone, and is stopped with all
  rouse::JoinSet<> tasks;
  for (int i = 0; i < 3; ++i) tasks.spawn(serve_until, group, log);
  group.cancel();
  while (co_await tasks.join_next()) {
  }
  co_return static_cast<int>(stopped.size());
}
// [/cancel_group]

TEST(Cookbook, CancelAGroup) { EXPECT_EQ(run(start_and_stop()), 3); }

// [progress]
rouse::Async<void> download(rouse::sync::WatchSender<int> percent) {
  for (int done = 0; done <= 100; done += 10) {
    (void)percent.send(done);  // replaces what nobody has looked at
    co_await rouse::yield_now();
  }
}

rouse::Async<int> show(rouse::sync::WatchReceiver<int> percent) {
  int shown = 0;
  while (co_await percent.changed()) shown = *percent.borrow_and_update();
  co_return shown;
}
// [/progress]

rouse::Async<int> download_and_show() {
  auto [tx, rx] = rouse::sync::watch<int>(0);
  rouse::spawn(download, std::move(tx)).detach();
  co_return co_await show(std::move(rx));
}

TEST(Cookbook, Progress) { EXPECT_EQ(run(download_and_show()), 100); }

// [bounded]
rouse::Async<void> read_rows(rouse::sync::Sender<std::vector<int>> rows) {
  for (int i = 0; i < 1000; ++i) {
    std::vector<int> row(100, i);
    if (!co_await rows.send(std::move(row))) co_return;  // waits: at most 4 rows are in memory
  }
}

rouse::Async<long> sum_rows() {
  auto [tx, rx] = rouse::sync::channel<std::vector<int>>(4);
  rouse::spawn(read_rows, std::move(tx)).detach();
  long sum = 0;
  while (const auto row = co_await rx.recv()) sum += row->front();
  co_return sum;
}
// [/bounded]

TEST(Cookbook, BoundedProducer) { EXPECT_EQ(run(sum_rows()), 499500); }

// [priority]
/// Jobs that come out by their urgency, not by their age.
class Urgent {
 public:
  void push(int urgency, std::string job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.emplace(urgency, std::move(job));
    }
    waiting_.add_permits(1);
  }
  rouse::Async<std::string> pop() {
    (co_await waiting_.acquire()).forget();  // there is a job for us
    const std::lock_guard lock(mutex_);
    std::string job = jobs_.top().second;
    jobs_.pop();
    co_return job;
  }

 private:
  std::mutex mutex_;
  std::priority_queue<std::pair<int, std::string>> jobs_;
  rouse::sync::Semaphore waiting_{0};  // as many permits as there are jobs
};
// [/priority]

rouse::Async<std::string> three_jobs() {
  Urgent jobs;
  jobs.push(1, "sweep");
  jobs.push(9, "fire");
  jobs.push(5, "mail");
  std::string order;
  for (int i = 0; i < 3; ++i) order += co_await jobs.pop() + " ";
  co_return order;
}

TEST(Cookbook, PriorityQueue) { EXPECT_EQ(run(three_jobs()), "fire mail sweep "); }

// [blocking]
std::size_t compress(const std::string& text) {  // a library that takes its time
  return text.size() / 2;
}

rouse::Async<std::size_t> compress_in_task(std::string text) {
  co_return co_await rouse::spawn_blocking(compress, std::move(text));  // a thread of its own
}
// [/blocking]

TEST(Cookbook, BlockingCode) { EXPECT_EQ(run(compress_in_task("1234")), 2U); }

// [callback]
/// A foreign library that calls back from a thread of its own.
void resolve(std::string name, std::function<void(int)> done) {
  std::thread([name, done] { done(static_cast<int>(name.size())); }).detach();
}

rouse::Async<int> resolve_async(std::string name) {
  auto [tx, rx] = rouse::sync::oneshot<int>();
  resolve(name, [sender = std::make_shared<rouse::sync::OneshotSender<int>>(std::move(tx))](
                    int address) { (void)sender->send(address); });  // nobody else has it
  const std::optional<int> address = co_await rx;                    // empty: it never called back
  if (!address) throw std::runtime_error("no answer for " + name);
  co_return *address;
}
// [/callback]

TEST(Cookbook, Callbacks) { EXPECT_EQ(run(resolve_async("host")), 4); }

// [context]
rouse::TaskLocal<std::string> request_id;

std::string log_line(const std::string& text) { return "[" + request_id.get() + "] " + text; }

rouse::Async<std::string> handle_request() {
  co_await rouse::yield_now();    // perhaps on another thread now
  co_return log_line("handled");  // no parameter was passed down
}

rouse::Async<std::string> handle_with_id(std::string id) {
  co_return co_await request_id.scope(std::move(id), handle_request());
}
// [/context]

TEST(Cookbook, TaskContext) { EXPECT_EQ(run(handle_with_id("r7")), "[r7] handled"); }

// [cpu]
rouse::Async<long> sum_of_squares(std::vector<int> numbers) {
  std::atomic<long> sum = 0;
  co_await rouse::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) {
    sum += static_cast<long>(numbers[i]) * numbers[i];
  });
  co_return sum;
}
// [/cpu]

TEST(Cookbook, UseAllCpus) { EXPECT_EQ(run(sum_of_squares({1, 2, 3, 4})), 30); }

// [single_flight]
/// Values that are fetched once, however many ask for them at the same time.
class Cache {
 public:
  rouse::Async<int> get(int key) {
    auto fetching = find_or_start(key);
    co_return co_await fetching;
  }

 private:
  using Fetching = rouse::Shared<rouse::Async<int>>;
  Fetching find_or_start(int key) {
    const std::lock_guard lock(mutex_);
    const auto it = entries_.find(key);
    if (it != entries_.end()) return it->second;
    return entries_.emplace(key, rouse::shared(fetch(key))).first->second;
  }

  std::mutex mutex_;
  std::map<int, Fetching> entries_;
};
// [/single_flight]

rouse::Async<int> ask_cache() {
  auto cache = std::make_shared<Cache>();
  rouse::JoinSet<int> askers;
  const auto ask = [](std::shared_ptr<Cache> from) -> rouse::Async<int> {
    co_return co_await from->get(3);
  };
  for (int i = 0; i < 10; ++i) askers.spawn(ask, cache);
  int sum = 0;
  while (const auto value = co_await askers.join_next()) sum += *value;
  co_return sum;
}

TEST(Cookbook, SingleFlight) { EXPECT_EQ(run(ask_cache()), 90); }

// [batch]
/// Writes what has come meanwhile at once: the slower the disk, the larger the batches.
rouse::Async<int> write_batches(rouse::sync::Receiver<std::string> lines,
                                std::function<rouse::Async<void>(std::string)> write) {
  int writes = 0;
  std::vector<std::string> batch;
  while (co_await lines.recv_many(batch, 1000) > 0) {
    std::string all;
    for (const std::string& line : batch) all += line;
    co_await write(std::move(all));
    batch.clear();
    ++writes;
  }
  co_return writes;
}
// [/batch]

rouse::Async<int> write_many() {
  auto [tx, rx] = rouse::sync::channel<std::string>(100);
  for (int i = 0; i < 50; ++i) (void)tx.try_send("line\n");
  {
    const auto last = std::move(tx);
  }
  const auto write = [](std::string) -> rouse::Async<void> { co_return; };
  co_return co_await write_batches(std::move(rx), write);
}

TEST(Cookbook, BatchWrites) { EXPECT_EQ(run(write_many()), 1); }

// [chat]
struct Line {
  Line(int sender, std::string what) : from(sender), text(std::move(what)) {}
  int from;
  std::string text;
};
using Room = rouse::sync::BroadcastSender<Line>;

/// Passes on what others say until somebody says "bye". Gives what was heard, and what was missed.
rouse::Async<std::string> listen(rouse::sync::BroadcastReceiver<Line> room, int me) {
  std::string heard;
  while (const auto line = co_await room.recv()) {
    if (line.lagged() > 0) heard += "(missed " + std::to_string(line.lagged()) + ") ";
    if (line->from != me) heard += line->text + " ";
  }
  co_return heard;
}
// [/chat]

rouse::Async<std::string> short_chat() {
  auto [room, inbox] = rouse::sync::broadcast<Line>(4);
  for (int i = 0; i < 6; ++i) (void)room.send(Line(i % 2, std::to_string(i)));
  {
    const Room last = std::move(room);
  }
  co_return co_await listen(std::move(inbox), 0);
}

TEST(Cookbook, Chat) { EXPECT_EQ(run(short_chat()), "(missed 2) 3 5 "); }

// [all_or_nothing]
rouse::Async<std::string> read_part(std::string name) {
  co_await rouse::yield_now();
  if (name == "none") throw std::runtime_error("no such part");
  co_return name;
}

/// Both at once; if one fails, the other is dropped at once.
rouse::Async<std::string> read_both(std::string first, std::string second) {
  const auto [a, b] = co_await rouse::try_join(read_part(first), read_part(second));
  co_return a + b;
}
// [/all_or_nothing]

TEST(Cookbook, AllOrNothing) {
  EXPECT_EQ(run(read_both("a", "b")), "ab");
  EXPECT_THROW(run(read_both("a", "none")), std::runtime_error);
}

}  // namespace cookbook_tasks
