// What the fuzz targets of fuzz/ found.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/error.hpp"
#include "rouse/io/frame_buffer.hpp"
#include "rouse/io/lines_codec.hpp"

namespace rouse {
namespace {

/// Was sent as it is, and received without its last character.
TEST(FuzzFound, ALineThatEndsWithACarriageReturnIsRefusedInsteadOfChanged) {
  io::LinesCodec codec;
  std::vector<std::byte> output;
  EXPECT_EQ(codec.encode("abc\r", output).error(), io::Error::invalid_data);
  EXPECT_EQ(codec.encode("\r", output).error(), io::Error::invalid_data);
  EXPECT_TRUE(output.empty());
  EXPECT_TRUE(codec.encode("a\rb", output));
  EXPECT_TRUE(codec.encode("", output));
  EXPECT_EQ(output.size(), 5U);
}

Async<void> count_polls(int& polls) {
  for (;;) {
    ++polls;
    co_await yield_now();
  }
}

/// The abort was a message to the executor, which looked at it only after some polls.
TEST(FuzzFound, ATaskOfALocalExecutorThatWasAbortedBetweenTwoRunsIsNotPolledInTheSecond) {
  LocalExecutor executor;
  int polls = 0;
  auto handle = executor.spawn(count_polls, std::ref(polls));
  executor.run_until(yield_now());
  const int before = polls;
  ASSERT_GT(before, 0);
  handle.abort();
  executor.run_until(yield_now());
  EXPECT_EQ(polls, before);
  EXPECT_TRUE(handle.is_finished());
}

/// The executor takes some messages at a time; the first look must take them all.
TEST(FuzzFound, OfManyTasksThatWereAbortedBetweenTwoRunsNoneIsPolledInTheSecond) {
  LocalExecutor executor;
  int polls = 0;
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 200; ++i) handles.push_back(executor.spawn(count_polls, std::ref(polls)));
  executor.run_until(yield_now());
  const int before = polls;
  ASSERT_GT(before, 0);
  for (auto handle = handles.rbegin(); handle != handles.rend(); ++handle) handle->abort();
  executor.run_until(yield_now());
  EXPECT_EQ(polls, before);
}

}  // namespace
}  // namespace rouse
