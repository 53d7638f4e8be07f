// What a dump says a task waits for.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/base/shape.hpp"
#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/select.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "sight/seen.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::Json;
using rouse::test::let_run;
using rouse::test::runtime_with;
using rouse::test::see_idle;
using rouse::test::see_when;
using rouse::test::Seen;
using rouse::test::source_line;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string address_of(const void* object) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%p", object);
  return text.data();
}

/// "lock Mutex", or "any_of select(sleep sleep, ...)".
std::string outline(const Json& waits) {
  const Json& what = waits["for"];
  std::string made = what["kind"].string() + " " + what["label"].string();
  if (!what.has("of")) return made;
  made += "(";
  for (const Json& child : what["of"].items()) {
    if (made.back() != '(') made += ", ";
    made += outline(child);
  }
  return made + ")";
}

/// What the task waits for, once it does.
Json waits_of(TaskId id) { return see_idle({id}).task(id)["waits"]; }

// --- Leaves. ---

Async<void> lock_it(sync::Mutex<int>& mutex) {
  const auto guard = co_await mutex.lock();  // for the lock
}

TEST(Waits, ForAMutex) {
  sync::Mutex<int> mutex;
  const auto guard = mutex.try_lock();
  const Runtime runtime = runtime_with(2);
  const TaskId id = let_run(runtime.spawn(lock_it, std::ref(mutex)));
  const Json waits = waits_of(id);
  EXPECT_EQ(outline(waits), "lock Mutex");
  EXPECT_EQ(waits["for"]["address"].string(), address_of(&mutex));
  EXPECT_THAT(source_line(waits["at"][0]), HasSubstr("// for the lock"));
  EXPECT_THAT(see_idle({id}).text_of(id), HasSubstr("waits for Mutex " + address_of(&mutex)));
}

TEST(Waits, ForARwLock) {
  sync::RwLock<int> lock;
  const auto guard = lock.try_write();
  const Runtime runtime = runtime_with(2);
  auto reads = [](sync::RwLock<int>& it) -> Async<void> { const auto read = co_await it.read(); };
  auto writes = [](sync::RwLock<int>& it) -> Async<void> {
    const auto written = co_await it.write();
  };
  const Json reader = waits_of(let_run(runtime.spawn(reads, std::ref(lock))));
  EXPECT_EQ(reader["for"]["kind"].string(), "shared");
  EXPECT_EQ(reader["for"]["address"].string(), address_of(&lock));
  const Json writer = waits_of(let_run(runtime.spawn(writes, std::ref(lock))));
  EXPECT_EQ(writer["for"]["kind"].string(), "lock");
  EXPECT_EQ(writer["for"]["address"].string(), address_of(&lock));
}

TEST(Waits, ForAChannel) {
  auto [tx, rx] = sync::channel<int>(1);
  auto [other_tx, other_rx] = sync::channel<int>(1);
  ASSERT_TRUE(tx.try_send(1));
  const Runtime runtime = runtime_with(2);
  auto sends = [](sync::Sender<int> to) -> Async<void> { (void)co_await to.send(2); };
  auto receives = [](sync::Receiver<int>& from) -> Async<void> { (void)co_await from.recv(); };
  const auto named = [&](const char* name) { return task::Builder().name(name); };
  const Json first = waits_of(let_run(named("1").spawn_on(runtime.spawner(), sends, tx)));
  const Json second = waits_of(let_run(named("2").spawn_on(runtime.spawner(), sends, tx)));
  EXPECT_EQ(outline(first), "send channel");
  EXPECT_EQ(first["for"]["address"].string(), second["for"]["address"].string());
  const Json third =
      waits_of(let_run(named("3").spawn_on(runtime.spawner(), receives, std::ref(other_rx))));
  EXPECT_EQ(outline(third), "receive channel");
  EXPECT_NE(third["for"]["address"].string(), first["for"]["address"].string());
  EXPECT_NE(third["for"]["address"].string(), "0x0");
}

