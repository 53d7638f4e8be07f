// The trace of a program: what its threads and tasks did is in there, and it is what Perfetto
// reads.
#include "rouse/sight/trace.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/base/assert.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/time/sleep.hpp"

#include "sight/trace.hpp"
#include "sight/traced.hpp"

namespace rouse::sight {
namespace {

using namespace std::chrono_literals;
using rouse::test::Json;
using rouse::test::Traced;
using ::testing::HasSubstr;

Sight record(std::size_t bytes = std::size_t{1} << 20) { return start(Options().record(bytes)); }
Runtime runtime_of(std::size_t workers) {
  return Runtime::builder().worker_threads(workers).build();
}

Async<void> wait_for(sync::Notify& notify) {
  co_await notify.notified();  // waits here
}
Async<void> ring(sync::Notify& notify) {
  notify.notify_one();
  co_return;
}

TEST(Trace, SaysWhereAPollStoppedAndWhoWokeTheTask) {
  const Sight recording = record();
  Runtime rt = runtime_of(1);
  sync::Notify notify;
  auto waits = task::Builder().name("listener").spawn_on(rt.spawner(), wait_for, std::ref(notify));
  const TaskId waiter = waits.id();
  auto rings = rt.spawn(ring, std::ref(notify));  // polled after the other
  const TaskId ringer = rings.id();
  rt.block_on(std::move(rings));
  rt.block_on(std::move(waits));

  const Traced traced = Traced::now();
  const std::vector<Json> polls = Traced::of_task(traced.all("B"), waiter);
  ASSERT_EQ(polls.size(), 2U);
  EXPECT_EQ(polls[0]["name"].string(), "listener");
  EXPECT_EQ(polls[0]["args"]["rouse.task.name"].string(), "listener");
  const std::vector<Json> ends = traced.ends_of(polls);
  EXPECT_EQ(ends[0]["args"]["then"].string(), "waits");
  EXPECT_THAT(ends[0]["args"]["code.file.path"].string(), HasSubstr("trace_test.cpp"));
  EXPECT_THAT(ends[0]["args"]["code.function.name"].string(), HasSubstr("wait_for"));
  EXPECT_THAT(rouse::test::line_of(ends[0]["args"]), HasSubstr("// waits here"));
  EXPECT_EQ(ends[1]["args"]["then"].string(), "ended");

  const std::vector<Json> wakes = Traced::of_task(traced.all("i", "wake"), waiter);
  ASSERT_EQ(wakes.size(), 1U);
  EXPECT_EQ(wakes[0]["args"]["by task"].number(), ringer);
  const std::vector<Json> by = Traced::of_task(traced.all("B"), ringer);
  ASSERT_EQ(by.size(), 1U);
  EXPECT_THAT(by[0]["name"].string(), HasSubstr("task"));
  EXPECT_LE(Traced::time_of(by[0]), Traced::time_of(wakes[0]));
  EXPECT_LE(Traced::time_of(wakes[0]), Traced::time_of(polls[1]));
  EXPECT_EQ(Traced::of_task(traced.all("i", "spawn"), waiter).size(), 1U);
}

Async<void> yield_once() { co_await yield_now(); }

TEST(Trace, NamesTheSlicesOfATaskAfterItsCoroutine) {
  const Sight recording = record();
  Runtime rt = runtime_of(1);
  auto task = rt.spawn(yield_once);
  const TaskId id = task.id();
  rt.block_on(std::move(task));
  const std::vector<Json> polls = Traced::of_task(Traced::now().all("B"), id);
  ASSERT_EQ(polls.size(), 2U);
  // Also the first one, before which the coroutine was not there.
  EXPECT_THAT(polls[0]["name"].string(), HasSubstr("yield_once"));
  EXPECT_EQ(polls[0]["name"].string(), polls[1]["name"].string());
}

/// Goes on once the child has begun: on another worker, since this one is busy.
Async<void> have_it_stolen() {
  std::atomic<bool> has_begun{false};
  auto child = spawn(
      [](std::atomic<bool>* begun) -> Async<void> {
        begun->store(true);
        co_return;
      },
      &has_begun);
  while (!has_begun.load()) std::this_thread::yield();
  co_await std::move(child);
}
Async<void> talk() {
  net::TcpListener listener = co_await net::TcpListener::bind("127.0.0.1:0");
  auto client = spawn(
      [](net::SocketAddr to) -> Async<void> {
        net::TcpStream stream = co_await net::TcpStream::connect(to);
        std::byte bytes[1];
        (void)co_await stream.read(bytes);
      },
      listener.local_addr());
  auto accepted = co_await listener.accept();
  co_await sleep(2ms);
  {
    const net::TcpStream closed = std::move(accepted.stream);
  }
  co_await std::move(client);
}
using Guarded = sync::Mutex<int>;
Async<void> lock(Guarded& mutex) { const auto guard = co_await mutex.lock(); }
Async<void> unlock(decltype(std::declval<Guarded&>().try_lock()) guard) {
  guard.reset();
  co_return;
}
Async<void> wait_for_a_lock() {
  Guarded mutex(0);
  co_await join(lock(mutex), unlock(mutex.try_lock()));  // the first waits
}

TEST(Trace, OfAProgramHasAllThatItDid) {
  const Sight recording = record();
  Runtime rt = runtime_of(2);
  rt.block_on(rt.spawn(have_it_stolen));
  rt.block_on(rt.spawn(talk));
  rt.block_on(rt.spawn(wait_for_a_lock));
  rt.block_on([]() -> Async<void> { co_await spawn_blocking([] {}); }());
  const Traced traced = Traced::now();
  EXPECT_FALSE(traced.all("i", "steal").empty());
  EXPECT_FALSE(traced.all("i", "timers").empty());
  EXPECT_FALSE(traced.all("i", "descriptor ready").empty());
  EXPECT_FALSE(traced.all("B", "asleep").empty());
  EXPECT_EQ(traced.all("i", "waits for a lock").size(), 1U);
  EXPECT_EQ(traced.all("i", "got a lock").size(), 1U);
  EXPECT_EQ(traced.all("B", "blocking call").size(), 1U);
  EXPECT_GT(traced.arrows(), 4U);
}

TEST(Trace, HasTheTasksOfALocalExecutor) {
  const Sight recording = record();
  LocalExecutor executor;
  sync::Notify notify;
  auto waits = executor.spawn(wait_for, std::ref(notify));
  auto rings = executor.spawn(ring, std::ref(notify));
  const TaskId id = waits.id();
  executor.run();
  const Traced traced = Traced::now();
  EXPECT_EQ(Traced::of_task(traced.all("B"), id).size(), 2U);
  EXPECT_EQ(Traced::of_task(traced.all("i", "wake"), id).size(), 1U);
}

TEST(Trace, OfALocalExecutorSaysWhoWokeItself) {
  const Sight recording = record();
  LocalExecutor executor;
  auto yields = executor.spawn(yield_now());
  const TaskId id = yields.id();
  executor.run_until(std::move(yields));
  const Traced traced = Traced::now();
  EXPECT_TRUE(Traced::of_task(traced.all("i", "wake"), id).empty());
  const std::vector<Json> ends = traced.ends_of(Traced::of_task(traced.all("B"), id));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0]["args"]["then"].string(), "queued again");
  EXPECT_EQ(ends[1]["args"]["then"].string(), "ended");
}

