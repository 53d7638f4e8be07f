// The recipes of docs/cookbook.md that are about time.
#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>
#include <rouse/runtime/rate_limiter.hpp>
#include <rouse/time/retry.hpp>

namespace cookbook_time {

using namespace std::chrono_literals;

template <class F>
auto run(F future) {
  auto runtime = rouse::Runtime::builder().current_thread().start_paused().build();
  return runtime.block_on(std::move(future));
}

rouse::Async<std::string> ask(std::string server, std::chrono::milliseconds takes) {
  co_await rouse::sleep(takes);
  co_return server;
}

// [timeout]
rouse::Async<std::string> ask_or(std::string otherwise) {
  const auto answer = co_await rouse::timeout(2s, ask("far away", 5s)).result();
  co_return answer ? *answer : otherwise;  // the question was dropped: nothing runs on
}
// [/timeout]

TEST(Cookbook, Timeout) { EXPECT_EQ(run(ask_or("nobody")), "nobody"); }

// [deadline]
rouse::Async<std::string> three_steps() {
  const auto deadline = rouse::time::now() + 1s;
  std::string all;
  for (const char* server : {"a", "b", "c"}) {
    all += co_await rouse::timeout_at(deadline, ask(server, 300ms));  // throws TimedOut
  }
  co_return all;
}
// [/deadline]

TEST(Cookbook, Deadline) { EXPECT_EQ(run(three_steps()), "abc"); }

// [retry]
rouse::Async<std::string> ask_again(std::function<rouse::Async<std::string>()> attempt) {
  const auto limited = [&] { return rouse::timeout(2s, attempt()); };
  const auto policy = rouse::RetryPolicy().initial_delay(100ms).max_delay(5s).max_attempts(5);
  co_return co_await rouse::retry(limited, policy);  // the last error, if all have failed
}
// [/retry]

TEST(Cookbook, Retries) {
  int attempts = 0;
  const auto third_time = [&attempts]() -> rouse::Async<std::string> {
    if (++attempts < 3) throw std::system_error(make_error_code(std::errc::connection_refused));
    co_return "there";
  };
  EXPECT_EQ(run(ask_again(third_time)), "there");
  EXPECT_EQ(attempts, 3);
}

// [rate]
rouse::Async<std::chrono::nanoseconds> ten_requests() {
  const auto before = rouse::time::now();
  rouse::RateLimiter limiter(10, 1s, 5);  // 10 a second; after a pause up to 5 at once
  for (int i = 0; i < 10; ++i) {
    co_await limiter.acquire();
    (void)co_await ask("server", 0ms);
  }
  co_return rouse::time::now() - before;
}
// [/rate]

TEST(Cookbook, RateLimit) { EXPECT_EQ(run(ten_requests()) / 1ms, 500); }

// [debounce]
/// Calls `save` when nothing has changed for a while.
rouse::Async<void> save_when_quiet(rouse::sync::Receiver<std::string> changes,
                                   std::function<void(std::string)> save) {
  while (auto latest = co_await changes.recv()) {
    for (;;) {
      auto next = co_await rouse::timeout(500ms, changes.recv()).result();
      if (!next || !*next) break;  // quiet, or the end
      latest = std::move(*next);
    }
    save(std::move(*latest));
  }
}
// [/debounce]

rouse::Async<std::vector<std::string>> type_text() {
  std::vector<std::string> saved;
  {
    auto [tx, rx] = rouse::sync::channel<std::string>(8);
    auto saving = rouse::spawn(save_when_quiet, std::move(rx),
                               [&](std::string text) { saved.push_back(std::move(text)); });
    for (const char* text : {"h", "he", "hello"}) {
      (void)co_await tx.send(text);
      co_await rouse::sleep(100ms);
    }
    co_await rouse::sleep(1s);
    (void)co_await tx.send("bye");
    {
      const auto last = std::move(tx);
    }
    co_await saving;
  }
  co_return saved;
}

TEST(Cookbook, Debounce) {
  EXPECT_EQ(run(type_text()), (std::vector<std::string>{"hello", "bye"}));
}

// [heartbeat]
/// Copies what comes from `in`; says "ping" when nothing has come for a second.
rouse::Async<void> keep_alive(rouse::sync::Receiver<std::string> in,
                              rouse::sync::Sender<std::string> out) {
  for (;;) {
    const auto next = co_await rouse::timeout(1s, in.recv()).result();
    if (next && !*next) co_return;  // the end
    std::string text = next ? **next : "ping";
    if (!co_await out.send(std::move(text))) co_return;
  }
}
// [/heartbeat]

rouse::Async<std::string> listen_for_beats() {
  auto [tx, in] = rouse::sync::channel<std::string>(8);
  auto [out, rx] = rouse::sync::channel<std::string>(8);
  auto alive = rouse::spawn(keep_alive, std::move(in), std::move(out));
  co_await rouse::sleep(2500ms);
  (void)co_await tx.send("hello");
  {
    const auto last = std::move(tx);
  }
  std::string heard;
  while (const auto text = co_await rx.recv()) heard += *text + " ";
  co_await alive;
  co_return heard;
}

TEST(Cookbook, Heartbeat) { EXPECT_EQ(run(listen_for_beats()), "ping ping hello "); }

// [hedge]
rouse::Async<std::string> later(std::chrono::milliseconds pause, rouse::Async<std::string> asking) {
  co_await rouse::sleep(pause);
  co_return co_await std::move(asking);
}

/// Asks a second server if the first has not answered in 50 ms, a third after 100 ms. The first
/// answer wins and the other questions are dropped; an error counts only if it is the last.
rouse::Async<std::string> hedged() {
  std::vector<rouse::Async<std::string>> questions;
  questions.push_back(later(0ms, ask("slow", 900ms)));
  questions.push_back(later(50ms, ask("quick", 20ms)));
  questions.push_back(later(100ms, ask("spare", 20ms)));
  co_return co_await rouse::select_ok(std::move(questions));
}
// [/hedge]

TEST(Cookbook, HedgedRequests) { EXPECT_EQ(run(hedged()), "quick"); }

// [periodic]
rouse::Async<int> every_minute(std::function<rouse::Async<void>()> job) {
  auto minute = rouse::interval(1min);
  minute.set_missed_tick(rouse::MissedTick::skip);  // a job that takes too long skips a turn
  int runs = 0;
  for (; runs < 3; ++runs) {
    co_await minute
        .tick();  // the n-th is due n minutes after the first, however long the job takes
    co_await job();
  }
  co_return runs;
}
// [/periodic]

TEST(Cookbook, PeriodicJob) {
  std::vector<std::chrono::seconds> at;
  const auto job = [&at]() -> rouse::Async<void> {
    at.push_back(std::chrono::floor<std::chrono::seconds>(rouse::time::now().time_since_epoch()));
    co_await rouse::sleep(10s);
  };
  EXPECT_EQ(run(every_minute(job)), 3);
  EXPECT_EQ(at[1] - at[0], 60s);
  EXPECT_EQ(at[2] - at[1], 60s);
}

// [paused]
TEST(Sessions, ASessionEndsAfterAnHour) {
  auto runtime = rouse::Runtime::builder().current_thread().start_paused().build();
  auto sessions = []() -> rouse::Async<void> {
    rouse::DelayQueue<std::string> open;
    open.insert("Ann", 1h);
    const auto before = rouse::time::now();
    const auto ended = co_await open.next();  // the clock jumps: this takes no time
    EXPECT_EQ(*ended, "Ann");
    EXPECT_GE(rouse::time::now() - before, 1h);
  };
  runtime.block_on(sessions());
}
// [/paused]

}  // namespace cookbook_time
