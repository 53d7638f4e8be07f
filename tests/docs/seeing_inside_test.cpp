// The code in docs/guide/17_seeing_inside.md that is in no example.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rouse/rouse.hpp>
#include <rouse/sight.hpp>

namespace seeing_inside_guide {

using namespace std::chrono_literals;

// [mended]
/// What one task waits for and any thread rings.
class Bell {
 public:
  class Ring {
   public:
    ROUSE_SHAPE(Ring, "bell", notify, &Ring::bell_)
    using Output = void;
    explicit Ring(Bell& bell) : bell_(&bell) {}

    rouse::Poll<void> poll(rouse::Context& cx) {
      bell_->waiter_.register_waker(cx.waker());  // first, or a ring in between is lost
      if (bell_->has_rung_.load()) return rouse::Poll<void>::ready();
      return rouse::pending;
    }

   private:
    Bell* bell_;
  };

  Ring rings() { return Ring(*this); }
  void ring() {
    has_rung_.store(true);
    waiter_.wake();
  }

 private:
  std::atomic<bool> has_rung_{false};
  rouse::AtomicWaker waiter_;
};
// [/mended]

// [slow]
/// Polls of 10 ms and more are told on standard error, while what it gives lives.
rouse::sight::Sight watch_polls() {
  return rouse::sight::start(rouse::sight::Options().slow_poll(10ms));
}

/// Or a function gets them, on the thread of sight.
rouse::sight::Sight count_slow_polls(std::atomic<int>* count) {
  return rouse::sight::start(
      rouse::sight::Options().on_slow_poll([count](const rouse::sight::SlowPoll& poll) {
        *count += 1;
        std::puts(poll.text().c_str());
      }));
}
// [/slow]

// [node]
/// Ready when one of the two is.
template <class A, class B>
class Either {
 public:
  ROUSE_SHAPE(Either, "either", any_of, &Either::first_, &Either::second_)
  using Output = void;
  Either(A first, B second) : first_(std::move(first)), second_(std::move(second)) {}

  rouse::Poll<void> poll(rouse::Context& cx) {
    if (first_.poll(cx).is_ready()) return rouse::Poll<void>::ready();
    return second_.poll(cx);
  }

