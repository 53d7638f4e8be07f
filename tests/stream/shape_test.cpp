// What streams, and the futures that read them, say that they wait for: base/shape.hpp.
#include "rouse/base/shape.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/stream/and_then.hpp"
#include "rouse/stream/any_stream.hpp"
#include "rouse/stream/buffer_unordered.hpp"
#include "rouse/stream/buffered.hpp"
#include "rouse/stream/by_ref.hpp"
#include "rouse/stream/chain.hpp"
#include "rouse/stream/chunks.hpp"
#include "rouse/stream/chunks_timeout.hpp"
#include "rouse/stream/collect.hpp"
#include "rouse/stream/filter.hpp"
#include "rouse/stream/filter_map.hpp"
#include "rouse/stream/flatten.hpp"
#include "rouse/stream/fold.hpp"
#include "rouse/stream/for_each.hpp"
#include "rouse/stream/for_each_concurrent.hpp"
#include "rouse/stream/forward.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/map.hpp"
#include "rouse/stream/map_while.hpp"
#include "rouse/stream/merge.hpp"
#include "rouse/stream/next.hpp"
#include "rouse/stream/peekable.hpp"
#include "rouse/stream/send.hpp"
#include "rouse/stream/stream_map.hpp"
#include "rouse/stream/take.hpp"
#include "rouse/stream/take_until.hpp"
#include "rouse/stream/then.hpp"
#include "rouse/stream/throttle.hpp"
#include "rouse/stream/timeout.hpp"
#include "rouse/stream/try_collect.hpp"
#include "rouse/stream/try_next.hpp"
#include "rouse/stream/zip.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/poll_sender.hpp"
#include "rouse/testing/gate.hpp"

#include "support/shape_text.hpp"

namespace rouse::test {
namespace {

using namespace std::chrono_literals;
using ShapeGate = testing::Gate<int>;

/// A channel whose receiver is the stream.
struct ShapeChannel {
  ShapeChannel() : ShapeChannel(sync::channel<int>(8)) {}
  explicit ShapeChannel(std::pair<sync::Sender<int>, sync::Receiver<int>> both)
      : tx(std::move(both.first)), rx(std::move(both.second)) {}
  void send(int item) const { EXPECT_TRUE(tx.try_send(std::move(item))); }
  sync::Receiver<int> stream() const { return rx.clone(); }

