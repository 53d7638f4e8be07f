// What waits for a thread, as a dump sees it.
#include <semaphore>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/thread/thread.hpp"

#include "support/shape_text.hpp"

namespace rouse::thread {
namespace {

TEST(ThreadShape, AJoinWaitsForWhatTheThreadSends) {
  std::binary_semaphore may_end{0};
  auto joining = thread::spawn([&] { may_end.acquire(); }).join();
  Context cx(Waker::noop());
  EXPECT_TRUE(joining.poll(cx).is_pending());
  const test::ShapeText shape(joining);
  EXPECT_EQ(shape.text(), "thread(oneshot)");
  EXPECT_EQ(shape.kind(0), sight::Wait::receive);
  EXPECT_NE(shape.field<const void*>(0), nullptr);
  may_end.release();
  block_on(joining);
}

}  // namespace
}  // namespace rouse::thread
