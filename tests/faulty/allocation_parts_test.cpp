// Every allocation of channels, locks, timers, combinators, streams and buffers fails once: see
// allocations.hpp. Where several tasks work together they are in a try_join or a scope: the first
// that finds no memory ends the others.
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/parallel_all.hpp"
#include "rouse/exec/parallel_for.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/future/abortable.hpp"
#include "rouse/future/futures_ordered.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/select_all.hpp"
#include "rouse/future/shared.hpp"
#include "rouse/future/try_join.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/buf_writer.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/framed.hpp"
#include "rouse/io/split.hpp"
#include "rouse/stream/buffer_unordered.hpp"
#include "rouse/stream/buffered.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/sync/barrier.hpp"
#include "rouse/sync/broadcast.hpp"
#include "rouse/sync/cancellation_token.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/once_cell.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/sync/task_tracker.hpp"
#include "rouse/sync/watch.hpp"
#include "rouse/time/delay_queue.hpp"
#include "rouse/time/interval.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "faulty/allocations.hpp"

namespace rouse::faulty {
namespace {

using std::chrono::milliseconds;

constexpr const char* long_text = "a text that is longer than a short one is";

Async<int> hand_back(int value) {
  co_await yield_now();
  co_return value;
}

// --- Channels. ---

template <class Sender>
Async<void> send_some(Sender to, int count) {
  for (int i = 0; i < count; ++i) {
    const auto sent = co_await to.send(long_text);
    EXPECT_TRUE(sent);
  }
}
Async<void> use_a_channel() {
  auto [sender, receiver] = sync::channel<std::string>(4);
  auto sending = spawn(send_some<sync::Sender<std::string>>, std::move(sender), 20);
  int count = 0;
  for (;;) {
    const auto received = co_await receiver.recv();
    if (!received) break;
    ++count;
  }
  co_await std::move(sending);
  EXPECT_EQ(count, 20);
}
Async<void> use_an_unbounded_channel() {
  auto [sender, receiver] = sync::unbounded<std::string>();
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(sender.send(std::string(long_text)));
  for (int i = 0; i < 200; ++i) EXPECT_EQ((co_await receiver.recv()).value(), long_text);
}
/// Without memory for a larger ring it holds fewer messages.
Async<void> use_a_channel_that_grows() {
  auto [sender, receiver] = sync::channel<int>(200);
  int received = 0;
  for (int i = 0; i < 200; ++i) {
    while (!sender.try_send(int{i})) EXPECT_EQ(receiver.try_recv(), received++);
  }
  while (received < 200) EXPECT_EQ(receiver.try_recv(), received++);
  co_return;
}
/// Without memory for that many it throws; with the ring as it was, all goes on.
Async<void> use_room_for_many() {
  auto [sender, receiver] = sync::channel<int>(200);
  EXPECT_TRUE(sender.try_send(0));
  bool has_memory = true;
  try {
    auto permit = co_await sender.reserve_many(199);
    EXPECT_EQ(permit.size(), 199U);
    EXPECT_TRUE(permit.send(1));
  } catch (const std::bad_alloc&) {
    has_memory = false;
  }
  EXPECT_EQ(receiver.try_recv(), 0);
  EXPECT_EQ(receiver.try_recv(), has_memory ? std::optional(1) : std::nullopt);
  EXPECT_TRUE(sender.try_send(2));
  EXPECT_EQ(receiver.try_recv(), 2);
  EXPECT_EQ(sender.capacity(), 200U);
}
TEST(FaultyAllocation, AChannelIsUsed) {
  try_each_allocation("a channel", use_a_channel);
  try_each_allocation("an unbounded channel", use_an_unbounded_channel);
  try_each_allocation("a channel that grows", use_a_channel_that_grows);
  try_each_allocation("a channel with room for many", use_room_for_many);
}

Async<void> use_a_oneshot() {
  auto [sender, receiver] = sync::oneshot<int>();
  EXPECT_TRUE(sender.send(7));
  EXPECT_EQ(co_await std::move(receiver), 7);
}
TEST(FaultyAllocation, AOneshotIsUsed) { try_each_allocation("a oneshot", use_a_oneshot); }

Async<void> use_a_broadcast() {
  auto [sender, first] = sync::broadcast<std::string>(8);
  auto second = first;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(sender.send(std::string(long_text)));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(*(co_await first.recv()), long_text);
    EXPECT_EQ(*(co_await second.recv()), long_text);
  }
}
TEST(FaultyAllocation, ABroadcastIsUsed) { try_each_allocation("a broadcast", use_a_broadcast); }

Async<void> use_a_watch() {
  auto [sender, receiver] = sync::watch<std::string>(std::string());
  auto other = receiver;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(sender.send(std::string(long_text)));
    EXPECT_TRUE(co_await receiver.changed());
    sender.send_modify([](std::string& text) { text += '!'; });
    EXPECT_TRUE(co_await other.changed());
    EXPECT_EQ(other.borrow_and_update()->back(), '!');
  }
}
TEST(FaultyAllocation, AWatchIsUsed) { try_each_allocation("a watch", use_a_watch); }

