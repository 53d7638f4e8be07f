// The code in docs/guide/07_sync.md.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace {

// [oneshot]
rouse::Async<void> square(int x, rouse::sync::OneshotSender<int> reply) {
  if (x >= 0) (void)reply.send(x * x);  // else it goes without sending
  co_return;
}

rouse::Async<std::string> ask(int x) {
  auto [tx, rx] = rouse::sync::oneshot<int>();
  rouse::spawn(square, x, std::move(tx)).detach();
  const std::optional<int> answer = co_await rx;
  co_return answer ? std::to_string(*answer) : "no answer";
}
// [/oneshot]

TEST(SyncGuide, AOneshotCarriesAnAnswerOrTellsThatNoneComes) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(ask(7)), "49");
  EXPECT_EQ(executor.run_until(ask(-1)), "no answer");
}

// [channel]
rouse::Async<void> produce(rouse::sync::Sender<int> numbers, int first, int last) {
  for (int i = first; i < last; ++i) {
    const auto sent = co_await numbers.send(i);  // waits while 16 are on their way
    if (!sent) co_return;                        // nobody receives any more
  }
}

rouse::Async<long> sum() {
  auto [tx, rx] = rouse::sync::channel<int>(16);
  for (int i = 0; i < 4; ++i) rouse::spawn(produce, tx, i * 100, i * 100 + 100).detach();
  {
    const auto ours = std::move(tx);
  }  // the channel ends when the last sender goes
  long total = 0;
  while (auto number = co_await rx.recv()) total += *number;
  co_return total;
}
// [/channel]

// [permit]
rouse::Async<bool> send_the_newest(rouse::sync::Sender<int> tx, const int& newest) {
  auto permit = co_await tx.reserve();  // first the room, then the message
  if (!permit) co_return false;         // nobody receives any more
  co_return permit.send(newest).has_value();
}
// [/permit]

TEST(SyncGuide, AChannelEndsWithItsSenders) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(sum()), 79'800);
  auto [tx, rx] = rouse::sync::channel<int>(1);
  int newest = 1;
  EXPECT_TRUE(tx.try_send(0));
  auto sending = executor.spawn(rouse::borrowed(send_the_newest(tx, newest)));
  executor.run_until(rouse::yield_now());
  newest = 2;
  EXPECT_EQ(rx.try_recv(), 0);
  EXPECT_TRUE(executor.run_until(sending));
  EXPECT_EQ(rx.try_recv(), 2);
}

// [mutex]
struct Account {
  long cents = 0;
};

rouse::Async<void> pay_in(rouse::sync::Mutex<Account>& account, long cents) {
  auto locked = co_await account.lock();
  co_await rouse::yield_now();  // it may be held across an await, and end on another thread
  locked->cents += cents;
}  // unlocked here, or by locked.unlock()
// [/mutex]

// [semaphore]
rouse::Async<void> download(std::shared_ptr<rouse::sync::Semaphore> slots, int& done) {
  auto slot = co_await rouse::sync::Semaphore::acquire_owned(std::move(slots));
  co_await rouse::yield_now();  // stands for the work, of which so much goes on at a time
  ++done;
}  // the slot is given back here
// [/semaphore]

TEST(SyncGuide, MutexAndSemaphore) {
  rouse::LocalExecutor executor;
  rouse::sync::Mutex<Account> account;
  for (int i = 0; i < 10; ++i) executor.spawn(rouse::borrowed(pay_in(account, 5))).detach();
  int done = 0;
  auto slots = std::make_shared<rouse::sync::Semaphore>(2);
  for (int i = 0; i < 10; ++i) executor.spawn(rouse::borrowed(download(slots, done))).detach();
  executor.run();
  EXPECT_EQ(account.get_mut().cents, 50);
  EXPECT_EQ(done, 10);
  EXPECT_EQ(slots->available_permits(), 2U);
}

// [notify]
struct Queue {
  std::vector<int> jobs;  // of one executor's thread; else behind a lock
  rouse::sync::Notify filled;
};

rouse::Async<int> next_job(Queue& queue) {
  while (queue.jobs.empty()) co_await queue.filled.notified();
  const int job = queue.jobs.back();
  queue.jobs.pop_back();
  co_return job;
}

void add_job(Queue& queue, int job) {
  queue.jobs.push_back(job);
  queue.filled.notify_one();  // nobody waits? then the next who does goes on at once
}
// [/notify]

// [notify_waiters]
struct Switch {
  std::atomic<bool> on{false};
  rouse::sync::Notify changed;
};

rouse::Async<void> wait_until_on(Switch& lamp) {
  for (;;) {
    auto changed = lamp.changed.notified();  // first: a change from here on counts
    if (lamp.on) co_return;
    co_await changed;
  }
}

void turn_on(Switch& lamp) {
  lamp.on = true;
  lamp.changed.notify_waiters();
}
// [/notify_waiters]

