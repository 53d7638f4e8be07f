// What it costs tasks to wait for each other, and what it takes to wake one from outside.
#include <cstdint>
#include <utility>
#include <vector>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/oneshot.hpp"

#include "rows.hpp"
#include "support/measure.hpp"
#include "support/wake_latency.hpp"

namespace bench {
namespace {

using namespace rouse;

/// Goes back and forth; each time with where the answer is to go.
struct Ball {
  Ball(long left, sync::OneshotSender<Ball> to) : hits_left(left), reply(std::move(to)) {}
  long hits_left;
  sync::OneshotSender<Ball> reply;
};
Async<void> play(sync::OneshotReceiver<Ball> incoming) {
  while (auto ball = co_await incoming) {
    if (ball->hits_left == 0) co_return;
    auto [reply, next] = sync::oneshot<Ball>();
    (void)ball->reply.send(Ball(ball->hits_left - 1, std::move(reply)));
    incoming = std::move(next);
  }
}
Async<void> play_with_oneshots(long rounds) {
  auto [serve, first] = sync::oneshot<Ball>();
  auto [reply, answer] = sync::oneshot<Ball>();
  auto other = spawn(play, std::move(first));
  (void)serve.send(Ball(2 * rounds - 1, std::move(reply)));
  co_await play(std::move(answer));
  co_await other;
}

Async<void> send_back(sync::Receiver<long> incoming, sync::Sender<long> outgoing) {
  while (auto number = co_await incoming.recv()) (void)co_await outgoing.send(*number);
}
Async<void> play_with_channels(long rounds) {
  auto [there, their] = sync::channel<long>(1);
  auto [back, answers] = sync::channel<long>(1);
  auto other = spawn(send_back, std::move(their), std::move(back));
  for (long i = 0; i < rounds; ++i) {
    (void)co_await there.send(i);
    check((co_await answers.recv()).value() == i);
  }
  {
    const auto last = std::move(there);
  }
  co_await other;
}

Async<void> send_numbers(sync::Sender<std::int64_t> tx, long n) {
  for (long i = 0; i < n; ++i) (void)co_await tx.send(1);
}
Async<std::int64_t> sum_up(sync::Receiver<std::int64_t> rx) {
  std::int64_t sum = 0;
  while (auto number = co_await rx.recv()) sum += *number;
  co_return sum;
}
Async<std::int64_t> many_to_one(long messages, long senders) {
  auto [tx, rx] = sync::channel<std::int64_t>(1024);
  auto sum = spawn(sum_up, std::move(rx));
  for (long i = 0; i < senders; ++i) spawn(send_numbers, tx, messages / senders).detach();
  {
    const auto last = std::move(tx);
  }
  co_return co_await sum;
}
Values mpsc(unsigned workers, long messages, long senders) {
  Runtime rt = make_runtime(workers);
  return {
      mean_ns(messages, [&] { check(rt.block_on(many_to_one(messages, senders)) == messages); })};
}

Async<void> add_ones(sync::Mutex<std::int64_t>& total, long n) {
  for (long i = 0; i < n; ++i) {
    auto guard = co_await total.lock();
    *guard += 1;
  }
}
Async<std::int64_t> eight_tasks_add(long n) {
  sync::Mutex<std::int64_t> total(0);
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(spawn(borrowed(add_ones(total, n / 8))));
  for (auto& handle : handles) co_await handle;
  co_return *co_await total.lock();
}

Async<void> note_wakes(sync::Notify& notify, long n, WakeLatency& latency) {
  for (long i = 0; i < n; ++i) {
    co_await notify.notified();
    latency.note();
  }
}

}  // namespace

Values ping_pong_oneshot(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  return {mean_ns(n, [&] { rt.block_on(play_with_oneshots(n)); })};
}

Values ping_pong_mpsc(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  return {mean_ns(n, [&] { rt.block_on(play_with_channels(n)); })};
}

Values mpsc_1x1(unsigned workers, long n) { return mpsc(workers, n, 1); }
Values mpsc_4x1(unsigned workers, long n) { return mpsc(workers, n, 4); }

Values mutex(unsigned workers, long n) {
  Runtime rt = make_runtime(workers);
  return {mean_ns(n, [&] { check(rt.block_on(eight_tasks_add(n)) == n / 8 * 8); })};
}

Values wake_latency(unsigned workers, long n) {
  if (workers == 0) return {};  // nobody would run the task
  Runtime rt = make_runtime(workers);
  sync::Notify notify;
  WakeLatency latency;
  auto noting = rt.spawn(borrowed(note_wakes(notify, n, latency)));
  Values values = latency.measure(n, [&] { notify.notify_one(); });
  rt.block_on(std::move(noting));
  return values;
}

}  // namespace bench