// --- Locks, and what tasks wait for together. ---

struct Locks {
  sync::Mutex<std::vector<std::string>> texts;
  sync::RwLock<std::vector<std::string>> more;
  sync::Semaphore permits{2};
  sync::Barrier all{4};
  sync::Notify notify;
  sync::OnceCell<std::string> once;
};

Async<std::string> make_text() {
  co_await yield_now();
  co_return long_text;
}

Async<void> use_each(Locks& locks) {
  const auto permit = co_await locks.permits.acquire();
  {
    auto texts = co_await locks.texts.lock();
    co_await yield_now();
    texts->emplace_back(long_text);
  }
  {
    auto writing = co_await locks.more.write();
    writing->emplace_back(long_text);
  }
  {
    const auto reading = co_await locks.more.read();
    EXPECT_FALSE(reading->empty());
  }
  const std::string& text = co_await locks.once.get_or_init(make_text);
  EXPECT_EQ(text, long_text);
}
Async<void> meet(Locks& locks) {
  // One permit goes round: of two at once, with nobody waiting, a Notify keeps one.
  const auto met = co_await locks.all.wait();
  if (met.is_leader()) locks.notify.notify_one();
  co_await locks.notify.notified();
  locks.notify.notify_one();
}
Async<void> use_locks() {
  Locks locks;
  auto body = [&locks](Scope& scope) {
    for (int i = 0; i < 4; ++i) scope.spawn(use_each(locks));
    for (int i = 0; i < 4; ++i) scope.spawn(meet(locks));
  };
  co_await scope(body);
}
/// Asks its scope for something when it goes.
class LooksAtScope {
 public:
  explicit LooksAtScope(Scope& scope) noexcept : scope_(&scope) {}
  LooksAtScope(LooksAtScope&& other) noexcept : scope_(std::exchange(other.scope_, nullptr)) {}
  LooksAtScope& operator=(LooksAtScope&&) = delete;
  ~LooksAtScope() {
    if (scope_ != nullptr) static_cast<void>(scope_->error());
  }

 private:
  Scope* scope_;
};

Async<void> hold_a_look_at(LooksAtScope) { co_await yield_now(); }
Async<void> spawn_what_looks_at_the_scope() {
  auto body = [](Scope& scope) -> Async<void> {
    for (int i = 0; i < 4; ++i) scope.spawn(hold_a_look_at, LooksAtScope(scope));
    co_return;
  };
  co_await scope(body);
}
TEST(FaultyAllocation, AChildThatGoesMayUseItsScope) {
  try_each_allocation("a scope whose children use it when they go", spawn_what_looks_at_the_scope);
}

TEST(FaultyAllocation, LocksAreUsed) { try_each_allocation("locks, in a scope", use_locks); }

Async<void> wait_for_the_end(sync::CancellationToken token) { co_await token.cancelled(); }
Async<void> use_tokens() {
  const sync::CancellationToken token;
  const sync::TaskTracker tracker;
  // They end whatever happens here, or they would be left.
  struct Cancel {
    explicit Cancel(const sync::CancellationToken& which) noexcept : token(which) {}
    Cancel(const Cancel&) = delete;
    Cancel& operator=(const Cancel&) = delete;
    ~Cancel() { token.cancel(); }
    const sync::CancellationToken& token;
  };
  {
    const Cancel cancel(token);
    for (int i = 0; i < 3; ++i) {
      spawn(tracker.track_future(wait_for_the_end(token.child().child()))).detach();
    }
    co_await yield_now();
  }
  tracker.close();
  co_await tracker.wait();
}
TEST(FaultyAllocation, TokensAreUsed) { try_each_allocation("a token and a tracker", use_tokens); }

// --- Timers. ---

Async<void> use_timers() {
  co_await sleep(milliseconds(1));
  co_await timeout(std::chrono::hours(1), sleep(milliseconds(1)));
  Interval every = interval(milliseconds(1));
  for (int i = 0; i < 3; ++i) co_await every.tick();
}
Async<void> use_a_delay_queue() {
  DelayQueue<std::string> queue;
  const auto key = queue.insert(long_text, std::chrono::hours(1));
  for (int i = 0; i < 10; ++i) queue.insert(long_text, milliseconds(1));
  EXPECT_TRUE(queue.remove(key));
  for (int i = 0; i < 10; ++i) {
    const auto expired = co_await queue.next();
    EXPECT_TRUE(expired);
  }
}
TEST(FaultyAllocation, TimersAreUsed) {
  try_each_allocation("timers", use_timers);
  try_each_allocation("a DelayQueue", use_a_delay_queue);
}

