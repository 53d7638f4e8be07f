// Every allocation of runtimes, tasks, threads, sockets, files and processes fails once: see
// allocations.hpp.
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

Async<int> give(int value) {
  co_await yield_now();
  co_return value;
}

TEST(FaultyAllocation, ARuntimeIsBuilt) {
  try_each_allocation("build a Runtime of one thread",
          [](Runtime&) { make_runtime(On::current_thread).block_on(exchange()); });
  try_each_allocation("build a Runtime of two workers",
          [](Runtime&) { make_runtime(On::two_workers).block_on(exchange()); });
}

Async<void> spawn_and_join() {
  auto one = spawn(give, 1);
  auto other = spawn(give, 2);
  EXPECT_EQ(co_await std::move(one), 1);
  EXPECT_EQ(co_await std::move(other), 2);
}
TEST(FaultyAllocation, ATaskIsSpawnedAndJoined) { try_each_allocation("spawn and join", spawn_and_join); }

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
TEST(FaultyAllocation, ManyTasksAreSpawnedAndJoined) { try_each_allocation("spawn many", spawn_many); }

TEST(FaultyAllocation, TasksAreSpawnedAndJoinedFromOutside) {
  try_each_allocation("spawn from outside", [](Runtime& rt) {
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
TEST(FaultyAllocation, AChannelIsUsed) { try_each_allocation("a channel", use_channels); }

Async<void> use_oneshot() {
  auto [sender, receiver] = sync::oneshot<int>();
  EXPECT_TRUE(sender.send(7));
  EXPECT_EQ(co_await std::move(receiver), 7);
}
TEST(FaultyAllocation, AOneshotIsUsed) { try_each_allocation("a oneshot", use_oneshot); }

Async<void> use_timers() {
  co_await sleep(milliseconds(1));
  co_await timeout(std::chrono::hours(1), sleep(milliseconds(1)));
}
TEST(FaultyAllocation, TimersAreUsed) { try_each_allocation("timers", use_timers); }

TEST(FaultyAllocation, ASocketIsUsed) { try_each_allocation("an exchange", exchange); }

Async<void> use_datagrams() {
  auto one = co_await net::UdpSocket::bind("127.0.0.1:0");
  net::DatagramBatch batch(4, 64);
  EXPECT_TRUE(batch.push("hello", one.local_addr()));
  co_await one.send_many(batch);
  EXPECT_EQ(co_await one.recv_many(batch), 1U);
}
TEST(FaultyAllocation, DatagramsAreUsed) { try_each_allocation("datagrams", use_datagrams); }

Async<void> look_up() { EXPECT_FALSE((co_await net::lookup_host("localhost:80")).empty()); }
TEST(FaultyAllocation, AHostIsLookedUp) { try_each_allocation("look up", look_up); }

Async<void> use_files() {
  const std::string path = "/tmp/rouse-faulty-file-" + std::to_string(::getpid());
  co_await fs::write(path, "some text");
  auto file = co_await fs::File::open(path);
  std::array<char, 9> buf;
  co_await file.read_exact(buf);
  co_await fs::remove_file(path);
}
TEST(FaultyAllocation, FilesAreUsed) { try_each_allocation("files", use_files); }

Async<void> list_a_folder() {
  auto entries = co_await fs::read_dir("/proc/self/task");
  for (;;) {
    const auto entry = co_await entries.next_entry();
    if (!entry) break;
  }
}
TEST(FaultyAllocation, AFolderIsRead) { try_each_allocation("read_dir", list_a_folder); }

Async<void> block() {
  EXPECT_EQ(co_await spawn_blocking([] { return 7; }), 7);
}
TEST(FaultyAllocation, ABlockingCallIsMade) {
  try_each_allocation("spawn_blocking", block);
  try_each_allocation("the first spawn_blocking",
          [](Runtime&) { make_runtime(On::current_thread).block_on(block()); });
}

TEST(FaultyAllocation, ATaskBlocks) {
  try_each_allocation("block_in_place", [](Runtime&) {
    make_runtime(On::two_workers).block_on([]() -> Async<void> {
      block_in_place([] {});
      co_await yield_now();
    }());
  });
}

Async<void> start_a_thread() {
  EXPECT_EQ(co_await thread::spawn([] { return 7; }).join(), 7);
}
TEST(FaultyAllocation, AThreadIsStarted) { try_each_allocation("thread::spawn", start_a_thread); }

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
  try_each_allocation("run a program", run_a_program);
  try_each_allocation("leave a program alone", leave_a_program);
}

}  // namespace
}  // namespace rouse::faulty
