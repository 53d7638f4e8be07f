#include "exec/blocking/call_blocking.hpp"

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/runtime/runtime.hpp"

namespace rouse {

using namespace internal;
namespace {

/// poll_blocking as a future.
class Polled {
 public:
  using Output = Result<int>;

  explicit Polled(JoinHandle<Result<int>> call) noexcept : call_(std::move(call)) {}
  Poll<Result<int>> poll(Context& cx) { return poll_blocking(call_, cx); }

 private:
  JoinHandle<Result<int>> call_;
};

Result<int> without_memory() { throw std::bad_alloc(); }
Result<int> wrong() { throw std::logic_error("wrong"); }

class BlockingAttempt : public ::testing::Test {
 protected:
  Runtime runtime = Runtime::builder().current_thread().build();
};

TEST_F(BlockingAttempt, ACallWithoutMemoryIsAnError) {
  const auto attempted = runtime.block_on(call_blocking(without_memory).result());
  EXPECT_EQ(attempted.error(), std::errc::not_enough_memory);
  const auto polled = runtime.block_on(Polled(runtime.spawn_blocking(without_memory)));
  EXPECT_EQ(polled.error(), std::errc::not_enough_memory);
}

TEST_F(BlockingAttempt, AnyOtherExceptionIsThrownOn) {
  EXPECT_THROW(runtime.block_on(call_blocking(wrong)), std::logic_error);
  EXPECT_THROW((void)runtime.block_on(Polled(runtime.spawn_blocking(wrong))), std::logic_error);
}

}  // namespace
}  // namespace rouse