// --- Combinators and streams. ---

Async<void> combine() {
  auto [first, second] = co_await try_join(hand_back(1), hand_back(2));
  EXPECT_EQ(first + second, 3);
  std::vector<Async<int>> some;
  some.reserve(3);
  for (int i = 0; i < 3; ++i) some.push_back(hand_back(i));
  const std::vector<int> joined = co_await join_all(std::move(some));
  EXPECT_EQ(joined.size(), 3U);
  FuturesUnordered<AnyFuture<int>> jobs;
  for (int i = 0; i < 3; ++i) jobs.push(AnyFuture<int>(hand_back(i)));
  for (;;) {
    const auto done = co_await jobs.next();
    if (!done) break;
  }
  FuturesOrdered<Async<int>> queue;
  for (int i = 0; i < 3; ++i) queue.push_back(hand_back(i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await queue.next(), i);
  std::vector<Async<int>> others;
  others.reserve(2);
  for (int i = 0; i < 2; ++i) others.push_back(hand_back(i));
  const auto selected = co_await select_all(std::move(others));
  EXPECT_FALSE(selected.rest.empty());
  const Shared one = shared(hand_back(1));
  EXPECT_EQ(co_await Shared(one), 1);
  EXPECT_EQ(co_await abortable(hand_back(2)).first, 2);
}
TEST(FaultyAllocation, FuturesAreCombined) { try_each_allocation("combinators", combine); }

AsyncStream<int> numbers(int count) {
  for (int i = 0; i < count; ++i) {
    co_await yield_now();
    co_yield i;
  }
}
Async<void> stream_some() {
  const auto all =
      co_await stream::collect(stream::buffer_unordered(stream::map(numbers(8), hand_back), 3));
  EXPECT_EQ(all.size(), 8U);
  const auto in_order =
      co_await stream::collect(stream::buffered(stream::map(numbers(8), hand_back), 3));
  EXPECT_EQ(in_order.size(), 8U);
}
TEST(FaultyAllocation, AStreamIsRead) { try_each_allocation("a stream", stream_some); }

Async<int> add_up(int first, int last) {
  if (last - first < 2) co_return first;
  const int middle = first + (last - first) / 2;
  auto [left, right] = co_await parallel(add_up(first, middle), add_up(middle, last));
  co_return left + right;
}
Async<void> fork_and_join() {
  EXPECT_EQ(co_await add_up(0, 16), 120);
  std::vector<Async<int>> some;
  some.reserve(8);
  for (int i = 0; i < 8; ++i) some.push_back(hand_back(i));
  const std::vector<int> all = co_await parallel_all(std::move(some));
  EXPECT_EQ(all.size(), 8U);
  co_await parallel(yield_now(), yield_now(), hand_back(1));
  std::array<int, 64> numbers{};
  co_await parallel_for(numbers, [](int& number) { number = 1; });
  EXPECT_EQ(numbers.back(), 1);
}
TEST(FaultyAllocation, WorkIsForkedAndJoined) { try_each_allocation("parallel", fork_and_join); }

// --- Bytes in memory. ---

Async<void> write_lines(io::DuplexStream to) {
  io::BufWriter writer(std::move(to));
  for (int i = 0; i < 10; ++i) co_await writer.write_all("a line that is not so short as others\n");
  co_await writer.shutdown();
}
Async<void> read_lines(io::DuplexStream from) {
  io::Lines lines = io::BufReader(std::move(from)).lines();
  int count = 0;
  for (;;) {
    const auto line = co_await lines.next_line();
    if (!line) break;
    ++count;
  }
  EXPECT_EQ(count, 10);
}
Async<void> use_lines() {
  auto [here, there] = io::duplex(64);
  co_await try_join(write_lines(std::move(here)), read_lines(std::move(there)));
}

Async<void> use_frames() {
  auto [here, there] = io::duplex(4096);
  auto [reader, writer] = io::split(std::move(here));
  io::FramedWrite out(std::move(writer), io::LengthDelimitedCodec());
  io::FramedRead in(std::move(there), io::LengthDelimitedCodec());
  for (int i = 0; i < 4; ++i) {
    co_await out.send(std::string(100, 'x'));
    const auto frame = co_await in.next();
    EXPECT_TRUE(frame.has_value() && frame->value().size() == 100);
  }
}
TEST(FaultyAllocation, LinesAndFramesAreExchanged) {
  try_each_allocation("lines", use_lines);
  try_each_allocation("frames", use_frames);
}

}  // namespace
}  // namespace rouse::faulty
