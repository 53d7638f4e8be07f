// Where: messages that end the program, and exceptions, name the user's lines, the task and its
// awaits.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/rouse.hpp"

namespace rouse {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// --- A failed assertion. ---

constexpr unsigned blocking_line = __LINE__ + 2;
Async<void> blocks_in_a_task() {
  co_await yield_now();
  block_on(ready(1));
}
constexpr unsigned session_line = __LINE__ + 1;
Async<void> session() { co_await blocks_in_a_task(); }

std::string at(unsigned line) { return "where_test.cpp:" + std::to_string(line) + " .*"; }

TEST(WhereDeathTest, AFailedAssertionNamesTheTaskAndItsAwaits) {
  const std::string expected =
      "a blocking call inside a task(.|\n)*in: block_on\n(.|\n)*in task [0-9]+ "
      "\"chat\", spawned at .*where_test.cpp.*\n.*awaits.*\n.*" +
      at(blocking_line) + "blocks_in_a_task.*\n.*" + at(session_line) + "session";
  EXPECT_DEATH(
      {
        Runtime rt = Runtime::builder().worker_threads(1).build();
        rt.block_on(task::Builder().name("chat").spawn_on(rt.spawner(), session));
      },
      expected);
}

TEST(WhereDeathTest, SoDoesOneInsideBlockOnOfARuntimeAndWithoutOne) {
  EXPECT_DEATH(Runtime().block_on(session()), at(blocking_line) + "(.|\n)*" + at(session_line));
  const auto sleeps = []() -> Async<void> { co_await sleep(1ms); };
  EXPECT_DEATH(block_on(sleeps()), "runtime(.|\n)*awaits, the last first:\n.*where_test.cpp");
}

TEST(WhereDeathTest, OneInADestructorOfACancelledTaskNamesWhoIsLeft) {
  struct Blocks {
    ~Blocks() { block_on(ready(1)); }
  };
  const auto inner = []() -> Async<void> {
    const Blocks blocks;
    co_await pending_forever<void>();
  };
  const auto outer = [inner]() -> Async<void> { co_await inner(); };
  EXPECT_DEATH(
      {
        Runtime rt = Runtime::builder().current_thread().build();
        auto task = rt.spawn(outer);
        rt.block_on(yield_now());
        task.abort();
        rt.block_on(yield_now());
      },
      "a blocking call inside a task(.|\n)*in task(.|\n)*where_test.cpp");
}

Async<int> forgets_to_return(bool returns) {
  if (returns) co_return 1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
}
#pragma GCC diagnostic pop

TEST(WhereDeathTest, ACoroutineWithoutCoReturnIsNamed) {
  EXPECT_EQ(block_on(forgets_to_return(true)), 1);
  EXPECT_DEATH(block_on(forgets_to_return(false)),
               "ended without a result(.|\n)*forgets_to_return");
  const auto awaits = []() -> Async<int> { co_return co_await forgets_to_return(false); };
  EXPECT_DEATH(block_on(awaits()), "ended without a result(.|\n)*forgets_to_return");
}

// --- An exception. ---

constexpr unsigned throwing_line = __LINE__ + 2;
Async<int> throws_at(int key) {
  co_await yield_now();
  throw std::out_of_range("no key " + std::to_string(key));
}
constexpr unsigned asking_line = __LINE__ + 1;
Async<int> asks(int key) { co_return 1 + co_await throws_at(key); }

std::vector<unsigned> lines_of(const std::exception_ptr& error) {
  std::vector<unsigned> lines;
  for (const std::source_location& place : trace_of(error)) {
    EXPECT_THAT(place.file_name(), HasSubstr("where_test.cpp"));
    lines.push_back(place.line());
  }
  return lines;
}

template <class F>
std::vector<unsigned> lines_thrown_by(F&& throwing) {
  try {
    throwing();
  } catch (...) {
    return lines_of(std::current_exception());
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Where, AnExceptionKnowsTheCoroutinesItLeft) {
  EXPECT_EQ(lines_thrown_by([] { block_on(asks(1)); }), (std::vector{throwing_line, asking_line}));
  Runtime rt;
  EXPECT_EQ(lines_thrown_by([&] { rt.block_on(asks(2)); }),
            (std::vector{throwing_line, asking_line}));
}

constexpr unsigned joining_line = __LINE__ + 1;
Async<int> joins_a_task() { co_return co_await spawn(asks, 3); }
constexpr unsigned timing_line = __LINE__ + 1;
Async<int> has_a_timeout() { co_return co_await timeout(1h, joins_a_task()); }
constexpr unsigned both_line = __LINE__ + 1;
Async<void> does_two_things() { co_await join(has_a_timeout(), ready(1)); }
constexpr unsigned forking_line = __LINE__ + 1;
Async<void> forks() { co_await parallel(does_two_things(), does_two_things()); }

TEST(Where, ItKnowsThemAcrossTasksTimeoutsAndBranches) {
  for (int workers = 1; workers <= 3; ++workers) {
    Runtime rt = Runtime::builder().worker_threads(static_cast<unsigned>(workers)).build();
    EXPECT_EQ(lines_thrown_by([&] { rt.block_on(forks()); }),
              (std::vector{throwing_line, asking_line, joining_line, timing_line, both_line,
                           forking_line}));
  }
}

TEST(Where, OneThatWasHandledSaysNothingOfTheNext) {
  // Of one type and size, so that the second is likely to have the address of the first.
  constexpr unsigned last_await = __LINE__ + 4;
  const auto recovers = []() -> Async<int> {
    bool has_failed = false;
    try {
      co_await throws_at(1);
    } catch (const std::out_of_range&) {
      has_failed = true;
    }
    if (has_failed) throw std::out_of_range("no key 2");
    co_return 0;
  };
  EXPECT_EQ(lines_thrown_by([&] { block_on(recovers()); }), std::vector{last_await});
}

TEST(Where, OneThatLeftNoCoroutineHasNoTrace) {
  EXPECT_THAT(lines_thrown_by([] { block_on(asks(1)); }), ::testing::SizeIs(2));
  EXPECT_THAT(lines_thrown_by([] { throw std::out_of_range("no key 1"); }), ::testing::IsEmpty());
  const auto throwing_leaf = [] {
    return poll_fn([](Context&) -> Poll<int> { throw std::out_of_range("no key 1"); });
  };
  EXPECT_THAT(lines_thrown_by([&] { block_on(throwing_leaf()); }), ::testing::IsEmpty());
  constexpr unsigned await_line = __LINE__ + 2;
  const auto awaits_leaf = [&]() -> Async<int> {
    co_return std::get<1>(co_await join(throwing_leaf(), ready(1)));
  };
  EXPECT_EQ(lines_thrown_by([&] { block_on(awaits_leaf()); }), std::vector{await_line});
}

TEST(Where, ADetachedTaskReportsThem) {
  std::vector<unsigned> lines;
  {
    LocalExecutor executor;
    executor.on_unhandled(
        [&](const UnhandledException& unhandled) { lines = lines_of(unhandled.exception); });
    executor.spawn(asks, 4).detach();
    executor.run();
  }
  EXPECT_EQ(lines, (std::vector{throwing_line, asking_line}));
}

TEST(WhereDeathTest, TheReportOnStderrNamesThem) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of a child process without other threads
  const auto reports = [] {
    LocalExecutor executor;
    executor.spawn(asks, 4).detach();
    executor.run();
    std::exit(3);
  };
  EXPECT_EXIT(reports(), ::testing::ExitedWithCode(3),
              "nobody joined: no key 4\n.*thrown after .*" + at(throwing_line) +
                  "throws_at.*\n.*awaited at .*" + at(asking_line) + "asks");
  const auto main_throws = [] { std::exit(run(asks, 5)); };  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EXIT(main_throws(), ::testing::ExitedWithCode(1),
              "main task ended with an exception: no key 5\n.*" + at(throwing_line) + "(.|\n)*" +
                  at(asking_line));
}

TEST(Where, DeepChainsKeepTheInnermost) {
  struct Deep {
    static Async<int> down(int depth) {
      if (depth == 0) co_return co_await throws_at(0);
      co_return co_await down(depth - 1);
    }
  };
  const auto lines = lines_thrown_by([] { block_on(Deep::down(100)); });
  ASSERT_EQ(lines.size(), 16U);
  EXPECT_EQ(lines[0], throwing_line);
}

// --- Timeouts. ---

TEST(Where, NestedTimeoutsAreToldApart) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  const unsigned inner_line = __LINE__ + 2;
  const auto nested = [](std::chrono::milliseconds outer) -> Async<void> {
    auto inner = timeout(50ms, pending_forever<void>());
    co_await timeout(outer, std::move(inner));
  };
  const auto line_of = [&](std::chrono::milliseconds outer) -> unsigned {
    try {
      rt.block_on(nested(outer));
    } catch (const TimedOut& e) {
      EXPECT_EQ(e.code(), std::errc::timed_out);
      EXPECT_THAT(e.what(), HasSubstr("where_test.cpp:" + std::to_string(e.where().line())));
      return e.where().line();
    }
    return 0;
  };
  EXPECT_EQ(line_of(100ms), inner_line);
  EXPECT_EQ(line_of(10ms), inner_line + 1);
}

TEST(Where, AnErrorOfTheFutureIsNoTimedOut) {
  const auto refused = []() -> AsyncResult<int> { co_return std::errc::timed_out; };
  Runtime rt;
  try {
    rt.block_on(timeout(1h, refused()));
    FAIL();
  } catch (const TimedOut&) {
    FAIL() << "its own error";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::timed_out);
  }
}

}  // namespace
}  // namespace rouse