TEST(Waits, ForASemaphore) {
  sync::Semaphore semaphore(0);
  const Runtime runtime = runtime_with(2);
  auto acquires = [](sync::Semaphore& it) -> Async<void> { (void)co_await it.acquire(); };
  const Json waits = waits_of(let_run(runtime.spawn(acquires, std::ref(semaphore))));
  EXPECT_EQ(outline(waits), "permits Semaphore");
  EXPECT_EQ(waits["for"]["address"].string(), address_of(&semaphore));
}

TEST(Waits, ForANotify) {
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  const Json waits = waits_of(let_run(runtime.spawn(borrowed(told.notified()))));
  EXPECT_EQ(outline(waits), "notify Notify");
  EXPECT_EQ(waits["for"]["address"].string(), address_of(&told));
  EXPECT_FALSE(waits.has("at"));
}

TEST(Waits, ForAOneshot) {
  auto [tx, rx] = sync::oneshot<int>();
  const Runtime runtime = runtime_with(2);
  EXPECT_EQ(outline(waits_of(let_run(runtime.spawn(std::move(rx))))), "receive oneshot");
}

TEST(Waits, ForATask) {
  const Runtime runtime = runtime_with(2);
  auto joins = [](JoinHandle<> task) -> Async<void> { co_await task; };
  auto first = runtime.spawn(pending_forever<void>());
  const TaskId joined = first.id();
  const TaskId id = let_run(runtime.spawn(joins, std::move(first)));
  const Seen seen = see_idle({id, joined});
  EXPECT_EQ(outline(seen.task(id)["waits"]), "join task");
  EXPECT_EQ(seen.task(id)["waits"]["for"]["task"].number(), joined);
  EXPECT_THAT(seen.text_of(id), HasSubstr("waits for task " + std::to_string(joined) + "\n"));
}

TEST(Waits, ForATime) {
  const Runtime runtime = runtime_with(2);
  const auto before = time::now() + 2h;
  const TaskId id = let_run(runtime.spawn(sleep(2h)));
  const Seen seen = see_idle({id});
  EXPECT_EQ(outline(seen.task(id)["waits"]), "sleep sleep");
  const std::uint64_t deadline = seen.task(id)["waits"]["for"]["deadline_ns"].number();
  EXPECT_GE(deadline, static_cast<std::uint64_t>(before.time_since_epoch().count()));
  EXPECT_LE(deadline, static_cast<std::uint64_t>((time::now() + 2h).time_since_epoch().count()));
  EXPECT_THAT(seen.text_of(id), HasSubstr("waits for sleep, for another 71"));
}

TEST(Waits, ForNothing) {
  const Runtime runtime = runtime_with(2);
  const TaskId id = let_run(runtime.spawn(pending_forever<void>()));
  EXPECT_EQ(outline(waits_of(id)), "never pending_forever");
}

TEST(Waits, ForSockets) {
  Runtime runtime = runtime_with(2);
  TaskId accepts = 0;
  TaskId reads = 0;
  std::string listens_at;
  std::string peer;
  auto accept = [](net::TcpListener listener) -> Async<void> {
    (void)co_await listener.accept();  // for a connection
  };
  auto read = [](net::TcpStream stream) -> Async<void> {
    std::array<std::byte, 16> bytes;
    (void)co_await stream.read(bytes);  // for bytes
  };
  std::optional<net::TcpStream> connection;
  auto main = [&]() -> Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    connection = co_await net::TcpStream::connect(listener.local_addr());
    auto accepted = co_await listener.accept();
    listens_at = listener.local_addr().to_string();
    peer = connection->local_addr().to_string();
    accepts = let_run(spawn(accept, std::move(listener)));
    reads = let_run(spawn(read, std::move(accepted.stream)));
  };
  runtime.block_on(main());
  const Seen seen = see_idle({accepts, reads});
  const Json& accepting = seen.task(accepts)["waits"];
  EXPECT_EQ(outline(accepting), "any_of accept(descriptor descriptor)");
  EXPECT_EQ(accepting["for"]["of"][0]["for"]["is"].string(), "tcp " + listens_at);
  EXPECT_THAT(source_line(accepting["at"][0]), HasSubstr("// for a connection"));
  const Json& reading = seen.task(reads)["waits"];
  EXPECT_EQ(reading["for"]["label"].string(), "read");
  const Json& socket = reading["for"]["of"][0]["for"];
  EXPECT_EQ(socket["is"].string(), "tcp " + listens_at + " peer " + peer);
  EXPECT_GT(socket["fd"].number(), 2U);
  EXPECT_THAT(source_line(reading["at"][0]), HasSubstr("// for bytes"));
  EXPECT_THAT(seen.text_of(reads),
              HasSubstr("waits for read: descriptor " + std::to_string(socket["fd"].number()) +
                        ", tcp " + listens_at + " peer " + peer));
}

