// Every allocation fails once: for each operation the first, the second, the third ... of those it
// makes, until it makes no more. What comes out is success or not_enough_memory; nothing is left,
// and the same runtime goes on.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/fs/file.hpp"
#include "rouse/fs/operations.hpp"
#include "rouse/fs/read_dir.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/net/lookup_host.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/process/command.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/thread/thread.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "faulty/allocations.hpp"
#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

using std::chrono::milliseconds;
using Scenario = std::function<void(Runtime&)>;

/// True: an allocation has failed.
bool try_allocation(Runtime& rt, const Scenario& scenario, long number, const std::string& label) {
  const ::testing::ScopedTrace trace(__FILE__, __LINE__, label);
  const Watchdog watchdog(label);
  const auto before = open_descriptors();
  bool has_failed = false;
  std::error_code code;
  {
    const FailingAllocation failing(number);
    code = outcome_of([&] { scenario(rt); });
    has_failed = failing.has_failed();
  }
  EXPECT_TRUE(!code || (has_failed && code == std::errc::not_enough_memory)) << code.message();
  EXPECT_TRUE(children_are_gone(rt));
  rt.block_on(echo());
  EXPECT_THAT(left_open(before), ::testing::IsEmpty());
  return has_failed;
}

void try_all(const std::string& name, const Scenario& scenario) {
  if (!can_fail_allocations) GTEST_SKIP() << "operator new can't be replaced here";
  constexpr long most = 2000;
  for (const On kind : {On::current_thread, On::two_workers}) {
    Runtime rt = make_runtime(kind);
    rt.block_on(echo());
    const std::string on = kind == On::current_thread ? " on one thread" : " on two workers";
    long number = 0;
    while (number < most && !::testing::Test::HasFailure() &&
           try_allocation(rt, scenario, number,
                          "allocation " + std::to_string(number + 1) + " of '" + name + "'" + on)) {
      ++number;
    }
    EXPECT_LT(number, most) << name << ": does it never end?";
    add_row("operator new", "bad_alloc", name, number, "reported, or done without");
    if (::testing::Test::HasFailure()) return;
  }
}
void try_all(const std::string& name, Async<void> (*scenario)()) {
  try_all(name, [scenario](Runtime& rt) { rt.block_on(scenario()); });
}

Async<int> give(int value) {
  co_await yield_now();
  co_return value;
}

TEST(FaultyAllocation, ARuntimeIsBuilt) {
  try_all("build a Runtime of one thread",
          [](Runtime&) { make_runtime(On::current_thread).block_on(exchange()); });
  try_all("build a Runtime of two workers",
          [](Runtime&) { make_runtime(On::two_workers).block_on(exchange()); });
}

Async<void> spawn_and_join() {
  auto one = spawn(give, 1);
  auto other = spawn(give, 2);
  EXPECT_EQ(co_await std::move(one), 1);
  EXPECT_EQ(co_await std::move(other), 2);
}
TEST(FaultyAllocation, ATaskIsSpawnedAndJoined) { try_all("spawn and join", spawn_and_join); }

/// More than a queue, a table or a list has room for at the start.
Async<void> spawn_many() {
  JoinSet<int> set;
  for (int i = 0; i < 600; ++i) set.spawn(give, i);
  int count = 0;
  for (;;) {
    const auto joined = co_await set.join_next();
    if (!joined) break;
    ++count;
  }
  EXPECT_EQ(count, 600);
}
TEST(FaultyAllocation, ManyTasksAreSpawnedAndJoined) { try_all("spawn many", spawn_many); }

TEST(FaultyAllocation, TasksAreSpawnedAndJoinedFromOutside) {
  try_all("spawn from outside", [](Runtime& rt) {
    auto one = rt.spawn(give(1));
    auto other = rt.spawn(give(2));
    EXPECT_EQ(rt.block_on(std::move(one)) + rt.block_on(std::move(other)), 3);
  });
}

