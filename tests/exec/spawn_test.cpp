// spawn: what a task owns, and what is refused.
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/map.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/ready.hpp"
#include "rouse/future/yield_now.hpp"

namespace rouse {
namespace {

// Long enough not to fit into the string object itself, so that ASan sees a dangling one.
constexpr const char* text = "a string that lives on the heap, not inside its object";

Async<std::size_t> by_const_reference(const std::string& s) {
  co_await yield_now();
  co_return s.size();
}
Async<std::size_t> by_view(std::string_view s) {
  co_await yield_now();
  co_return s.size();
}
Async<int> by_rvalue_reference(std::unique_ptr<int>&& p) {
  co_await yield_now();
  co_return *p;
}
Async<int> overloaded(int x) { co_return x; }

struct Server {
  std::string name = text;
  Async<std::size_t> handle(const std::string& request) {
    co_await yield_now();
    co_return name.size() + request.size();
  }
};

TEST(Spawn, OwnsTheArgumentsOfACoroutineThatTakesReferences) {
  LocalExecutor executor;
  auto a = executor.spawn(by_const_reference, std::string(text));
  std::string local = text;
  auto b = executor.spawn(by_const_reference, local);
  local.assign("changed");
  auto c = executor.spawn(by_rvalue_reference, std::make_unique<int>(8));
  executor.run();
  EXPECT_EQ(executor.run_until(a), std::string_view(text).size());
  EXPECT_EQ(executor.run_until(b), std::string_view(text).size());
  EXPECT_EQ(executor.run_until(c), 8);
}

/// Counts those that live, also those that were moved from.
class CountedArgument {
 public:
  explicit CountedArgument(int& count) noexcept : count_(count) { ++count_; }
  CountedArgument(CountedArgument&& other) noexcept : count_(other.count_) { ++count_; }
  CountedArgument& operator=(CountedArgument&&) = delete;
  ~CountedArgument() { --count_; }

