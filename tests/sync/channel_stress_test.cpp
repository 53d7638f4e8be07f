// Channels with real tasks and threads: on every executor, against a model, and under stress.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/sync/channel.hpp"

#include "support/sanitizer.hpp"
#include "sync/executors.hpp"
#include "sync/linearizability.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace rouse::sync;

template <class Executor>
class ChannelOn : public OnExecutor<Executor> {};
TYPED_TEST_SUITE(ChannelOn, HostedExecutors, ExecutorNames);

/// Sends (who, 0), (who, 1), ...
using Numbered = std::pair<int, int>;

Async<void> send_all(Sender<Numbered> tx, int who, int n) {
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0) {
      auto permit = co_await tx.reserve();
      EXPECT_TRUE(permit.send({who, i}));
    } else {
      EXPECT_TRUE(co_await tx.send({who, i}));
    }
  }
}
Async<void> send_all_unbounded(UnboundedSender<Numbered> tx, int who, int n) {
  for (int i = 0; i < n; ++i) {
    EXPECT_TRUE(tx.send({who, i}));
    if (i % 100 == 0) co_await yield_now();
  }
}
Async<void> receive_all(Receiver<Numbered> rx, std::vector<Numbered>& received) {
  while (auto message = co_await rx.recv()) received.push_back(*message);
}

void expect_all(const std::vector<Numbered>& received, int senders, int n) {
  std::vector<int> next(static_cast<std::size_t>(senders), 0);
  for (const auto& [who, i] : received) {
    ASSERT_EQ(i, next[static_cast<std::size_t>(who)]) << "of sender " << who;
    ++next[static_cast<std::size_t>(who)];
  }
  for (const int count : next) EXPECT_EQ(count, n);
}

TYPED_TEST(ChannelOn, EveryMessageArrivesOnceInTheOrderOfItsSender) {
  const int n = sanitized ? 300 : 5000;
  for (const std::size_t capacity : {1U, 3U, 64U}) {
    std::vector<Numbered> received;
    auto [tx, rx] = channel<Numbered>(capacity);
    for (int who = 0; who < 4; ++who) this->executor.spawn(send_all(tx, who, n));
    {
      const auto ended = std::move(tx);
    }
    this->executor.run(receive_all(std::move(rx), received));
    expect_all(received, 4, n);
  }
}

TYPED_TEST(ChannelOn, AnUnboundedOneToo) {
  const int n = sanitized ? 1000 : 20000;
  std::vector<Numbered> received;
  auto [tx, rx] = unbounded<Numbered>();
  for (int who = 0; who < 4; ++who) this->executor.spawn(send_all_unbounded(tx, who, n));
  {
    const auto ended = std::move(tx);
  }
  this->executor.run(receive_all(std::move(rx), received));
  expect_all(received, 4, n);
}

Async<void> receive_some(Receiver<Numbered> rx, std::mutex& mutex,
                         std::vector<Numbered>& received) {
  while (auto message = co_await rx.recv()) {
    const std::scoped_lock lock(mutex);
    received.push_back(*message);
  }
}
TYPED_TEST(ChannelOn, SeveralReceiversGetEveryMessageOnceTogether) {
  const int n = sanitized ? 300 : 3000;
  for (const std::size_t capacity : {1U, 16U}) {
    std::mutex mutex;
    std::vector<Numbered> received;
    auto [tx, rx] = channel<Numbered>(capacity);
    for (int who = 0; who < 3; ++who) this->executor.spawn(send_all(tx, who, n));
    {
      const auto ended = std::move(tx);
    }
    for (int i = 0; i < 2; ++i) this->executor.spawn(receive_some(rx.clone(), mutex, received));
    this->executor.run(receive_some(std::move(rx), mutex, received));
    std::ranges::sort(received);
    expect_all(received, 3, n);
  }
}

Async<void> pass_on(Receiver<int> rx, Sender<int> tx) {
  while (auto number = co_await rx.recv()) {
    if (!co_await tx.send(*number + 1)) co_return;
  }
}
Async<int> send_and_receive(Sender<int> tx, Receiver<int>& rx, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    EXPECT_TRUE(co_await tx.send(i));
    sum += *co_await rx.recv() - i;
  }
  {
    const auto ended = std::move(tx);
  }  // the chain ends now, not when this future is destroyed
  co_return sum;
}
TYPED_TEST(ChannelOn, AChainOfTasksPassesMessagesOn) {
  constexpr int links = 20;
  const int n = sanitized ? 20 : 200;
  auto [first, from] = channel<int>(1);
  Receiver<int> last = std::move(from);
  for (int i = 0; i < links; ++i) {
    auto [tx, rx] = channel<int>(1);
    this->executor.spawn(pass_on(std::move(last), std::move(tx)));
    last = std::move(rx);
  }
  EXPECT_EQ(this->executor.run(send_and_receive(std::move(first), last, n)), links * n);
}