Async<void> use_channels() {
  auto [sender, receiver] = sync::channel<std::string>(4);
  auto task = [](sync::Sender<std::string> to) -> Async<void> {
    for (int i = 0; i < 20; ++i) {
      const auto sent = co_await to.send("a text that is longer than a short one is");
      EXPECT_TRUE(sent);
    }
  };
  auto sending = spawn(task, std::move(sender));
  int count = 0;
  for (;;) {
    const auto received = co_await receiver.recv();
    if (!received) break;
    ++count;
  }
  co_await std::move(sending);
  EXPECT_EQ(count, 20);
}
TEST(FaultyAllocation, AChannelIsUsed) { try_all("a channel", use_channels); }

Async<void> use_oneshot() {
  auto [sender, receiver] = sync::oneshot<int>();
  EXPECT_TRUE(sender.send(7));
  EXPECT_EQ(co_await std::move(receiver), 7);
}
TEST(FaultyAllocation, AOneshotIsUsed) { try_all("a oneshot", use_oneshot); }

Async<void> use_timers() {
  co_await sleep(milliseconds(1));
  co_await timeout(std::chrono::hours(1), sleep(milliseconds(1)));
}
TEST(FaultyAllocation, TimersAreUsed) { try_all("timers", use_timers); }

TEST(FaultyAllocation, ASocketIsUsed) { try_all("an exchange", exchange); }

Async<void> use_datagrams() {
  auto one = co_await net::UdpSocket::bind("127.0.0.1:0");
  net::DatagramBatch batch(4, 64);
  EXPECT_TRUE(batch.push("hello", one.local_addr()));
  co_await one.send_many(batch);
  EXPECT_EQ(co_await one.recv_many(batch), 1U);
}
TEST(FaultyAllocation, DatagramsAreUsed) { try_all("datagrams", use_datagrams); }

Async<void> look_up() { EXPECT_FALSE((co_await net::lookup_host("localhost:80")).empty()); }
TEST(FaultyAllocation, AHostIsLookedUp) { try_all("look up", look_up); }

Async<void> use_files() {
  const std::string path = "/tmp/rouse-faulty-file-" + std::to_string(::getpid());
  co_await fs::write(path, "some text");
  auto file = co_await fs::File::open(path);
  std::array<char, 9> buf;
  co_await file.read_exact(buf);
  co_await fs::remove_file(path);
}
TEST(FaultyAllocation, FilesAreUsed) { try_all("files", use_files); }

Async<void> list_a_folder() {
  auto entries = co_await fs::read_dir("/proc/self/task");
  for (;;) {
    const auto entry = co_await entries.next_entry();
    if (!entry) break;
  }
}
TEST(FaultyAllocation, AFolderIsRead) { try_all("read_dir", list_a_folder); }

Async<void> block() {
  EXPECT_EQ(co_await spawn_blocking([] { return 7; }), 7);
}
TEST(FaultyAllocation, ABlockingCallIsMade) {
  try_all("spawn_blocking", block);
  try_all("the first spawn_blocking",
          [](Runtime&) { make_runtime(On::current_thread).block_on(block()); });
}

TEST(FaultyAllocation, ATaskBlocks) {
  try_all("block_in_place", [](Runtime&) {
    make_runtime(On::two_workers).block_on([]() -> Async<void> {
      block_in_place([] {});
      co_await yield_now();
    }());
  });
}

Async<void> start_a_thread() {
  EXPECT_EQ(co_await thread::spawn([] { return 7; }).join(), 7);
}
TEST(FaultyAllocation, AThreadIsStarted) { try_all("thread::spawn", start_a_thread); }

Async<void> run_a_program() {
  const process::Output output = co_await process::Command("/bin/echo").arg("hello").output();
  EXPECT_EQ(output.stdout_, "hello\n");
}
/// Nobody waits for it: the runtime does.
Async<void> leave_a_program() {
  const process::Child child = process::Command("/bin/true").spawn();
  co_return;
}
TEST(FaultyAllocation, AProgramIsRun) {
  try_all("run a program", run_a_program);
  try_all("leave a program alone", leave_a_program);
}

}  // namespace
}  // namespace rouse::faulty
