// The code in docs/guide/07_sync.md about what few programs need.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/all.hpp"

namespace {

using namespace std::chrono_literals;

// [give_back]
rouse::Async<void> hand_over(rouse::sync::Sender<std::string> jobs, std::string job,
                             std::vector<std::string>& left) {
  auto sending = jobs.send(std::move(job));
  if (!co_await sending) left.push_back(std::move(sending.message()));  // nobody receives any more
}
// [/give_back]

// [try_recv]
/// Between frames of a game, say: takes what is there and never waits. False: no more will come.
bool handle_pending(rouse::sync::Receiver<int>& events, int& total) {
  while (auto event = events.try_recv()) total += *event;
  return !events.has_ended();  // empty for now, or for good?
}
// [/try_recv]

TEST(SyncGuide, WhatWasNotSentIsNotLost) {
  auto [tx, rx] = rouse::sync::channel<std::string>(1);
  rx.close();
  std::vector<std::string> left;
  rouse::block_on(hand_over(std::move(tx), "job", left));
  EXPECT_EQ(left, std::vector<std::string>{"job"});
}

TEST(SyncGuide, EmptyIsToldFromEnded) {
  auto [tx, rx] = rouse::sync::channel<int>(4);
  int total = 0;
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_TRUE(handle_pending(rx, total));
  EXPECT_TRUE(tx.try_send(2));
  {
    const auto gone = std::move(tx);
  }
  EXPECT_FALSE(handle_pending(rx, total));
  EXPECT_EQ(total, 3);
}

// [reserve_many]
rouse::Async<bool> send_record(rouse::sync::Sender<std::string> lines,
                               std::vector<std::string> all) {
  auto permit = co_await lines.reserve_many(all.size());  // nobody sends in between
  for (std::string& line : all) {
    if (!permit.send(std::move(line))) co_return false;  // nobody receives any more
  }
  co_return true;
}
// [/reserve_many]

// [send_timeout]
rouse::Async<bool> offer(rouse::sync::Sender<std::string> jobs, std::string& job) {
  auto sending = rouse::send_timeout(jobs, std::move(job), 200ms);
  const auto sent = co_await sending;
  if (!sent) job = std::move(sending.message());  // errc::timed_out or errc::broken_pipe
  co_return sent.has_value();
}
// [/send_timeout]

TEST(SyncGuide, RoomForManyAndATimeout) {
  auto rt = rouse::Runtime::builder().current_thread().start_paused().build();
  auto [tx, rx] = rouse::sync::channel<std::string>(2);
  EXPECT_TRUE(rt.block_on(send_record(tx, {"a", "b"})));
  std::string job = "c";
  EXPECT_FALSE(rt.block_on(offer(tx, job)));
  EXPECT_EQ(job, "c");
  EXPECT_EQ(rx.try_recv(), "a");
  EXPECT_TRUE(rt.block_on(offer(tx, job)));
  rx.close();
  EXPECT_FALSE(rt.block_on(send_record(tx, {"d"})));
}

// [map_guard]
struct Room {
  std::vector<std::string> names;
  int visits = 0;
};

/// Whoever calls it can change the names and nothing else. The room is locked as long.
rouse::Async<rouse::sync::MappedMutexGuard<Room, std::vector<std::string>>> names_of(
    rouse::sync::Mutex<Room>& room) {
  auto locked = co_await room.lock();
  locked->visits += 1;
  co_return map(std::move(locked), [](Room& all) -> auto& { return all.names; });
}
// [/map_guard]

// [set_once]
rouse::Async<std::size_t> port_length(rouse::sync::SetOnce<std::string>& port) {
  const std::string& text = co_await port.wait();  // any number may wait, before and after
  co_return text.size();
}

void listening(rouse::sync::SetOnce<std::string>& port, std::string at) {
  const bool first = port.set(std::move(at));  // wakes all; false: it was set before
  if (!first) std::fputs("listening twice\n", stderr);
}
// [/set_once]

TEST(SyncGuide, AGuardOfAPartAndAValueThatIsSetOnce) {
  rouse::sync::Mutex<Room> room;
  rouse::block_on(names_of(room))->push_back("ann");
  EXPECT_EQ(room.get_mut().names.size(), 1U);
  rouse::sync::SetOnce<std::string> port;
  listening(port, "8080");
  EXPECT_EQ(rouse::block_on(port_length(port)), 4U);
}

// [make_watch]
rouse::Async<int> adjust_levels() {
  auto [tx, rx] = rouse::sync::watch<int>(1);  // the first value, which rx has seen
  auto highest = rouse::spawn(
      [](auto level) -> rouse::Async<int> {
        int most = *level.borrow();
        while (co_await level.changed()) most = std::max(most, *level.borrow());
        co_return most;
      },
      rx);                           // a copy: both may watch
  const auto late = tx.subscribe();  // one more receiver, at any time
  (void)tx.send(5);                  // replaces the value; does not wait
  co_await rouse::yield_now();
  tx.send_modify([](int& level) { level -= 3; });               // changes it
  tx.send_if_modified([](int& level) { return level > 100; });  // nobody is woken
  {
    const auto last_sender = std::move(tx);
  }  // the watch ends: `changed` fails
  co_return co_await highest;
}
// [/make_watch]

// [make_broadcast]
rouse::Async<std::size_t> greet_all() {
  auto [tx, rx] = rouse::sync::broadcast<std::string>(16);  // keeps the last 16 values
  auto late = tx.subscribe();                               // receives what is sent from here on
  auto twin = rx;                                           // receives what `rx` would
  const auto reached = tx.send("hello");                    // how many receivers will get it
  if (!reached) co_return 0;  // there is none, and the value was not sent
  const auto text = co_await twin.recv();
  const auto same = late.try_recv();  // does not wait
  co_return *text == *same ? *reached : 0;
}
// [/make_broadcast]

TEST(SyncGuide, AWatchAndABroadcastAreMade) {
  rouse::LocalExecutor executor;
  EXPECT_EQ(executor.run_until(adjust_levels()), 5);
  EXPECT_EQ(executor.run_until(greet_all()), 3U);
}

}  // namespace
