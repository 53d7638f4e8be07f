// TaskLocal: who sees which value, on which thread, and until when.
#include "rouse/exec/task_local.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/testing/gate.hpp"
#include "rouse/testing/poll_harness.hpp"

namespace rouse {

using namespace internal;
namespace {

using testing::Gate;
using testing::PollHarness;

constinit TaskLocal<int> request_id;
constinit TaskLocal<std::string> user;

// Too long to fit into the string object, so that ASan sees a dangling one.
constexpr const char* long_name = "a name that lives on the heap, not inside its string object";

/// What a destructor sees of `request_id`, 0 for nothing.
class SeesAtItsEnd {
 public:
  explicit SeesAtItsEnd(std::vector<int>& seen) : seen_(seen) {}
  SeesAtItsEnd(const SeesAtItsEnd&) = delete;
  ~SeesAtItsEnd() { seen_.push_back(request_id.try_get() ? request_id.get() : 0); }

 private:
  std::vector<int>& seen_;
};

Async<int> id_after_yield() {
  co_await yield_now();
  co_return request_id.get();
}

TEST(TaskLocal, TasksOfAnExecutorThatRunsInsideAScopeAreNotInIt) {
  auto sees_none = []() -> Async<bool> {
    co_await yield_now();
    co_return request_id.try_get() == nullptr;
  };
  request_id.sync_scope(1, [&] {
    LocalExecutor executor;
    EXPECT_TRUE(executor.run_until(executor.spawn(sees_none())));
    EXPECT_EQ(request_id.get(), 1);
  });
}

TEST(TaskLocal, IsSetInsideItsScopeAndNotOutside) {
  auto run = []() -> Async<int> {
    EXPECT_EQ(request_id.try_get(), nullptr);
    const int inside = co_await request_id.scope(42, id_after_yield());
    EXPECT_EQ(request_id.try_get(), nullptr);
    co_return inside;
  };
  EXPECT_EQ(block_on(run()), 42);
  EXPECT_EQ(request_id.try_get(), nullptr);
}

TEST(TaskLocal, TheInnermostScopeWinsAndTheOuterOneComesBack) {
  auto outer = []() -> Async<std::vector<int>> {
    const int before = request_id.get();
    const int inside = co_await request_id.scope(2, id_after_yield());
    co_return std::vector<int>{before, inside, request_id.get()};
  };
  EXPECT_EQ(block_on(request_id.scope(1, outer())), (std::vector<int>{1, 2, 1}));
}

TEST(TaskLocal, TwoKeysDoNotMeet) {
  auto both = []() -> Async<std::string> {
    co_await yield_now();
    co_return user.get() + std::to_string(request_id.get());
  };
  EXPECT_EQ(block_on(user.scope("ann", request_id.scope(7, both()))), "ann7");
  EXPECT_EQ(block_on(request_id.scope(8, user.scope("bob", both()))), "bob8");
}

TEST(TaskLocal, FuturesThatTakeTurnsEachSeeTheirOwn) {
  auto seen =
      block_on(join(request_id.scope(1, id_after_yield()), request_id.scope(2, id_after_yield())));
  EXPECT_EQ(seen, (std::tuple(1, 2)));
}

TEST(TaskLocal, TasksOfOneExecutorEachSeeTheirOwn) {
  LocalExecutor executor;
  auto a = executor.spawn(request_id.scope(1, id_after_yield()));
  auto b = executor.spawn(request_id.scope(2, id_after_yield()));
  executor.run();
  EXPECT_EQ(executor.run_until(a), 1);
  EXPECT_EQ(executor.run_until(b), 2);
}

TEST(TaskLocal, ASpawnedTaskDoesNotInherit) {
  LocalExecutor executor;
  auto child = []() -> Async<bool> { co_return request_id.try_get() == nullptr; };
  auto parent = [child]() -> Async<bool> { co_return co_await spawn(child); };
  EXPECT_TRUE(executor.run_until(request_id.scope(1, parent())));
}

TEST(TaskLocal, FollowsTheFutureFromThreadToThread) {
  Gate<> gate;
  auto work = [&]() -> Async<std::string> {
    const std::string first = user.get();
    const std::thread::id before = std::this_thread::get_id();
    co_await gate.wait();
    EXPECT_NE(std::this_thread::get_id(), before);
    co_return first + "|" + user.get();
  };
  PollHarness harness(request_id.scope(1, user.scope(long_name, work())));
  std::jthread([&] {
    EXPECT_TRUE(harness.poll().is_pending());
    EXPECT_EQ(user.try_get(), nullptr);
  }).join();
  gate.open();
  // Here the thread is in another scope of the same key.
  const std::string seen = user.sync_scope("other", [&] {
    auto polled = harness.poll();
    EXPECT_EQ(user.get(), "other");
    return std::move(polled).value();
  });
  EXPECT_EQ(seen, std::string(long_name) + "|" + long_name);
}

TEST(TaskLocal, CanBeSeenWhileTheFutureIsCancelled) {
  std::vector<int> seen;
  auto waits = [&]() -> Async<void> {
    const SeesAtItsEnd outer(seen);
    auto inner = [&]() -> Async<void> {
      const SeesAtItsEnd at_end(seen);
      co_await pending_forever<>();
    };
    co_await request_id.scope(2, inner());
  };
  {
    PollHarness harness(request_id.scope(1, waits()));
    EXPECT_TRUE(harness.poll().is_pending());
  }
  EXPECT_EQ(seen, (std::vector<int>{2, 1}));
  EXPECT_EQ(request_id.try_get(), nullptr);
}

TEST(TaskLocal, CanBeSeenWhileItsTaskIsAborted) {
  std::vector<int> seen;
  auto waits = [](std::vector<int>* into) -> Async<void> {
    const SeesAtItsEnd at_end(*into);
    co_await pending_forever<>();
  };
  LocalExecutor executor;
  auto waiting = executor.spawn(borrowed(request_id.scope(3, waits(&seen))));
  executor.run_until(yield_now());
  waiting.abort();
  executor.run();
  EXPECT_EQ(seen, std::vector<int>{3});
}

TEST(TaskLocal, AFutureThatWasNeverPolledSeesItToo) {
  std::vector<int> seen;
  struct Unpolled {
    using Output = void;
    explicit Unpolled(std::vector<int>& into) : at_end(std::make_unique<SeesAtItsEnd>(into)) {}
    Poll<void> poll(Context&) { return pending; }
    std::unique_ptr<SeesAtItsEnd> at_end;
  };
  {
    const auto future = request_id.scope(4, Unpolled(seen));
  }
  EXPECT_EQ(seen, std::vector<int>{4});
}

TEST(TaskLocal, IsUnsetAgainAfterAPollThatThrew) {
  auto throws = []() -> Async<void> {
    co_await yield_now();
    throw std::runtime_error("request " + std::to_string(request_id.get()));
  };
  auto future = request_id.scope(5, throws());
  try {
    block_on(future);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "request 5");
  }
  EXPECT_EQ(request_id.try_get(), nullptr);
}

TEST(TaskLocal, SyncScopeIsForPlainFunctions) {
  EXPECT_EQ(request_id.sync_scope(6, [] { return request_id.get() + 1; }), 7);
  EXPECT_THROW(request_id.sync_scope(6, [] { throw std::runtime_error("no luck"); }),
               std::runtime_error);
  EXPECT_EQ(request_id.try_get(), nullptr);
}

TEST(TaskLocal, WithGivesWhatTheFunctionGives) {
  user.sync_scope(long_name, [] {
    EXPECT_EQ(user.with([](const std::string& name) { return name.size(); }),
              std::string_view(long_name).size());
    const std::string& same = user.with([](const std::string& name) -> auto& { return name; });
    EXPECT_EQ(&same, &user.get());
  });
}

TEST(TaskLocal, TheValueNeedNotBeCopied) {
  static constinit TaskLocal<std::unique_ptr<int>> owned;
  auto reads = []() -> Async<int> {
    co_await yield_now();
    co_return *owned.get();
  };
  EXPECT_EQ(block_on(owned.scope(std::make_unique<int>(9), reads())), 9);
}

TEST(TaskLocal, WorkOnAnotherThreadTakesTheScopesAlong) {
  Gate<> done;
  auto parent = [&]() -> Async<void> {
    auto here = RefPtr<const TaskLocalNode>::share(task_locals());
    std::jthread helper([&, inherited = std::move(here)] {
      EXPECT_EQ(request_id.try_get(), nullptr);
      {
        const TaskLocalsScope in_scope(inherited.get());
        EXPECT_EQ(request_id.get(), 1);
        EXPECT_EQ(user.get(), long_name);
        // The parent is polled meanwhile and enters its scopes again.
        request_id.sync_scope(2, [] { EXPECT_EQ(request_id.get(), 2); });
      }
      EXPECT_EQ(request_id.try_get(), nullptr);
      done.open();
    });
    for (int i = 0; i < 100; ++i) co_await yield_now();
    co_await done.wait();
  };
  block_on(request_id.scope(1, user.scope(long_name, parent())));
}

TEST(TaskLocal, AFutureInAScopeMayBeMovedBeforeItsFirstPoll) {
  auto future = user.scope(long_name, []() -> Async<std::string> { co_return user.get(); }());
  AnyFuture<std::string> moved(std::move(future));
  auto moved_again = std::move(moved);
  EXPECT_EQ(block_on(moved_again), long_name);
}

TEST(TaskLocal, SaysWhetherItsFutureBorrows) {
  auto borrower = [](const int& x) -> Async<int> { co_return x; };
  const int x = 1;
  EXPECT_TRUE(request_id.scope(1, borrower(x)).borrows());
  EXPECT_FALSE(request_id.scope(1, id_after_yield()).borrows());
}

TEST(TaskLocalDeathTest, WhereNoValueIsSetGetSaysSo) {
  EXPECT_DEATH(static_cast<void>(request_id.get()), "TaskLocal::get where no value is set");
  EXPECT_DEATH(user.with([](const std::string&) {}), "try_get");
  EXPECT_DEATH(user.sync_scope("ann", [] { return request_id.get(); }), "where no value is set");
}

TEST(TaskLocalDeathTest, MovedAfterItsFirstPollItSaysSo) {
  auto future = request_id.scope(1, yield_now());
  Context cx(Waker::noop());
  ASSERT_TRUE(future.poll(cx).is_pending());
  EXPECT_DEATH(auto moved = std::move(future), "moved after its first poll");
}

}  // namespace
}  // namespace rouse