// --- Nodes. ---

Async<void> take_one(sync::Semaphore& semaphore) {
  (void)co_await semaphore.acquire();  // in a child
}

TEST(Waits, ForTimeoutsSelectsAndJoinsInEachOther) {
  sync::Semaphore semaphore(0);
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  auto nests = [](sync::Semaphore& permits, sync::Notify& notify) -> Async<void> {
    co_await timeout(1h, select(join(take_one(permits), sleep(2h)), notify.notified()));  // nested
  };
  const TaskId id = let_run(runtime.spawn(nests, std::ref(semaphore), std::ref(told)));
  const Seen seen = see_idle({id});
  const Json& waits = seen.task(id)["waits"];
  EXPECT_EQ(outline(waits),
            "any_of timeout(any_of select(all_of join(permits Semaphore, sleep sleep), notify "
            "Notify), sleep sleep)");
  EXPECT_THAT(source_line(waits["at"][0]), HasSubstr("// nested"));
  const Json& child = waits["for"]["of"][0]["for"]["of"][0]["for"]["of"][0];
  EXPECT_EQ(child["for"]["address"].string(), address_of(&semaphore));
  EXPECT_THAT(source_line(child["at"][0]), HasSubstr("// in a child"));
  const std::string text = seen.text_of(id);
  EXPECT_THAT(text, HasSubstr("  waits for timeout, one of\n    - waits for select, one of\n"));
  EXPECT_THAT(text, HasSubstr("        - waits for join, all of\n"));
}

TEST(Waits, ForManyInAJoinAll) {
  sync::Semaphore semaphore(0);
  const Runtime runtime = runtime_with(2);
  auto waits_for_all = [](sync::Semaphore& permits) -> Async<void> {
    std::vector<Async<void>> all;
    for (int i = 0; i < 3; ++i) all.push_back(take_one(permits));
    co_await join_all(std::move(all));
  };
  const Json waits = waits_of(let_run(runtime.spawn(waits_for_all, std::ref(semaphore))));
  EXPECT_EQ(waits["for"]["of"].items().size(), 3U) << outline(waits);
  for (const Json& child : waits["for"]["of"].items()) {
    EXPECT_THAT(source_line(child["at"][0]), HasSubstr("// in a child"));
  }
}

TEST(Waits, ForAJoinSet) {
  const Runtime runtime = runtime_with(2);
  auto joins = []() -> Async<void> {
    JoinSet<void> set;
    set.spawn(pending_forever<void>());
    set.spawn(pending_forever<void>());
    co_await set.join_next();
  };
  const TaskId id = let_run(runtime.spawn(joins));
  EXPECT_EQ(outline(waits_of(id)).substr(0, 12), "one join_set");
  EXPECT_THAT(outline(waits_of(id)), HasSubstr("(join task, join task)"));
}