 private:
  A first_;
  B second_;
};

rouse::Async<void> answer_the_door(Bell* bell) { co_await Either(bell->rings(), rouse::sleep(1h)); }
// [/node]

/// What is seen of it once it waits, by a task of the same runtime.
rouse::Async<std::string> seen(Bell* bell) {
  auto task = rouse::spawn(answer_the_door, bell);
  co_await rouse::yield_now();
  auto text = rouse::sight::dump().text();
  bell->ring();
  co_await task;
  co_return text;
}

TEST(SeeingInsideGuide, AFutureSaysWhatItWaitsFor) {
  Bell bell;
  auto rt = rouse::Runtime::builder().current_thread().build();
  const std::string text = rt.block_on(seen(&bell));
  EXPECT_THAT(text, testing::ContainsRegex("  waits for either, one of\n"
                                           "    - waits for bell 0x[0-9a-f]+\n"
                                           "    - waits for sleep, for another 3[0-9.]+ s\n"
                                           "  at .*answer_the_door"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("NOBODY")));
}

// [lint]
TEST(Door, IsNotStuck) {
  Bell bell;
  rouse::Runtime rt;
  auto task = rt.spawn(answer_the_door, &bell);
  std::this_thread::sleep_for(10ms);  // it waits by now
  for (const rouse::sight::Stuck& stuck : rouse::sight::find_stuck()) ADD_FAILURE() << stuck.text;
}
// [/lint]

class Forgetful {
 public:
  using Output = void;
  rouse::Poll<void> poll(rouse::Context&) { return rouse::pending; }
};
rouse::Async<void> wait_in_vain() { co_await Forgetful(); }
rouse::Async<std::size_t> stuck_in_vain() {
  auto task = rouse::spawn(wait_in_vain);
  co_await rouse::yield_now();
  const std::size_t stuck = rouse::sight::find_stuck().size();
  task.abort();
  co_return stuck;
}

// [on_stuck]
/// Once a second, while what it gives lives.
rouse::sight::Sight tell_of_stuck_tasks(std::function<void(std::string)> alarm) {
  return rouse::sight::start(rouse::sight::Options().on_stuck(
      [alarm](const rouse::sight::Stuck& stuck) { alarm(stuck.text); }));
}
// [/on_stuck]

TEST(SeeingInsideGuide, AStuckTaskIsTold) {
  std::promise<std::string> told;
  rouse::Runtime rt;
  auto task = rt.spawn(wait_in_vain);
  const auto sight = tell_of_stuck_tasks([&](std::string text) { told.set_value(text); });
  EXPECT_THAT(told.get_future().get(), testing::HasSubstr("NOBODY CAN WAKE IT"));
  task.abort();
}

TEST(SeeingInsideGuide, ALostWakerIsFound) {
  auto rt = rouse::Runtime::builder().current_thread().build();
  EXPECT_EQ(rt.block_on(stuck_in_vain()), 1U);
}

// [signal]
/// While what it gives lives, `kill -QUIT PID` writes a dump to standard error.
rouse::sight::Sight watch() {
  return rouse::sight::start(rouse::sight::Options().dump_on_signal(SIGQUIT));
}
// [/signal]

// [record]
/// While what it gives lives, each thread remembers its last events.
rouse::sight::Sight record(const std::string& folder) {
  return rouse::sight::start(rouse::sight::Options()
                                 .record()
                                 .trace_on_slow_poll(folder + "/slow.json")
                                 .trace_on_failure(folder + "/failure.json"));
}

rouse::Result<void> save_trace(const std::string& folder) {
  return rouse::sight::write_trace(folder + "/trace.json");
}
// [/record]

// [spans]
rouse::Async<int> look_up(int key) {
  rouse::sight::event("cache miss", {{"key", key}});
  co_await rouse::yield_now();
  co_return 2 * key;
}

rouse::Async<int> answer(std::string peer) {
  co_return co_await rouse::sight::in_span("request", look_up(21), {{"peer", peer}, {"try", 1}});
}
// [/spans]

// [caller]
rouse::Async<std::string> forward(std::string traceparent) {
  const auto call = []() -> rouse::Async<std::string> {
    const auto trace = rouse::sight::current_trace();
    co_return trace ? trace->to_string() : "";  // the header of a request that it makes
  };
  if (const auto caller = rouse::sight::TraceContext::parse(traceparent)) {
    co_return co_await rouse::sight::in_span("call", call(), {}, *caller);
  }
  co_return co_await rouse::sight::in_span("call", call());
}
// [/caller]

TEST(SeeingInsideGuide, ATraceHasSpans) {
  std::string folder = (std::filesystem::temp_directory_path() / "rouse_guide_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    const auto recording = record(folder);
    EXPECT_EQ(rouse::block_on(answer("127.0.0.1")), 42);
    EXPECT_TRUE(save_trace(folder));
  }
  std::ifstream file(folder + "/trace.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, testing::HasSubstr("cache miss"));
  EXPECT_THAT(text, testing::HasSubstr("127.0.0.1"));
  std::filesystem::remove_all(folder);
}

TEST(SeeingInsideGuide, ATraceparentIsPassedOn) {
  const std::string caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(rouse::block_on(forward(caller)), caller);
  EXPECT_EQ(rouse::block_on(forward("nonsense")), "");
}

TEST(SeeingInsideGuide, ASignalAsksForADump) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const int standard_error = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  std::array<char, 4096> text{};
  {
    const rouse::sight::Sight sight = watch();
    kill(getpid(), SIGQUIT);
    EXPECT_GT(read(ends[0], text.data(), text.size() - 1), 0);
  }
  dup2(standard_error, STDERR_FILENO);
  close(standard_error);
  EXPECT_THAT(text.data(), testing::HasSubstr("task"));
  for (const int end : ends) close(end);
}

// [page]
/// While what it gives lives, `rouse-top PID` shows this program.
rouse::sight::Sight be_seen() { return rouse::sight::start(rouse::sight::Options().socket()); }
// [/page]

TEST(SeeingInsideGuide, ASocketIsOpened) {
  const std::string path = be_seen().socket_path();
  EXPECT_THAT(path, testing::EndsWith("/" + std::to_string(getpid()) + ".sock"));
  EXPECT_NE(access(path.c_str(), F_OK), 0);  // it ended with the Sight
}

// [from_environment]
void run_server() {
  const auto sight = rouse::sight::from_environment();  // nothing, unless ROUSE_SIGHT says so
  rouse::Runtime rt;
  rt.block_on(rouse::sleep(1ms));  // what the program is there for
}
// [/from_environment]

TEST(SeeingInsideGuide, WithoutTheVariableNothingIsStarted) { run_server(); }

// [ask]
void show_tasks() {
  const rouse::sight::Report report = rouse::sight::dump();
  std::puts(report.text().c_str());
  std::printf("%zu tasks\n", report.tasks());
}

rouse::Result<void> write_tasks(int fd) {
  return rouse::sight::dump_to(fd, rouse::sight::Format::folded);
}
// [/ask]

TEST(SeeingInsideGuide, ADumpIsAskedFor) {
  rouse::Runtime rt;
  show_tasks();
  EXPECT_TRUE(write_tasks(1));
}

// [metrics]
/// While what it gives lives, each poll is measured.
rouse::sight::Sight measure_polls() { return rouse::sight::start(rouse::sight::Options().watch()); }

/// What GET /metrics answers.
std::string metrics_page() {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\n"
         "Content-Type: text/plain; version=0.0.4\r\n\r\n" +
         rouse::sight::metrics_text();
}
// [/metrics]

TEST(SeeingInsideGuide, MetricsAreServed) {
  const rouse::sight::Sight sight = measure_polls();
  rouse::LocalExecutor executor;
  executor.run_until(rouse::yield_now());
  EXPECT_THAT(metrics_page(), testing::HasSubstr("rouse_poll_seconds_count{pool=\""));
}

}  // namespace seeing_inside_guide