// Each thread has at most one future that sends. Thread 0 receives, too.
enum class ChannelCall : std::uint8_t { begin, poll, drop, try_send, try_recv, close };
struct ChannelOp {
  ChannelCall call{};
  int thread = 0;
  int value = 0;
  friend void PrintTo(const ChannelOp& op, std::ostream* out) {
    constexpr const char* names[] = {"begin", "poll", "drop", "try_send", "try_recv", "close"};
    *out << names[static_cast<std::size_t>(op.call)] << "(" << op.value << ")";
  }
};
struct ChannelModel {
  using Op = ChannelOp;
  using Result = int;  // a message; 1: sent; 0: nothing; -1: closed
  static constexpr std::size_t capacity = 2;

  Result apply(Op op) {
    Sending& mine = sending[static_cast<std::size_t>(op.thread)];
    switch (op.call) {
      case ChannelCall::begin:
        if (mine.state != State::none) return poll(mine);
        if (closed) return -1;
        if (has_room()) return queue.push_back(op.value), 1;
        mine = {State::waits, op.value};
        line.push_back(op.thread);
        return 0;
      case ChannelCall::poll:
        return poll(mine);
      case ChannelCall::drop:
        std::erase(line, op.thread);
        if (std::exchange(mine.state, State::none) == State::has_room) --reserved;
        return serve();
      case ChannelCall::try_send:
        if (closed) return -1;
        return has_room() ? (queue.push_back(op.value), 1) : 0;
      case ChannelCall::try_recv: {
        if (queue.empty()) return 0;
        const int message = queue.front();
        queue.erase(queue.begin());
        serve();
        return message;
      }
      case ChannelCall::close:
        closed = true;
        for (const int thread : line)
          sending[static_cast<std::size_t>(thread)].state = State::refused;
        line.clear();
        return 0;
    }
    return 0;
  }
  auto operator<=>(const ChannelModel&) const = default;

  enum class State : std::uint8_t { none, waits, has_room, refused };
  struct Sending {
    State state = State::none;
    int value = 0;
    auto operator<=>(const Sending&) const = default;
  };
  bool has_room() const { return line.empty() && queue.size() + reserved < capacity; }
  int poll(Sending& mine) {
    if (mine.state == State::none || mine.state == State::waits) return 0;
    if (std::exchange(mine.state, State::none) == State::refused) return -1;
    --reserved;
    queue.push_back(mine.value);
    return 1;
  }
  int serve() {
    while (!line.empty() && queue.size() + reserved < capacity) {
      sending[static_cast<std::size_t>(line.front())].state = State::has_room;
      line.erase(line.begin());
      ++reserved;
    }
    return 0;
  }
  std::vector<int> queue;
  std::vector<int> line;
  std::array<Sending, 3> sending;
  std::size_t reserved = 0;
  bool closed = false;
};

struct ChannelAndFutures {
  std::pair<Sender<int>, Receiver<int>> both = channel<int>(ChannelModel::capacity);
  Receiver<int> other = both.second.clone();
  std::array<std::optional<Send<int>>, 3> sending;

  int poll(std::optional<Send<int>>& mine) {
    if (!mine) return 0;
    Context cx(Waker::noop());
    auto polled = mine->poll(cx);
    if (polled.is_pending()) return 0;
    mine.reset();
    return polled.value() ? 1 : -1;
  }
  int perform(ChannelOp op, bool several) {
    auto& mine = sending[static_cast<std::size_t>(op.thread)];
    switch (op.call) {
      case ChannelCall::begin:
        if (!mine) mine.emplace(both.first.send(op.value));
        return poll(mine);
      case ChannelCall::poll:
        return poll(mine);
      case ChannelCall::drop:
        return mine.reset(), 0;
      case ChannelCall::try_send: {
        const auto sent = both.first.try_send(op.value);
        if (sent) return 1;
        return sent.error() == std::errc::broken_pipe ? -1 : 0;
      }
      case ChannelCall::try_recv:
        return (several && op.thread != 0 ? other : both.second).try_recv().value_or(0);
      case ChannelCall::close:
        return both.second.close(), 0;
    }
    return 0;
  }
};