TEST(Trace, WithoutARecordingIsEmpty) {
  {
    const Sight recording = record();
    Runtime rt = runtime_of(1);
    rt.block_on(yield_now());
    EXPECT_FALSE(Traced::now().events().empty());
  }
  EXPECT_TRUE(Traced::now().events().empty());
  // And the next one begins anew.
  const Sight recording = record();
  EXPECT_TRUE(Traced::now().events().empty());
}

TEST(Trace, HasTheLastEventsOfAThread) {
  const Sight recording = record(1);  // the least: 128 records
  LocalExecutor executor;
  TaskId last = 0;
  for (int i = 0; i < 1000; ++i) {
    auto task = executor.spawn(yield_now());
    last = task.id();
    executor.run();
  }
  const Traced traced = Traced::now();
  EXPECT_LE(traced.events().size(), 300U);
  EXPECT_EQ(Traced::of_task(traced.all("B"), last).size(), 2U);
}

TEST(Trace, APollThatIsNotOverIsOpen) {
  const Sight recording = record();
  Runtime rt = runtime_of(1);
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_over{false};
  auto task = rt.spawn([&]() -> Async<void> {
    has_begun.store(true);
    while (!is_over.load()) std::this_thread::yield();
    co_return;
  });
  while (!has_begun.load()) std::this_thread::yield();
  const Traced traced = Traced::now();
  const std::vector<Json> polls = Traced::of_task(traced.all("B"), task.id());
  ASSERT_EQ(polls.size(), 1U);
  EXPECT_TRUE(traced.ends_of(polls).empty());
  is_over.store(true);
  rt.block_on(std::move(task));
}

TEST(Trace, BeginsWhileWorkersWork) {
  Runtime rt = runtime_of(2);
  std::atomic<bool> is_over{false};
  auto task = rt.spawn([&]() -> Async<void> {
    while (!is_over.load()) co_await yield_now();
  });
  const TaskId id = task.id();
  {
    const Sight recording = record(8192);
    while (Traced::of_task(Traced::now().all("B"), id).size() < 100) std::this_thread::yield();
  }
  is_over.store(true);
  rt.block_on(std::move(task));
}

/// A task that ends in a thread of its own.
TaskId run_on_a_thread() {
  TaskId id = 0;
  std::thread([&] {
    LocalExecutor executor;
    auto task = executor.spawn(yield_now());
    id = task.id();
    executor.run();
  }).join();
  return id;
}

TEST(Trace, AThreadThatHasEndedLeavesWhatItDid) {
  const Sight recording = record();
  std::vector<TaskId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(run_on_a_thread());
  const Traced traced = Traced::now();
  for (const TaskId id : ids) EXPECT_EQ(Traced::of_task(traced.all("B"), id).size(), 2U) << id;
}