TEST(Waits, ForMoreChildrenThanAreShown) {
  sync::Semaphore semaphore(0);
  const Runtime runtime = runtime_with(2);
  auto waits_for_all = [](sync::Semaphore& permits) -> Async<void> {
    std::vector<Async<void>> all;
    for (int i = 0; i < 20000; ++i) all.push_back(take_one(permits));
    co_await join_all(std::move(all));
  };
  const Json waits = waits_of(let_run(runtime.spawn(waits_for_all, std::ref(semaphore))));
  EXPECT_GT(waits["for"]["of"].items().size(), 500U);
  EXPECT_LT(waits["for"]["of"].items().size(), 20000U);
  const std::string text = sight::dump().text();
  EXPECT_THAT(text, ContainsRegex("\n    - waits for Semaphore.*\n      at .*\n    - [.]{3} "));
  EXPECT_THAT(text, HasSubstr("\n    - ... and others, for which a dump has no room\n"));
  EXPECT_LT(rouse::test::lines_of(text).size(), 20U) << text;
}

/// As a server does with its connections.
TEST(Waits, ForManyTasksIsAFewLines) {
  const Runtime runtime = runtime_with(2);
  auto joins = []() -> Async<void> {
    JoinSet<void> set;
    for (int i = 0; i < 100; ++i) set.spawn(pending_forever<void>());
    co_await set.join_next();
  };
  EXPECT_EQ(outline(waits_of(let_run(runtime.spawn(joins)))).substr(0, 12), "one join_set");
  const std::string text = sight::dump().text();
  EXPECT_THAT(text, HasSubstr("        - ... 96 more\n"));
  EXPECT_THAT(text, Not(HasSubstr("and others")));
}

TEST(Waits, ForNodesThatAreTooDeep) {
  const Runtime runtime = runtime_with(2);
  AnyFuture<void> nested = pending_forever<void>();
  for (int i = 0; i < 1000; ++i) {
    auto wraps = [](AnyFuture<void> inner) -> Async<void> { co_await select(std::move(inner)); };
    nested = wraps(std::move(nested));
  }
  const Json waits = waits_of(let_run(runtime.spawn(std::move(nested))));
  EXPECT_THAT(outline(waits), HasSubstr("any_of select(any_of select(any_of select("));
}

// --- Children on other workers. ---

Async<void> first_branch(sync::Semaphore& semaphore) {
  (void)co_await semaphore.acquire();  // in the first branch
}
Async<void> second_branch(sync::Semaphore& semaphore) {
  (void)co_await semaphore.acquire();  // in the second branch
}

