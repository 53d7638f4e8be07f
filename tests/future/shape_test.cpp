// What the futures of future/ and core/ say that they wait for: base/shape.hpp.
#include "rouse/base/shape.hpp"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/core/async_stream.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/future/abortable.hpp"
#include "rouse/future/and_then.hpp"
#include "rouse/future/by_ref.hpp"
#include "rouse/future/futures_ordered.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/map.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/race.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/select_all.hpp"
#include "rouse/future/select_ok.hpp"
#include "rouse/future/shared.hpp"
#include "rouse/future/try_join.hpp"
#include "rouse/future/unconstrained.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"

#include "support/shape_text.hpp"

namespace rouse::test {
namespace {

using ShapeGate = testing::Gate<int>;
using ShapeGateWait = ShapeGate::Wait;

/// Of a future that is polled once, and has to wait.
template <class F>
std::string shape_after_poll(F& future) {
  Context cx(Waker::noop());
  EXPECT_TRUE(future.poll(cx).is_pending());
  return ShapeText(future).text();
}
template <class F>
std::string shape_of_polled(F future) {
  return shape_after_poll(future);
}

std::vector<ShapeGateWait> shape_waits(ShapeGate& first, ShapeGate& second) {
  std::vector<ShapeGateWait> waits;
  waits.push_back(first.wait());
  waits.push_back(second.wait());
  return waits;
}

TEST(FutureShape, ALeafNamesWhatItWaitsFor) {
  ShapeGate gate;
  auto wait = gate.wait();
  EXPECT_EQ(shape_after_poll(wait), "Gate");
  const ShapeText shape(wait);
  ASSERT_EQ(shape.leaves(), 1U);
  EXPECT_EQ(shape.kind(0), sight::Wait::notify);
  EXPECT_EQ(shape.field<const void*>(0), &gate);
}

TEST(FutureShape, ALeafThatWaitsForNothing) {
  auto yield = yield_now();
  EXPECT_EQ(shape_after_poll(yield), "yield_now");
  EXPECT_EQ(ShapeText(yield).kind(0), sight::Wait::turn);
  auto never = pending_forever();
  EXPECT_EQ(shape_after_poll(never), "pending_forever");
  EXPECT_EQ(ShapeText(never).kind(0), sight::Wait::never);
}

TEST(FutureShape, JoinWaitsForThoseThatAreNotDone) {
  ShapeGate first, second;
  auto both = join(first.wait(), second.wait());
  EXPECT_EQ(shape_after_poll(both), "join(Gate, Gate)");
  EXPECT_EQ(ShapeText(both).field<const void*>(0), &first);
  EXPECT_EQ(ShapeText(both).field<const void*>(1), &second);
  first.open(1);
  EXPECT_EQ(shape_after_poll(both), "join(Gate)");
  EXPECT_EQ(ShapeText(both).field<const void*>(0), &second);
}

TEST(FutureShape, TryJoin) {
  ShapeGate first, second;
  auto both = try_join(first.wait(), second.wait());
  EXPECT_EQ(shape_after_poll(both), "try_join(Gate, Gate)");
  second.open(1);
  EXPECT_EQ(shape_after_poll(both), "try_join(Gate)");
  EXPECT_EQ(ShapeText(both).field<const void*>(0), &first);
}

TEST(FutureShape, JoinAll) {
  ShapeGate first, second;
  auto all = join_all(shape_waits(first, second));
  EXPECT_EQ(shape_after_poll(all), "join_all(Gate, Gate)");
  EXPECT_EQ(ShapeText(all).field<const void*>(1), &second);
  first.open(1);
  EXPECT_EQ(shape_after_poll(all), "join_all(Gate)");
  EXPECT_EQ(ShapeText(all).field<const void*>(0), &second);
}

TEST(FutureShape, SelectAndRaceWaitForOneOfTheirs) {
  ShapeGate first, second;
  EXPECT_EQ(shape_of_polled(select(first.wait(), second.wait())), "select(Gate, Gate)");
  EXPECT_EQ(shape_of_polled(select_biased(first.wait(), yield_now())), "select(Gate, yield_now)");
  EXPECT_EQ(shape_of_polled(race(first.wait(), second.wait())), "race(Gate, Gate)");
  const auto ignore = [](int) {};
  EXPECT_EQ(shape_of_polled(select(on(first.wait(), ignore), on(second.wait(), ignore))),
            "select(Gate, Gate)");
}

TEST(FutureShape, SelectThatHasEndedShowsNothing) {
  ShapeGate gate;
  auto one = select(gate.wait(), pending_forever<>());
  gate.open(1);
  Context cx(Waker::noop());
  EXPECT_TRUE(one.poll(cx).is_ready());
  EXPECT_EQ(ShapeText(one).text(), "select()");
}

TEST(FutureShape, SelectOfARange) {
  ShapeGate first, second;
  EXPECT_EQ(shape_of_polled(select_all(shape_waits(first, second))),
            "select_all(FuturesUnordered(Gate, Gate))");
  EXPECT_EQ(shape_of_polled(select_ok(shape_waits(first, second))),
            "select_ok(FuturesUnordered(Gate, Gate))");
}

TEST(FutureShape, AQueueOfFuturesWaitsForAllThatAreInIt) {
  ShapeGate first, second;
  FuturesUnordered<ShapeGateWait> unordered;
  FuturesOrdered<ShapeGateWait> ordered;
  for (ShapeGate* gate : {&first, &second}) {
    unordered.push(gate->wait());
    ordered.push_back(gate->wait());
  }
  auto next = unordered.next();
  EXPECT_EQ(shape_after_poll(next), "FuturesUnordered(Gate, Gate)");
  EXPECT_EQ(ShapeText(next).field<const void*>(0), &second) << "the latest first";
  EXPECT_EQ(ShapeText(next).field<const void*>(1), &first);
  EXPECT_EQ(shape_of_polled(ordered.next()), "FuturesOrdered(FuturesUnordered(Gate, Gate))");
  unordered.clear();
  EXPECT_EQ(ShapeText(next).text(), "FuturesUnordered()");
}

TEST(FutureShape, OneThatOnlyPassesOnIsNotNamed) {
  ShapeGate gate;
  EXPECT_EQ(shape_of_polled(map(gate.wait(), [](int x) { return x; })), "Gate");
  EXPECT_EQ(shape_of_polled(unconstrained(gate.wait())), "Gate");
  EXPECT_EQ(shape_of_polled(abortable(gate.wait()).first), "Gate");
  EXPECT_EQ(shape_of_polled(abortable(gate.wait()).first.result()), "Gate");
  EXPECT_EQ(shape_of_polled(borrowed(gate.wait())), "Gate");
  auto wait = gate.wait();
  auto ref = by_ref(wait);
  EXPECT_EQ(shape_after_poll(ref), "Gate");
  EXPECT_EQ(ShapeText(ref).field<const void*>(0), &gate);
}

TEST(FutureShape, WhatIsSharedIsNotLookedInto) {
  ShapeGate gate;
  auto first = shared(gate.wait());
  auto second = first;
  EXPECT_EQ(shape_after_poll(first), "shared");
  EXPECT_EQ(ShapeText(first).kind(0), sight::Wait::notify);
  EXPECT_NE(ShapeText(first).field<const void*>(0), nullptr);
  EXPECT_EQ(ShapeText(first).field<const void*>(0), ShapeText(second).field<const void*>(0));
}

TEST(FutureShape, AndThenIsOpaque) {
  ShapeGate gate;
  EXPECT_EQ(shape_of_polled(and_then(gate.wait(), [](int) { return yield_now(); })), "?");
}

TEST(FutureShape, TheyNest) {
  ShapeGate gate;
  auto wait = gate.wait();
  EXPECT_EQ(shape_of_polled(select(join(gate.wait(), yield_now()), by_ref(wait))),
            "select(join(Gate, yield_now), Gate)");
  EXPECT_EQ(shape_of_polled(AnyFuture<int>(race(gate.wait(), gate.wait()))), "race(Gate, Gate)");
}

Async<> shape_waits_in_a_join(ShapeGate& gate) { co_await join(gate.wait(), yield_now()); }
Async<> shape_calls(ShapeGate& gate) { co_await shape_waits_in_a_join(gate); }
AsyncResult<int> shape_result(ShapeGate& gate) { co_return co_await gate.wait(); }
AsyncStream<int> shape_stream(ShapeGate& gate) {
  co_yield 1;
  co_yield co_await gate.wait();
}

TEST(FutureShape, CoroutinesAreCounted) {
  ShapeGate gate;
  EXPECT_EQ(shape_of_polled(shape_calls(gate)), "join(Gate, yield_now) @2");
  EXPECT_EQ(shape_of_polled(join(shape_calls(gate), gate.wait())),
            "join(join(Gate, yield_now) @2, Gate)");
  EXPECT_EQ(shape_of_polled(shape_result(gate)), "Gate @1");
  EXPECT_EQ(shape_of_polled(shape_result(gate).result()), "Gate @1");
}

TEST(FutureShape, AnAsyncStreamIsACoroutine) {
  ShapeGate gate;
  auto stream = shape_stream(gate);
  Context cx(Waker::noop());
  EXPECT_TRUE(stream.poll_next(cx).is_ready());
  EXPECT_EQ(ShapeText(stream).text(), " @1") << "at its co_yield it waits for nothing";
  auto next = stream.next();
  EXPECT_EQ(shape_after_poll(next), "Gate @1");
  EXPECT_EQ(ShapeText(next).field<const void*>(0), &gate);
}

}  // namespace
}  // namespace rouse::test
