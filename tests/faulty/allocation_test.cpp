// Every allocation of runtimes, tasks, threads, sockets, files and processes fails once: see
// allocations.hpp.
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/local_set.hpp"
#include "rouse/exec/spawn_local.hpp"
#include "rouse/exec/thread_pool.hpp"
#include "rouse/fs/file.hpp"
#include "rouse/fs/operations.hpp"
#include "rouse/fs/read_dir.hpp"
#include "rouse/future/try_join.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/split.hpp"
#include "rouse/net/lookup_host.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/net/udp_socket.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/process/command.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/signal/signal.hpp"
#include "rouse/thread/thread.hpp"
#include "rouse/time/sleep.hpp"

#include "faulty/allocations.hpp"
#include "faulty/harness.hpp"

namespace rouse::faulty {

using namespace internal;
namespace {

Async<int> give(int value) {
  co_await yield_now();
  co_return value;
}

TEST(FaultyAllocation, ARuntimeIsBuilt) {
  try_each_allocation("build a Runtime of one thread",
                      [](Runtime&) { make_runtime(On::current_thread).block_on(exchange()); });
  try_each_allocation("build a Runtime of two workers",
                      [](Runtime&) { make_runtime(On::two_workers).block_on(exchange()); });
  try_each_allocation("build a Runtime of one worker a CPU",
                      [](Runtime&) { Runtime().block_on(exchange()); });
}

Async<void> spawn_and_join() {
  auto one = spawn(give, 1);
  auto other = spawn(give, 2);
  EXPECT_EQ(co_await std::move(one), 1);
  EXPECT_EQ(co_await std::move(other), 2);
}
TEST(FaultyAllocation, ATaskIsSpawnedAndJoined) {
  try_each_allocation("spawn and join", spawn_and_join);
}

/// More than a queue, a table or a list has room for at the start.
Async<void> spawn_many() {
  constexpr int many = 300;
  JoinSet<int> set;
  for (int i = 0; i < many; ++i) set.spawn(give, i);
  int count = 0;
  for (;;) {
    const auto joined = co_await set.join_next();
    if (!joined) break;
    ++count;
  }
  EXPECT_EQ(count, many);
}
TEST(FaultyAllocation, ManyTasksAreSpawnedAndJoined) {
  try_each_allocation("spawn many", spawn_many);
}

TEST(FaultyAllocation, TasksAreSpawnedAndJoinedFromOutside) {
  try_each_allocation("spawn from outside", [](Runtime& rt) {
    auto one = rt.spawn(give(1));
    auto other = rt.spawn(give(2));
    EXPECT_EQ(rt.block_on(std::move(one)) + rt.block_on(std::move(other)), 3);
  });
}

TEST(FaultyAllocation, ALocalExecutorIsUsed) {
  try_each_allocation("a LocalExecutor", [](Runtime&) {
    LocalExecutor executor;
    executor.run_until(spawn_and_join());
  });
  try_each_allocation("a LocalSet", [](Runtime& rt) {
    LocalSet set;
    set.block_on(rt, []() -> Async<void> {
      auto one = spawn_local(give, 1);
      auto other = spawn_local(give, 2);
      EXPECT_EQ(co_await std::move(one), 1);
      EXPECT_EQ(co_await std::move(other), 2);
    }());
  });
}

TEST(FaultyAllocation, AThreadPoolIsUsed) {
  try_each_allocation("a ThreadPool", [](Runtime&) {
    ThreadPool pool;
    auto joined = pool.spawn(spawn_and_join());
    block_on(std::move(joined));
  });
}

TEST(FaultyAllocation, ATaskIsAborted) {
  try_each_allocation("abort a task", [](Runtime& rt) {
    auto task = rt.spawn(sleep(std::chrono::hours(1)));
    task.abort();
    bool is_cancelled = false;
    try {
      rt.block_on(std::move(task));
    } catch (const JoinError& error) {
      is_cancelled = error.is_cancelled();
    }
    EXPECT_TRUE(is_cancelled);
  });
}

Async<void> serve(net::TcpListener& listener) {
  auto accepted = co_await listener.accept();
  std::array<char, 16> buf;
  for (;;) {
    const std::size_t size = co_await accepted.stream.read(buf);
    if (size == 0) break;
    co_await accepted.stream.write_all(std::string_view(buf.data(), size));
  }
}
Async<void> talk(net::SocketAddr to) {
  auto stream = co_await net::TcpStream::connect(to);
  auto [reader, writer] = io::split(std::move(stream));
  co_await writer.write_all("hello\n");
  co_await writer.shutdown();
  EXPECT_EQ(co_await reader.read_to_string(), "hello\n");
}
/// Who finds no memory first ends the other, too.
Async<void> echo_over_tcp() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  const net::SocketAddr at = listener.local_addr();
  co_await try_join(serve(listener), talk(at));
}
Async<void> exchange_over_unix() {
  auto listener = co_await net::UnixListener::bind("@rouse-faulty-" + std::to_string(::getpid()));
  auto client = co_await net::UnixStream::connect(listener.local_addr());
  auto accepted = co_await listener.accept();
  co_await client.write_all("there");
  std::array<char, 5> buf;
  co_await accepted.stream.read_exact(buf);
}
TEST(FaultyAllocation, ASocketIsUsed) {
  try_each_allocation("an exchange", exchange);
  try_each_allocation("echo over TCP", echo_over_tcp);
  try_each_allocation("an exchange over a Unix socket", exchange_over_unix);
}

Async<void> use_datagrams() {
  auto one = co_await net::UdpSocket::bind("127.0.0.1:0");
  net::DatagramBatch batch(4, 64);
  EXPECT_TRUE(batch.push("hello", one.local_addr()));
  co_await one.send_many(batch);
  EXPECT_EQ(co_await one.recv_many(batch), 1U);
}
TEST(FaultyAllocation, DatagramsAreUsed) { try_each_allocation("datagrams", use_datagrams); }

Async<void> look_a_host_up() { EXPECT_FALSE((co_await net::lookup_host("localhost:80")).empty()); }
TEST(FaultyAllocation, AHostIsLookedUp) { try_each_allocation("look up", look_a_host_up); }

Async<void> use_files() {
  const std::string path = "/tmp/rouse-faulty-file-" + std::to_string(::getpid());
  co_await fs::write(path, "some text");
  auto file = co_await fs::OpenOptions().read(true).write(true).open(path);
  std::array<char, 9> buf;
  co_await file.read_exact(buf);
  co_await file.write_all("more");
  co_await file.flush();
  EXPECT_EQ((co_await file.metadata()).len(), 13U);
  EXPECT_EQ(co_await fs::read_to_string(path), "some textmore");
  co_await fs::remove_file(path);
}
Async<void> use_folders() {
  const std::string path = "/tmp/rouse-faulty-tree-" + std::to_string(::getpid());
  co_await fs::create_dir_all(path + "/a/b/c");
  co_await fs::write(path + "/a/b/file", "some text");
  co_await fs::symlink("file", path + "/a/b/link");
  EXPECT_EQ(co_await fs::read_link(path + "/a/b/link"), "file");
  EXPECT_TRUE((co_await fs::canonicalize(path + "/a/b/link")).ends_with("/a/b/file"));
  co_await fs::remove_dir_all(path);
}
void remove_what_is_left() {
  std::error_code ignored;
  std::filesystem::remove_all("/tmp/rouse-faulty-tree-" + std::to_string(::getpid()), ignored);
}
TEST(FaultyAllocation, FilesAreUsed) {
  try_each_allocation("files", use_files);
  try_each_allocation("folders", [](Runtime& rt) {
    remove_what_is_left();
    rt.block_on(use_folders());
  });
  remove_what_is_left();
}

Async<void> read_a_folder() {
  auto entries = co_await fs::read_dir("/proc/self/task");
  for (;;) {
    const auto entry = co_await entries.next_entry();
    if (!entry) break;
  }
}
TEST(FaultyAllocation, AFolderIsRead) { try_each_allocation("read_dir", read_a_folder); }

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

Async<void> spawn_a_thread() {
  EXPECT_EQ(co_await thread::spawn([] { return 7; }).join(), 7);
}
TEST(FaultyAllocation, AThreadIsStarted) { try_each_allocation("thread::spawn", spawn_a_thread); }

Async<void> run_a_program() {
  const process::Output output = co_await process::Command("/bin/echo").arg("hello").output();
  EXPECT_EQ(output.stdout_, "hello\n");
}
/// Nobody waits for it: the runtime does.
Async<void> leave_a_program() {
  const process::Child child = process::Command("/bin/true").spawn();
  co_return;
}
Async<void> receive_a_signal() {
  signal::Signal signal{signal::Kind(SIGUSR1)};
  ::raise(SIGUSR1);
  co_await signal.recv();
}
TEST(FaultyAllocation, ASignalIsReceived) {
  make_runtime(On::current_thread).block_on(receive_a_signal());  // makes what stays
  try_each_allocation("a Signal", receive_a_signal);
}

TEST(FaultyAllocation, AProgramIsRun) {
  try_each_allocation("run a program", run_a_program);
  try_each_allocation("leave a program alone", leave_a_program);
}

}  // namespace
}  // namespace rouse::faulty
