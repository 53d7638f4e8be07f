// Async: the backtrace of a suspended chain, with a file, a line and a function for every await.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/testing/gate.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::poll_once;
using testing::Gate;
using ::testing::HasSubstr;

template <class T>
std::vector<std::source_location> awaits_of(const Async<T>& async) {
  std::vector<std::source_location> awaits;
  async.visit_awaits([&](const std::source_location& where) { awaits.push_back(where); });
  return awaits;
}

constexpr unsigned innermost_line = __LINE__ + 2;
Async<> innermost_function(Gate<>& gate) {
  co_await gate.wait();
  co_await gate.wait();
}
constexpr unsigned middle_line = __LINE__ + 2;
Async<int> middle_function(Gate<>& gate, int value) {
  co_await innermost_function(gate);
  co_return value;
}
constexpr unsigned outer_line = __LINE__ + 3;
Async<std::string> outer_function(Gate<>& gate) {
  std::string text = "x";
  const int value = co_await middle_function(gate, 3);
  co_return text + std::to_string(value);
}

TEST(AsyncBacktrace, NamesEveryAwaitInnermostFirst) {
  Gate<> gate;
  auto future = outer_function(gate);
  EXPECT_TRUE(poll_once(future).is_pending());
  const auto awaits = awaits_of(future);
  ASSERT_EQ(awaits.size(), 3u);
  EXPECT_EQ(awaits[0].line(), innermost_line);
  EXPECT_EQ(awaits[1].line(), middle_line);
  EXPECT_EQ(awaits[2].line(), outer_line);
  EXPECT_THAT(awaits[0].function_name(), HasSubstr("innermost_function"));
  EXPECT_THAT(awaits[1].function_name(), HasSubstr("middle_function"));
  EXPECT_THAT(awaits[2].function_name(), HasSubstr("outer_function"));
  for (const auto& await : awaits) {
    EXPECT_THAT(await.file_name(), HasSubstr("async_backtrace_test.cpp"));
  }
}

TEST(AsyncBacktrace, FollowsTheCoroutineFromAwaitToAwait) {
  Gate<> gate;
  auto future = outer_function(gate);
  EXPECT_TRUE(poll_once(future).is_pending());
  gate.open();
  EXPECT_TRUE(poll_once(future).is_pending());
  const auto awaits = awaits_of(future);
  ASSERT_EQ(awaits.size(), 3u);
  EXPECT_EQ(awaits[0].line(), innermost_line + 1);
  EXPECT_EQ(awaits[1].line(), middle_line);
}

TEST(AsyncBacktrace, OfAnUnstartedCoroutineNamesItself) {
  Gate<> gate;
  const auto future = outer_function(gate);
  const auto awaits = awaits_of(future);
  ASSERT_EQ(awaits.size(), 1u);
  EXPECT_THAT(awaits[0].function_name(), HasSubstr("outer_function"));
  EXPECT_THAT(awaits[0].file_name(), HasSubstr("async_backtrace_test.cpp"));
}

TEST(AsyncBacktrace, OfAFinishedCoroutineNamesItself) {
  Gate<> gate;
  auto future = outer_function(gate);
  EXPECT_TRUE(poll_once(future).is_pending());
  gate.open();
  EXPECT_TRUE(poll_once(future).is_pending());
  gate.open();
  EXPECT_EQ(poll_once(future).value(), "x3");
  const auto awaits = awaits_of(future);
  ASSERT_EQ(awaits.size(), 1u);
  EXPECT_EQ(awaits[0].line(), outer_line);
}

TEST(AsyncBacktrace, OfAMovedFromAsyncIsEmpty) {
  Gate<> gate;
  auto future = outer_function(gate);
  [[maybe_unused]] const auto moved = std::move(future);
  EXPECT_TRUE(awaits_of(future).empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_STREQ(future.name(), "(moved from or awaited)");
}

TEST(AsyncBacktrace, TheNameIsThatOfTheCoroutineBeforeAndAfterItsStart) {
  Gate<> gate;
  auto future = outer_function(gate);
  EXPECT_THAT(future.name(), HasSubstr("outer_function"));
  EXPECT_TRUE(poll_once(future).is_pending());
  EXPECT_THAT(future.name(), HasSubstr("outer_function"));
}

TEST(AsyncBacktrace, TheWhereOfTheRootIsItsOwnAwait) {
  Gate<> gate;
  auto future = outer_function(gate);
  EXPECT_TRUE(poll_once(future).is_pending());
  EXPECT_EQ(future.where().line(), outer_line);
}

struct Server {
  explicit Server(Gate<>& stop_gate) : stop(stop_gate) {}
  Async<> serve_forever() { co_await stop.wait(); }
  Gate<>& stop;
};

TEST(AsyncBacktrace, NamesMemberFunctions) {
  Gate<> gate;
  Server server(gate);
  auto future = server.serve_forever();
  EXPECT_TRUE(poll_once(future).is_pending());
  EXPECT_THAT(awaits_of(future).at(0).function_name(), HasSubstr("Server::serve_forever"));
}

}  // namespace
}  // namespace rouse