TEST(SyncGuide, NotifyLetsATaskWaitForWhatItLooksAt) {
  rouse::LocalExecutor executor;
  Queue queue;
  add_job(queue, 3);
  EXPECT_EQ(executor.run_until(next_job(queue)), 3);
  auto job = executor.spawn(rouse::borrowed(next_job(queue)));
  auto add = executor.spawn(rouse::lazy([&] { add_job(queue, 4); }));
  EXPECT_EQ(executor.run_until(job), 4);
  executor.run_until(add);
  Switch lamp;
  auto on = executor.spawn(rouse::borrowed(wait_until_on(lamp)));
  executor.run_until(rouse::lazy([&] { turn_on(lamp); }));
  executor.run_until(on);
}

// [watch]
rouse::Async<int> follow(rouse::sync::WatchReceiver<int> level) {
  int highest = *level.borrow_and_update();
  while (co_await level.changed()) {             // ends when all senders are gone
    const auto now = level.borrow_and_update();  // a snapshot: may be held across an await
    if (*now > highest) highest = *now;
  }
  co_return highest;
}
// [/watch]

TEST(SyncGuide, AWatchTellsTheLatestValue) {
  rouse::LocalExecutor executor;
  auto [tx, rx] = rouse::sync::watch<int>(1);
  auto highest = executor.spawn(follow, std::move(rx));
  EXPECT_TRUE(tx.send(5).has_value());
  tx.send_modify([](int& level) { level -= 3; });
  {
    const auto gone = std::move(tx);
  }
  EXPECT_EQ(executor.run_until(highest), 2);
}

// [broadcast]
struct Tally {
  int received = 0;
  std::uint64_t missed = 0;
};

rouse::Async<Tally> count(rouse::sync::BroadcastReceiver<std::string> events) {
  Tally tally;
  while (auto event = co_await events.recv()) {  // ends when all senders are gone
    tally.missed += event.lagged();              // so many came and went before this one
    tally.received += 1;
  }
  co_return tally;
}
// [/broadcast]

TEST(SyncGuide, ABroadcastReachesAllAndTellsWhoWasTooSlow) {
  rouse::LocalExecutor executor;
  auto [tx, rx] = rouse::sync::broadcast<std::string>(2);
  auto first = executor.spawn(count, rx);
  auto second = executor.spawn(count, std::move(rx));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(tx.send("event").value(), 2U);
  {
    const auto gone = std::move(tx);
  }
  EXPECT_EQ(executor.run_until(first).received, 2);
  EXPECT_EQ(executor.run_until(second).missed, 3U);
}

// [shutdown]
rouse::Async<void> serve(rouse::sync::CancellationToken stop, std::atomic<int>& ended) {
  for (;;) {
    const bool served = co_await stop.run_until_cancelled(rouse::yield_now());  // the real work
    if (!served) break;
  }
  ++ended;
}

rouse::Async<void> run_and_stop(std::atomic<int>& ended) {
  const rouse::sync::CancellationToken stop;
  const rouse::sync::TaskTracker tasks;
  for (int i = 0; i < 3; ++i) {
    rouse::spawn(rouse::borrowed(tasks.track_future(serve(stop.child(), ended)))).detach();
  }
  co_await rouse::yield_now();
  stop.cancel();
  tasks.close();
  co_await tasks.wait();  // all have ended
}
// [/shutdown]

TEST(SyncGuide, ATokenAndATrackerShutDown) {
  rouse::LocalExecutor executor;
  std::atomic<int> ended{0};
  executor.run_until(run_and_stop(ended));
  EXPECT_EQ(ended, 3);
}

// [barrier]
rouse::Async<int> phases(rouse::sync::Barrier& barrier, int count) {
  int led = 0;
  for (int i = 0; i < count; ++i) {
    const auto result = co_await barrier.wait();  // nobody begins a phase before all ended the last
    if (result.is_leader()) ++led;
  }
  co_return led;
}
// [/barrier]

// [once]
rouse::sync::OnceCell<std::string> config;

rouse::Async<std::string> load() {
  co_await rouse::yield_now();  // stands for reading a file
  co_return "loaded";
}

rouse::Async<std::size_t> use_config() {
  const std::string& text = co_await config.get_or_init(load);
  co_return text.size();
}
// [/once]

TEST(SyncGuide, BarrierAndOnceCell) {
  rouse::LocalExecutor executor;
  rouse::sync::Barrier barrier(2);
  auto one = executor.spawn(rouse::borrowed(phases(barrier, 3)));
  auto other = executor.spawn(rouse::borrowed(phases(barrier, 3)));
  EXPECT_EQ(executor.run_until(one) + executor.run_until(other), 3);
  auto first = executor.spawn(use_config);
  auto second = executor.spawn(use_config);
  EXPECT_EQ(executor.run_until(first) + executor.run_until(second), 12U);
}

}  // namespace
