// The code in docs/guide/09_time.md that is in no example.
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace time_guide {

rouse::Runtime paused_runtime() {
  return rouse::Runtime::builder().current_thread().start_paused().build();
}

// [sleep]
using namespace std::chrono_literals;

rouse::Async<int> retry_three_times(int (*attempt)()) {
  for (auto pause = 100ms;; pause *= 2) {
    const int result = attempt();
    if (result >= 0 || pause > 400ms) co_return result;
    co_await rouse::sleep(pause);  // other tasks run meanwhile
  }
}
// [/sleep]

TEST(TimeGuide, Sleep) {
  const auto before = rouse::time::now();
  EXPECT_EQ(paused_runtime().block_on(retry_three_times([] { return -1; })), -1);
  EXPECT_LT(rouse::time::now() - before, 10s);
}

// [timeout]
rouse::Async<std::string> ask(std::chrono::milliseconds takes) {
  co_await rouse::sleep(takes);
  co_return "42";
}

rouse::Async<std::string> ask_in_time() {
  try {
    co_return co_await rouse::timeout(2s, ask(500ms));
  } catch (const rouse::TimedOut&) {
    co_return "no answer";
  }
}

rouse::Async<bool> answers() {
  const rouse::Result<std::string> answer = co_await rouse::timeout(2s, ask(5000ms)).result();
  if (!answer) {
    EXPECT_EQ(answer.error(), std::errc::timed_out);
  }
  co_return answer.has_value();
}
// [/timeout]

TEST(TimeGuide, Timeout) {
  EXPECT_EQ(paused_runtime().block_on(ask_in_time()), "42");
  EXPECT_FALSE(paused_runtime().block_on(answers()));
}

// [deadline]
rouse::Async<std::size_t> ask_all(std::vector<std::chrono::milliseconds> servers) {
  const auto deadline = rouse::time::now() + 1s;  // for all of them together
  std::size_t answers = 0;
  for (const auto takes : servers) {
    if (co_await rouse::timeout_at(deadline, ask(takes)).result()) ++answers;
  }
  co_return answers;
}
// [/deadline]

TEST(TimeGuide, Deadline) {
  EXPECT_EQ(paused_runtime().block_on(ask_all({400ms, 400ms, 400ms, 100ms})), 2U);
}

// [interval]
rouse::Async<int> count_ticks(rouse::time::Instant until) {
  rouse::Interval every = rouse::interval(250ms);
  every.set_missed_tick(rouse::MissedTick::skip);
  int ticks = 0;
  while (co_await every.tick() < until) ++ticks;  // the first one at once
  co_return ticks;
}
// [/interval]

TEST(TimeGuide, Interval) {
  auto main = []() -> rouse::Async<int> {
    co_return co_await count_ticks(rouse::time::now() + 1s);
  };
  EXPECT_EQ(paused_runtime().block_on(main()), 4);
}

// [reset]
/// Ends when nothing was heard for 30 seconds.
class Watchdog {
 public:
  void heard() { idle_.reset(rouse::time::now() + 30s); }
  rouse::Async<void> bite() {
    co_await rouse::poll_fn([this](auto& cx) { return idle_.poll(cx); });
  }

 private:
  rouse::Sleep idle_ = rouse::sleep(30s);
};
// [/reset]

TEST(TimeGuide, Reset) {
  auto main = []() -> rouse::Async<void> {
    const auto begin = rouse::time::now();
    Watchdog dog;
    const auto speak = [](Watchdog& to) -> rouse::Async<void> {
      co_await rouse::sleep(20s);
      to.heard();
    };
    co_await rouse::join(dog.bite(), speak(dog));
    EXPECT_EQ(rouse::time::now() - begin, 50s);
  };
  paused_runtime().block_on(main());
}

// [delay_queue]
rouse::Async<std::vector<std::string>> expire() {
  rouse::DelayQueue<std::string> sessions;
  const auto ann = sessions.insert("ann", 30min);
  const auto bob = sessions.insert("bob", 30min);
  sessions.insert("eve", 5min);
  sessions.reset(ann, 60min);  // she came back
  sessions.remove(bob);        // he said good-bye

  std::vector<std::string> gone;
  while (auto name = co_await sessions.next()) gone.push_back(*std::move(name));
  co_return gone;
}
// [/delay_queue]

TEST(TimeGuide, DelayQueue) {
  EXPECT_EQ(paused_runtime().block_on(expire()), (std::vector<std::string>{"eve", "ann"}));
}

TEST(TimeGuide, Paused) {
  // [paused]
  auto rt = rouse::Runtime::builder().current_thread().start_paused().build();
  auto test = []() -> rouse::Async<void> {
    const auto begin = rouse::time::now();
    co_await rouse::sleep(24h);  // everybody waits: the clock jumps
    EXPECT_EQ(rouse::time::now() - begin, 24h);
    co_await rouse::time::advance(1h);  // the clock goes on at once
    EXPECT_EQ(rouse::time::now() - begin, 25h);
  };
  rt.block_on(test());  // takes less than a millisecond
  // [/paused]
}

TEST(TimeGuide, EnterGuard) {
  // [enter]
  rouse::Runtime rt;
  const auto here = rt.enter();
  rouse::block_on(rouse::sleep(1ms));  // this thread looks after the timer itself
  // [/enter]
}

}  // namespace time_guide
