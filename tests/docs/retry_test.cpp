// The code in docs/guide/09_time.md about retries and rates.
#include <chrono>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "rouse/all.hpp"

namespace {

using namespace std::chrono_literals;

int failures_left = 2;

rouse::Async<std::string> ask_server(std::string question) {
  co_await rouse::yield_now();  // stands for the real work
  if (failures_left-- > 0)
    throw std::system_error(std::make_error_code(std::errc::connection_refused));
  co_return "the answer to " + question;
}

// [retry]
rouse::Async<std::string> ask_patiently(std::string question) {
  const auto attempt = [&] { return rouse::timeout(2s, ask_server(question)); };
  const auto policy = rouse::RetryPolicy()
                          .initial_delay(50ms)  // then at most 100 ms, 200 ms, ...
                          .max_delay(5s)
                          .max_attempts(6)
                          .max_elapsed(30s)
                          .retry_if([](const std::error_code& error) {
                            return error != std::errc::permission_denied;  // will not get better
                          });
  co_return co_await rouse::retry(attempt, policy);  // the last error, if all have failed
}
// [/retry]

// [rate_limiter]
rouse::Async<int> send_requests(rouse::RateLimiter& limiter, int count) {
  int sent = 0;
  for (int i = 0; i < count; ++i) {
    co_await limiter.acquire();  // waits for its turn, and for a token
    ++sent;                      // stands for the request
  }
  co_return sent;
}
// [/rate_limiter]

TEST(TimeGuide, RetriesAndLimitsRates) {
  auto rt = rouse::Runtime::builder().current_thread().start_paused().build();
  EXPECT_EQ(rt.block_on(ask_patiently("everything")), "the answer to everything");
  auto limited = []() -> rouse::Async<void> {
    // [make_limiter]
    rouse::RateLimiter limiter(100, 1s, 10);  // 100 a second; after a pause up to 10 at once
    // [/make_limiter]
    const auto start = rouse::time::now();
    EXPECT_EQ(co_await send_requests(limiter, 60), 60);
    EXPECT_EQ(rouse::time::now() - start, 500ms);
    EXPECT_FALSE(limiter.try_acquire());
  };
  rt.block_on(limited());
}

}  // namespace