void check_channel(bool several_receivers) {
  const HistoryReport report = check_histories<ChannelModel>(
      HistoryOptions(), [] { return ChannelModel(); },
      [several_receivers] {
        auto object = std::make_unique<ChannelAndFutures>();
        if (!several_receivers) {
          const auto ended = std::move(object->other);
        }
        return object;
      },
      [several_receivers](Random& random, std::size_t thread) {
        ChannelOp op;
        op.thread = static_cast<int>(thread);
        op.value = static_cast<int>(random() / 16 % 1'000'000) + 10;
        const auto pick = random() / 16 % 24;
        const bool receives = thread == 0 || (several_receivers && thread == 1);
        op.call = receives
                      ? (pick < 18 ? ChannelCall::try_recv : static_cast<ChannelCall>(pick % 4))
                      : static_cast<ChannelCall>(pick % 4);
        if (thread == 0 && pick == 23) op.call = ChannelCall::close;
        return op;
      },
      [several_receivers](ChannelAndFutures& object, std::size_t, ChannelOp op) {
        return object.perform(op, several_receivers);
      });
  EXPECT_EQ(report.violation, "");
  EXPECT_GT(report.overlapping, 0U);
}
TEST(Channel, RandomHistoriesAreThoseOfAQueueWithALine) { check_channel(false); }
TEST(Channel, RandomHistoriesWithSeveralReceiversToo) { check_channel(true); }

// Senders and receivers come, wait a little and are dropped: what was sent is received.
TEST(ChannelStress, NothingIsLostWhenFuturesAreDropped) {
  auto [tx, rx] = channel<int>(2);
  const Sender<int>& to = tx;
  std::atomic<long> sent{0};
  std::atomic<bool> stop{false};
  auto send_or_drop = [&] {
    Context cx(Waker::noop());
    while (!stop) {
      auto sending = to.send(1);
      for (int i = 0; i < 3; ++i) {
        if (sending.poll(cx).is_pending()) continue;
        ++sent;
        break;
      }
      auto reserving = to.reserve();
      if (auto permit = reserving.poll(cx); permit.is_ready() && permit.value()) {
        if (permit.value().send(1)) ++sent;
      }
    }
  };
  std::thread first(send_or_drop);
  std::thread second(send_or_drop);
  long received = 0;
  Context cx(Waker::noop());
  for (int i = 0; i < (sanitized ? 3000 : 30000); ++i) {
    if (i % 2 == 0) {
      auto dropped = rx.recv();
      if (dropped.poll(cx).is_ready()) ++received;
    } else {
      ASSERT_TRUE(block_on(rx.recv()));
      ++received;
    }
  }
  stop = true;
  while (rx.try_recv()) ++received;
  first.join();
  second.join();
  while (rx.try_recv()) ++received;
  EXPECT_EQ(received, sent);
  EXPECT_EQ(tx.capacity(), 2U);
}

// The receiver closes while senders send: each send says rightly whether its message was received.
TEST(ChannelStress, ASendThatSucceededWasReceivedHoweverTheChannelEnds) {
  for (int round = 0; round < (sanitized ? 200 : 2000); ++round) {
    std::atomic<int> sent{0};
    int received = 0;
    auto [tx, rx] = channel<int>(2);
    auto send = [&sent](Sender<int> to) {
      while (block_on(to.send(1))) ++sent;
    };
    std::thread first(send, tx);
    std::thread second(send, std::move(tx));
    for (int i = 0; i < round % 20; ++i) received += *block_on(rx.recv());
    rx.close();
    while (auto message = block_on(rx.recv())) received += *message;
    first.join();
    second.join();
    ASSERT_EQ(received, sent);
  }
}

// As above, but nobody drains: messages are destroyed, wherever they were.
TEST(ChannelStress, NoMessageOutlivesTheChannel) {
  for (int round = 0; round < (sanitized ? 200 : 2000); ++round) {
    const auto message = std::make_shared<int>(1);
    {
      auto [tx, rx] = unbounded<std::shared_ptr<int>>();
      auto send = [message](UnboundedSender<std::shared_ptr<int>> to) {
        for (int i = 0; i < 200 && to.send(message); ++i) {
        }
      };
      std::thread first(send, tx);
      std::thread second(send, std::move(tx));
      for (int i = 0; i < round % 50; ++i) (void)block_on(rx.recv());
      {
        const auto ended = std::move(rx);
      }
      first.join();
      second.join();
    }
    ASSERT_EQ(message.use_count(), 1);
  }
}

}  // namespace