TEST(Trace, ShowsHostileNames) {
  const Sight recording = record();
  LocalExecutor executor;
  const std::string name = "\"\x01</script>\xff\n";
  auto task = task::Builder().name(name).spawn_on(executor.spawner(), yield_now());
  const TaskId id = task.id();
  executor.run();
  const std::vector<Json> polls = Traced::of_task(Traced::now().all("B"), id);
  ASSERT_EQ(polls.size(), 2U);
  EXPECT_EQ(polls[0]["name"].string(), "\"\x01</script>\xef\xbf\xbd\n");
}

// --- Files. ---

namespace fs = std::filesystem;

class TraceFolder {
 public:
  TraceFolder() {
    std::string name = (fs::temp_directory_path() / "rouse_trace_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;
  ~TraceFolder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

Traced read_trace(const std::string& path) {
  std::ifstream file(path);
  return Traced(std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(TraceFile, IsForItsUserAloneAndReplacesTheOneBefore) {
  const Sight recording = record();
  LocalExecutor executor;
  executor.run_until(executor.spawn(yield_now()));
  const TraceFolder folder;
  const std::string path = folder / "trace.json";
  std::ofstream(path) << "old";
  fs::permissions(path, fs::perms::all);
  EXPECT_TRUE(write_trace(path));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(read_trace(path).events().empty());
  EXPECT_EQ(folder.files(), 1);
}

TEST(TraceFile, ThatCannotBeWrittenIsToldAndLeavesNothing) {
  const TraceFolder folder;
  EXPECT_EQ(write_trace(folder / "no/trace.json").error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(write_trace(folder / std::string(5000, 'x')).error(), std::errc::filename_too_long);
  EXPECT_EQ(write_trace(std::string("a\0b", 3)).error(), std::errc::invalid_argument);
  fs::create_directory(folder / "folder");
  EXPECT_FALSE(write_trace(folder / "folder"));
  EXPECT_EQ(folder.files(), 1);
}

TEST(TraceFile, IsWrittenAfterASlowPollAndThenNotForAWhile) {
  const TraceFolder folder;
  const std::string path = folder / "slow.json";
  trace_after_slow_poll();  // nobody wants one
  const Sight recording = start(Options().trace_on_slow_poll(path));
  LocalExecutor executor;
  executor.run_until(executor.spawn(yield_now()));
  trace_after_slow_poll();
  EXPECT_FALSE(read_trace(path).events().empty());
  fs::remove(path);
  trace_after_slow_poll();
  EXPECT_EQ(folder.files(), 0);
}

TEST(TraceFile, IsWrittenWhileAPollIsSlow) {
  const TraceFolder folder;
  const std::string path = folder / "slow.json";
  const Sight recording = start(Options().slow_poll(1ms).trace_on_slow_poll(path));
  LocalExecutor executor;
  auto slow = executor.spawn([&]() -> Async<void> {
    co_await yield_now();
    while (!fs::exists(path)) std::this_thread::yield();
  });
  const TaskId id = slow.id();
  executor.run_until(std::move(slow));
  const Traced traced = read_trace(path);
  const std::vector<Json> polls = Traced::of_task(traced.all("B"), id);
  EXPECT_EQ(polls.size(), 2U);
  EXPECT_EQ(traced.ends_of(polls).size(), 1U);  // the slow one is not over
}

/// As if something is broken on which two threads stumble.
TEST(TraceFile, IsWrittenWhenTwoThreadsFailAtOnce) {
  const TraceFolder folder;
  const std::string path = folder / "failure.json";
  const auto fail = [&] {
    const Sight recording = start(Options().trace_on_failure(path));
    std::thread second([&] {
      while (folder.files() == 0) std::this_thread::yield();  // the first one writes it
      ROUSE_ASSERT(false, "as planned, too");
    });
    LocalExecutor executor;
    executor.run_until(executor.spawn([]() -> Async<void> {
      for (int i = 0; i < 20'000; ++i) co_await yield_now();
      ROUSE_ASSERT(false, "as planned");
    }));
  };
  EXPECT_DEATH(fail(), "as planned");
  EXPECT_FALSE(read_trace(path).events().empty());
  EXPECT_EQ(folder.files(), 1);
}

TEST(TraceFile, IsWrittenWhenAnAssertionFails) {
  const TraceFolder folder;
  const std::string path = folder / "failure.json";
  const auto fail = [&] {
    const Sight recording = start(Options().trace_on_failure(path));
    LocalExecutor executor;
    auto task = executor.spawn([]() -> Async<void> {
      co_await yield_now();
      ROUSE_ASSERT(false, "as planned");
    });
    executor.run();
  };
  // The child's first task has the number that this process would give next.
  LocalExecutor executor;
  const TaskId failing = executor.spawn(yield_now()).id() + 1;
  EXPECT_DEATH(fail(), "as planned");
  const Traced traced = read_trace(path);
  // The poll in which it failed is there, and not over.
  const std::vector<Json> polls = Traced::of_task(traced.all("B"), failing);
  EXPECT_EQ(polls.size(), 2U);
  EXPECT_EQ(traced.ends_of(polls).size(), 1U);
  EXPECT_EQ(folder.files(), 1);
}

}  // namespace
}  // namespace rouse::sight