 private:
  int& count_;
};

Async<void> by_value(CountedArgument) {
  co_await yield_now();
  co_await pending_forever<void>();
}
Async<void> no_coroutine_and_throws(CountedArgument) { throw std::runtime_error("no"); }

TEST(Spawn, WhatAFunctionTakesByValueIsKeptOnceAndNoLongerThanTheTask) {
  int alive = 0;
  {
    LocalExecutor executor;
    auto dropped = executor.spawn(by_value, CountedArgument(alive));
    EXPECT_EQ(alive, 1) << "not called yet";
    dropped.abort();
    EXPECT_THROW(executor.run_until(dropped), JoinError);
    EXPECT_EQ(alive, 0);
    auto runs = executor.spawn(by_value, CountedArgument(alive));
    executor.run_until(yield_now());
    EXPECT_EQ(alive, 1) << "in the coroutine, and no longer in the task";
    auto failed = executor.spawn(no_coroutine_and_throws, CountedArgument(alive));
    EXPECT_THROW(executor.run_until(failed), std::runtime_error);
    EXPECT_EQ(alive, 1);
    runs.detach();
  }
  EXPECT_EQ(alive, 0);
}

struct Request {
  Request(const std::string& from) : body(from) {}  // NOLINT(google-explicit-constructor)
  const std::string& body;
};
Async<std::size_t> by_what_refers_to_the_argument(Request request) {
  co_await yield_now();
  co_return request.body.size();
}

TEST(Spawn, KeepsAnArgumentThatTheParameterRefersTo) {
  LocalExecutor executor;
  auto handle = executor.spawn(by_what_refers_to_the_argument, std::string(text));
  EXPECT_EQ(executor.run_until(handle), std::string_view(text).size());
}

TEST(Spawn, ATaskOfAFunctionTakesLittle) {
  using Call = internal::OwnedCall<Async<void> (*)()>;
  const auto lambda = []() -> Async<void> { co_return; };
  EXPECT_LE(sizeof(internal::Task<Call>), 80U);
  EXPECT_LE(sizeof(internal::Task<internal::OwnedCall<decltype(lambda)>>), 80U);
  EXPECT_LE(sizeof(internal::Task<Async<void>>), 80U);
}

TEST(Spawn, KeepsAnArgumentThatIsConvertedForTheParameter) {
  LocalExecutor executor;
  auto converted = executor.spawn(by_const_reference, text);  // const char* to const std::string&
  auto viewed = executor.spawn(by_view, std::string(text));   // the task owns the string
  auto lambda = [](const std::string& a, const std::function<int()>& f) -> Async<int> {
    co_await yield_now();
    co_return static_cast<int>(a.size()) + f();
  };
  auto two = executor.spawn(lambda, text, [] { return 1; });
  executor.run();
  EXPECT_EQ(executor.run_until(converted), std::string_view(text).size());
  EXPECT_EQ(executor.run_until(viewed), std::string_view(text).size());
  EXPECT_EQ(executor.run_until(two), static_cast<int>(std::string_view(text).size()) + 1);
}

TEST(Spawn, OwnsALambdasCaptures) {
  LocalExecutor executor;
  auto handle = [&] {
    auto lambda = [captured = std::string(text)](int n) -> Async<std::size_t> {
      co_await yield_now();
      co_return captured.size() + static_cast<std::size_t>(n);
    };
    return executor.spawn(lambda, 1);
  }();
  executor.run();
  EXPECT_EQ(executor.run_until(handle), std::string_view(text).size() + 1);
}

TEST(Spawn, TakesMoveOnlyFunctionsAndArguments) {
  LocalExecutor executor;
  auto lambda = [p = std::make_unique<int>(3)](std::unique_ptr<int> q) -> Async<int> {
    co_await yield_now();
    co_return *p + *q;
  };
  EXPECT_EQ(executor.run_until(executor.spawn(std::move(lambda), std::make_unique<int>(4))), 7);
}

TEST(Spawn, CallsMemberFunctions) {
  LocalExecutor executor;
  auto owned = executor.spawn(&Server::handle, Server(), text);  // kept as a std::string
  auto shared = executor.spawn(&Server::handle, std::make_shared<Server>(), std::string(text));
  executor.run();
  EXPECT_EQ(executor.run_until(owned), 2 * std::string_view(text).size());
  EXPECT_EQ(executor.run_until(shared), 2 * std::string_view(text).size());
}

TEST(Spawn, TakesAReferenceWhereTheCallerSaysStdRef) {
  LocalExecutor executor;
  int counter = 0;
  auto adds = [](int& n) -> Async<void> {
    co_await yield_now();
    ++n;
  };
  executor.spawn(adds, std::ref(counter)).detach();
  executor.run();
  EXPECT_EQ(counter, 1);
}

TEST(Spawn, CallsTheFunctionOnTheExecutorNotAtOnce) {
  LocalExecutor executor;
  bool called = false;
  auto handle = executor.spawn([&called]() {
    called = true;
    return ready(1);
  });
  EXPECT_FALSE(called);
  EXPECT_EQ(executor.run_until(handle), 1);
  EXPECT_TRUE(called);
}

TEST(Spawn, AFunctionThatThrowsBeforeItGivesAFutureFailsItsTask) {
  LocalExecutor executor;
  auto handle = executor.spawn([]() -> Async<int> (*)() { return nullptr; }() == nullptr
                               ? +[]() -> Async<int> { throw std::runtime_error("early"); }
                               : nullptr);
  EXPECT_THROW(executor.run_until(handle), std::runtime_error);
}

TEST(Spawn, RunsFuturesThatAreNoCoroutines) {
  LocalExecutor executor;
  EXPECT_EQ(executor.run_until(executor.spawn(ready(std::string("x")))), "x");
}

TEST(Spawn, ACoroutineThatOwnsItsParametersMayBeSpawnedAsItIs) {
  LocalExecutor executor;
  EXPECT_EQ(executor.run_until(executor.spawn(overloaded(5))), 5);
}

TEST(Spawn, BorrowedIsTheExplicitWay) {
  LocalExecutor executor;
  const std::string local = text;
  EXPECT_EQ(executor.run_until(executor.spawn(borrowed(by_const_reference(local)))), local.size());
}

TEST(SpawnDeathTest, RefusesACoroutineThatBorrowsAndSaysItsNameAndTheFix) {
  LocalExecutor executor;
  const std::string local = text;
  EXPECT_DEATH(executor.spawn(by_const_reference(local)).detach(),
               "spawn\\(fn, args...\\) instead of spawn\\(fn\\(args...\\)\\)");
  EXPECT_DEATH(executor.spawn(by_const_reference(local)).detach(), "by_const_reference");
  EXPECT_DEATH(executor.spawn(by_view(local)).detach(), "spawned at .*spawn_test.cpp:");
  Server server;
  EXPECT_DEATH(executor.spawn(server.handle(local)).detach(), "handle");
  auto lambda = [&local]() -> Async<std::size_t> { co_return local.size(); };
  EXPECT_DEATH(executor.spawn(lambda()).detach(), "captures");
}

TEST(SpawnDeathTest, RefusesABorrowerInsideAnotherFuture) {
  LocalExecutor executor;
  const std::string local = text;
  EXPECT_DEATH(executor.spawn(AnyFuture<std::size_t>(by_const_reference(local))).detach(),
               "spawn\\(fn, args...\\) instead");
  EXPECT_DEATH(executor.spawn(map(by_view(local), [](std::size_t n) { return n; })).detach(),
               "spawn\\(fn, args...\\) instead");
}

TEST(SpawnDeathTest, ASpawnerThatWasMovedFromSaysSo) {
  LocalExecutor executor;
  Spawner spawner = executor.spawner();
  const Spawner taken = std::move(spawner);
  EXPECT_DEATH(spawner.spawn(overloaded, 1).detach(),
               "moved from");  // NOLINT(bugprone-use-after-move)
}

TEST(SpawnDeathTest, WithoutAnExecutorItSaysWhatToDo) {
  EXPECT_DEATH(spawn(overloaded, 1).detach(), "spawn without an executor.*Spawner");
}

TEST(Spawn, ExceptionsOfAMoveOrOfADestructorlessFutureLeakNothing) {
  struct ThrowsOnMove {
    ThrowsOnMove() = default;
    ThrowsOnMove(ThrowsOnMove&&) { throw std::runtime_error("move"); }
    std::string held = text;
  };
  auto takes = [](ThrowsOnMove) -> Async<void> { co_return; };
  LocalExecutor executor;
  EXPECT_THROW(executor.spawn(takes, ThrowsOnMove()).detach(), std::runtime_error);
  EXPECT_EQ(executor.live_tasks(), 0U);
  executor.run();
}

}  // namespace
}  // namespace rouse