  sync::Sender<int> tx;
  sync::Receiver<int> rx;
};

/// Of a stream that is read, or a future that is polled, until it has to wait.
template <class S>
std::string shape_when_it_waits(S& stream) {
  Context cx(Waker::noop());
  if constexpr (Stream<S>) {
    while (stream.poll_next(cx).is_ready()) {
    }
  } else {
    EXPECT_TRUE(stream.poll(cx).is_pending());
  }
  return ShapeText(stream).text();
}
template <class S>
std::string shape_of_waiting(S stream) {
  return shape_when_it_waits(stream);
}

TEST(StreamShape, OneThatOnlyPassesOnIsNotNamed) {
  const ShapeChannel in;
  in.send(1);
  const auto same = [](int x) { return x; };
  const auto yes = [](int) { return true; };
  const auto some = [](int x) { return std::optional(x); };
  EXPECT_EQ(shape_of_waiting(stream::map(in.stream(), same)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::filter(in.stream(), yes)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::filter_map(in.stream(), some)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::map_while(in.stream(), some)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::take(in.stream(), 5)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::chunks(in.stream(), 5)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::peekable(in.stream())), "channel");
  EXPECT_EQ(shape_of_waiting(stream::collect(in.stream())), "channel");
  EXPECT_EQ(shape_of_waiting(stream::fold(in.stream(), 0, [](int a, int b) { return a + b; })),
            "channel");
  EXPECT_EQ(shape_of_waiting(stream::for_each(in.stream(), [](int) {})), "channel");
}

TEST(StreamShape, WhatIsBorrowedIsFollowed) {
  ShapeChannel in;
  auto next = stream::next(in.rx);
  EXPECT_EQ(shape_when_it_waits(next), "channel");
  EXPECT_EQ(ShapeText(next).kind(0), sight::Wait::receive);
  EXPECT_EQ(ShapeText(next).field<const void*>(0), &in.tx.queue());
  EXPECT_EQ(shape_of_waiting(stream::by_ref(in.rx)), "channel");
}

TEST(StreamShape, OfResults) {
  auto [tx, rx] = sync::channel<Result<int>>(8);
  ShapeGate gate;
  EXPECT_EQ(shape_of_waiting(stream::try_next(rx)), "channel");
  EXPECT_EQ(shape_of_waiting(stream::try_collect(rx)), "channel");
  auto after = stream::and_then(std::move(rx), [&](int) { return gate.wait(); });
  EXPECT_EQ(shape_when_it_waits(after), "then(channel)");
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_EQ(shape_when_it_waits(after), "then(channel, Gate)");
}

TEST(StreamShape, AnyStreamIsWhatIsInIt) {
  const ShapeChannel in;
  std::vector<stream::AnyStream<int>> streams;
  streams.emplace_back(stream::map(in.stream(), [](int x) { return x; }));
  streams.emplace_back(stream::merge(in.stream(), in.stream()));
  EXPECT_EQ(shape_when_it_waits(streams[0]), "channel");
  EXPECT_EQ(ShapeText(streams[0]).field<const void*>(0), &in.tx.queue());
  EXPECT_EQ(shape_when_it_waits(streams[1]), "merge(channel, channel)");
  std::swap(streams[0], streams[1]);
  EXPECT_EQ(ShapeText(streams[0]).text(), "merge(channel, channel)");
  EXPECT_EQ(ShapeText(streams[1]).text(), "channel");
}

TEST(StreamShape, OfSeveralStreams) {
  const ShapeChannel first, second;
  EXPECT_EQ(shape_of_waiting(stream::chain(first.stream(), second.stream())),
            "chain(channel, channel)");
  auto zip = stream::zip(first.stream(), second.stream());
  EXPECT_EQ(shape_when_it_waits(zip), "zip(channel, channel)");
  EXPECT_EQ(ShapeText(zip).field<const void*>(0), &first.tx.queue());
  EXPECT_EQ(ShapeText(zip).field<const void*>(1), &second.tx.queue());
  ShapeGate gate;
  EXPECT_EQ(shape_of_waiting(stream::take_until(first.stream(), gate.wait())),
            "take_until(channel, Gate)");
}

TEST(StreamShape, FlattenWaitsForTheInnerStream) {
  const ShapeChannel inner;
  auto [tx, rx] = sync::channel<sync::Receiver<int>>(1);
  auto flat = stream::flatten(std::move(rx));
  EXPECT_EQ(shape_when_it_waits(flat), "flatten(channel)");
  EXPECT_TRUE(tx.try_send(inner.stream()));
  EXPECT_EQ(shape_when_it_waits(flat), "flatten(channel, channel)");
  EXPECT_EQ(ShapeText(flat).field<const void*>(1), &inner.tx.queue());
}

TEST(StreamShape, ThenWaitsForItsFuture) {
  const ShapeChannel in;
  ShapeGate gate;
  auto then = stream::then(in.stream(), [&](int) { return gate.wait(); });
  EXPECT_EQ(shape_when_it_waits(then), "then(channel)");
  in.send(1);
  EXPECT_EQ(shape_when_it_waits(then), "then(channel, Gate)");
  EXPECT_EQ(ShapeText(then).field<const void*>(1), &gate);
}

TEST(StreamShape, BuffersWaitForAllThatRuns) {
  const ShapeChannel in;
  ShapeGate first, second;
  const auto wait = [&](int i) { return i == 1 ? first.wait() : second.wait(); };
  auto unordered = stream::buffer_unordered(stream::map(in.stream(), wait), 3);
  EXPECT_EQ(shape_when_it_waits(unordered), "buffered(channel, FuturesUnordered())");
  in.send(1);
  in.send(2);
  EXPECT_EQ(shape_when_it_waits(unordered), "buffered(channel, FuturesUnordered(Gate, Gate))");
  in.send(1);
  EXPECT_EQ(shape_of_waiting(stream::buffered(stream::map(in.stream(), wait), 3)),
            "buffered(channel, FuturesOrdered(FuturesUnordered(Gate)))");
  in.send(1);
  EXPECT_EQ(shape_of_waiting(stream::for_each_concurrent(in.stream(), 3, wait)),
            "buffered(channel, FuturesUnordered(Gate))");
}

TEST(StreamShape, OfTimers) {
  Runtime runtime = Runtime::builder().current_thread().start_paused().build();
  const auto here = runtime.enter();
  const ShapeChannel in;
  EXPECT_EQ(shape_of_waiting(stream::timeout(in.stream(), 1s)), "timeout(channel, sleep)");
  EXPECT_EQ(shape_of_waiting(stream::chunks_timeout(in.stream(), 2, 1s)),
            "chunks_timeout(channel, sleep)");
  auto throttle = stream::throttle(in.stream(), 1s);
  EXPECT_EQ(shape_when_it_waits(throttle), "throttle(channel)");
  in.send(1);
  EXPECT_EQ(shape_when_it_waits(throttle), "throttle(channel, sleep)");
}

TEST(StreamShape, IterWaitsForItsTurn) {
  const auto iter = stream::iter(std::vector{1, 2});
  EXPECT_EQ(ShapeText(iter).text(), "iter");
  EXPECT_EQ(ShapeText(iter).kind(0), sight::Wait::turn);
}

/// A sink that waits for a gate.
class ShapeSink {
 public:
  explicit ShapeSink(ShapeGate& gate) : wait_(gate.wait()) {}
  Poll<Result<void>> poll_ready(Context& cx) {
    return wait_.poll(cx).map([](int) { return Result<void>(); });
  }
  Result<void> start_send(int) { return {}; }
  Poll<Result<void>> poll_flush(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  Poll<Result<void>> poll_close(Context&) { return Poll<Result<void>>::ready(Result<void>()); }
  ROUSE_SHAPE(ShapeSink, nullptr, one, &ShapeSink::wait_)

 private:
  ShapeGate::Wait wait_;
};

TEST(StreamShape, SinksAreAskedToo) {
  const ShapeChannel in;
  ShapeGate gate;
  ShapeSink sink(gate);
  EXPECT_EQ(shape_of_waiting(stream::send(sink, 1)), "Gate");
  in.send(1);
  EXPECT_EQ(shape_of_waiting(stream::forward(in.stream(), sink)), "forward(channel, Gate)");
  in.send(1);
  EXPECT_EQ(shape_of_waiting(stream::forward(in.stream(), ShapeSink(gate))),
            "forward(channel, Gate)");
  EXPECT_EQ(ShapeText(stream::flush(sink)).text(), "Gate");
}

TEST(StreamShape, SomeAreOpaque) {
  const ShapeChannel in;
  stream::StreamMap<int, sync::Receiver<int>> map;
  map.insert(1, in.stream());
  EXPECT_EQ(shape_of_waiting(map.next()), "?");
  auto peekable = stream::peekable(in.stream());
  EXPECT_EQ(shape_of_waiting(peekable.peek()), "?");
  sync::PollSender sender(in.tx);
  EXPECT_EQ(ShapeText(sender).text(), "?");
}

}  // namespace
}  // namespace rouse::test