TEST(Waits, ForChildrenOfParallel) {
  sync::Semaphore first(0);
  sync::Semaphore second(0);
  Runtime runtime = runtime_with(2);
  auto forks = [](sync::Semaphore& a, sync::Semaphore& b) -> Async<void> {
    co_await parallel(first_branch(a), second_branch(b));  // forks
  };
  auto handle = runtime.spawn(forks, std::ref(first), std::ref(second));
  const TaskId id = handle.id();
  const auto is_at = [](const Seen& seen, const char* code) { return seen.at(code).size() == 1; };
  const Seen both = see_when([&](const Seen& seen) {
    return is_at(seen, "// in the first branch") && is_at(seen, "// in the second branch") &&
           seen.state_of(id) == "idle";
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ((*both.at("// in the first branch")[0])["waits"]["for"]["address"].string(),
            address_of(&first));
  EXPECT_EQ((*both.at("// in the second branch")[0])["waits"]["for"]["address"].string(),
            address_of(&second));
  // The parent is where it forked, innermost or behind the branch that it runs itself.
  const std::vector<Json>& at = both.task(id)["waits"]["at"].items();
  ASSERT_FALSE(at.empty());
  EXPECT_THAT(source_line(at.back()), HasSubstr("// forks"));
  first.add_permits(1);
  second.add_permits(1);
  runtime.block_on(std::move(handle));
}

TEST(Waits, ForChildrenOfParallelThatAreLeft) {
  sync::Semaphore first(0);
  sync::Semaphore second(0);
  Runtime runtime = runtime_with(2);
  auto forks = [](sync::Semaphore& a, sync::Semaphore& b) -> Async<void> {
    co_await parallel(first_branch(a), second_branch(b));  // forks too
  };
  auto handle = runtime.spawn(forks, std::ref(first), std::ref(second));
  const TaskId id = handle.id();
  // The parent runs the last one itself, until that ends.
  see_when([&](const Seen& now) {
    return now.at("// in the first branch").size() == 1 &&
           now.at("// in the second branch").size() == 1 && now.state_of(id) == "idle";
  });
  second.add_permits(1);
  const Seen seen = see_when([&](const Seen& now) {
    return now.at("// forks too").size() == 1 && now.state_of(id) == "idle" &&
           now.at("// in the first branch").size() == 1;
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(seen.at("// forks too")[0], seen.find(id));
  EXPECT_EQ(outline(seen.task(id)["waits"]), "fork parallel");
  first.add_permits(1);
  runtime.block_on(std::move(handle));
}

TEST(Waits, ForChildrenOfAScope) {
  sync::Semaphore semaphore(0);
  Runtime runtime = runtime_with(2);
  auto scopes = [](sync::Semaphore& permits) -> Async<void> {
    auto body = [&](Scope& children) -> Async<void> {
      children.spawn(first_branch(permits));
      children.spawn(second_branch(permits));
      co_return;
    };
    co_await scope(body);  // awaits the scope
  };
  auto handle = runtime.spawn(scopes, std::ref(semaphore));
  const TaskId id = handle.id();
  const Seen seen = see_when([&](const Seen& now) {
    return now.at("// in the first branch").size() == 1 &&
           now.at("// in the second branch").size() == 1 && now.state_of(id) == "idle";
  });
  ASSERT_FALSE(HasFailure());
  const Json& waits = seen.task(id)["waits"];
  EXPECT_THAT(outline(waits), HasSubstr("scope children of the scope"));
  EXPECT_THAT(outline(waits), ::testing::StartsWith("all_of scope("));
  EXPECT_THAT(source_line(waits["at"].items().back()), HasSubstr("// awaits the scope"));
  EXPECT_NE(seen.at("// in the first branch")[0], seen.find(id));
  semaphore.add_permits(2);
  runtime.block_on(std::move(handle));
}

// --- Long chains. ---

Async<void> descend(int levels, sync::Semaphore& semaphore) {
  if (levels == 0) {
    (void)co_await semaphore.acquire();  // at the bottom
  } else {
    co_await descend(levels - 1, semaphore);  // further down
  }
}

TEST(Waits, InAChainThatIsCut) {
  constexpr int levels = 100'000;
  sync::Semaphore semaphore(0);
  const Runtime runtime = runtime_with(2);
  const TaskId id = let_run(runtime.spawn(descend, levels, std::ref(semaphore)));
  const Seen seen = see_idle({id});
  const std::vector<Json>& at = seen.task(id)["waits"]["at"].items();
  ASSERT_EQ(at.size(), 41U);
  EXPECT_THAT(source_line(at[0]), HasSubstr("// at the bottom"));
  EXPECT_EQ(at[32]["left_out"].number(), levels + 1 - 40U);
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (i != 32) {
      EXPECT_THAT(source_line(at[i]), HasSubstr("// further down")) << i;
    }
  }
  EXPECT_THAT(seen.text_of(id), HasSubstr("  ... 99961 more\n"));
}

TEST(Waits, InAChainThatIsJustNotCut) {
  sync::Semaphore semaphore(0);
  const Runtime runtime = runtime_with(2);
  for (const int frames : {39, 40, 41, 42}) {
    // With names, or those that differ only in what is left out would be one group.
    const TaskId id =
        let_run(task::Builder()
                    .name(std::to_string(frames))
                    .spawn_on(runtime.spawner(), descend, frames - 1, std::ref(semaphore)));
    const Json waits = waits_of(id);
    const std::vector<Json>& at = waits["at"].items();
    if (frames <= 40) {
      EXPECT_EQ(at.size(), static_cast<std::size_t>(frames));
    } else {
      ASSERT_EQ(at.size(), 41U);
      EXPECT_EQ(at[32]["left_out"].number(), static_cast<std::uint64_t>(frames - 40));
    }
  }
}

// --- Futures of a user. ---

/// Says nothing.
class HardToRead {
 public:
  using Output = void;
  explicit HardToRead(sync::Notify& told) : notified_(told.notified()) {}
  Poll<void> poll(Context& cx) { return notified_.poll(cx); }

 private:
  sync::Notify::Notified notified_;
};

TEST(Waits, ForAFutureThatSaysNothing) {
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  auto awaits = [](sync::Notify& notify) -> Async<void> { co_await HardToRead(notify); };
  const TaskId id = let_run(runtime.spawn(awaits, std::ref(told)));
  const Seen seen = see_idle({id});
  const Json& waits = seen.task(id)["waits"];
  EXPECT_EQ(waits["for"]["kind"].string(), "opaque");
  EXPECT_THAT(waits["for"]["label"].string(), EndsWith("HardToRead"));
  EXPECT_THAT(seen.text_of(id), HasSubstr("HardToRead\n"));
  EXPECT_THAT(seen.folded(), HasSubstr("HardToRead 1\n"));
}

/// Waits for two.
template <class A, class B>
class Couple {
 public:
  using Output = void;
  Couple(A first, B second) : first_(std::move(first)), second_(std::move(second)) {}
  ROUSE_SHAPE(Couple, "couple", all_of, &Couple::first_, &Couple::second_)
  Poll<void> poll(Context& cx) {
    (void)first_.poll(cx);
    (void)second_.poll(cx);
    return pending;
  }

 private:
  A first_;
  B second_;
};

/// Waits for something of a user.
class Bell {
 public:
  using Output = void;
  Bell(const int& what, sync::Notify& told) : what_(&what), notified_(told.notified()) {}
  ROUSE_SHAPE(Bell, "bell", notify, &Bell::what_)
  Poll<void> poll(Context& cx) { return notified_.poll(cx); }

 private:
  const int* what_;
  sync::Notify::Notified notified_;
};

TEST(Waits, ForAFutureThatSaysWhatItWaitsFor) {
  const int thing = 1;
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  auto awaits = [](const int& what, sync::Notify& notify) -> Async<void> {
    co_await Couple(Bell(what, notify), sleep(1h));  // for a couple
  };
  const TaskId id = let_run(runtime.spawn(awaits, std::cref(thing), std::ref(told)));
  const Json waits = waits_of(id);
  EXPECT_EQ(outline(waits), "all_of couple(notify bell, sleep sleep)");
  EXPECT_EQ(waits["for"]["of"][0]["for"]["address"].string(), address_of(&thing));
  EXPECT_THAT(source_line(waits["at"][0]), HasSubstr("// for a couple"));
}

/// Has no label, which base/shape.hpp allows.
class Nameless {
 public:
  using Output = void;
  explicit Nameless(sync::Notify& told) : told_(&told), notified_(told.notified()) {}
  ROUSE_SHAPE(Nameless, nullptr, notify, &Nameless::told_)
  Poll<void> poll(Context& cx) { return notified_.poll(cx); }

 private:
  sync::Notify* told_;
  sync::Notify::Notified notified_;
};
class NamelessNode {
 public:
  using Output = void;
  explicit NamelessNode(sync::Notify& told) : first_(told), second_(told) {}
  ROUSE_SHAPE(NamelessNode, nullptr, any_of, &NamelessNode::first_, &NamelessNode::second_)
  Poll<void> poll(Context& cx) {
    if (first_.poll(cx).is_ready()) return Poll<void>::ready();
    return second_.poll(cx);
  }

 private:
  Nameless first_;
  Nameless second_;
};

TEST(Waits, ForAFutureWithoutALabel) {
  sync::Notify told;
  const Runtime runtime = runtime_with(2);
  const TaskId leaf = let_run(runtime.spawn(Nameless(told)));
  const TaskId node = let_run(runtime.spawn(NamelessNode(told)));
  const Seen seen = see_idle({leaf, node});
  EXPECT_EQ(seen.task(leaf)["waits"]["for"]["kind"].string(), "notify");
  EXPECT_EQ(seen.task(node)["waits"]["for"]["kind"].string(), "any_of");
  EXPECT_EQ(seen.task(node)["waits"]["for"]["of"].items().size(), 2U);
}

}  // namespace
