// What waits for a signal, as a dump sees it.
#include <string>

#include <gtest/gtest.h>

#include "rouse/runtime/runtime.hpp"
#include "rouse/signal/signal.hpp"

#include "support/shape_text.hpp"

namespace rouse::signal {
namespace {

class SignalShape : public ::testing::Test {
 protected:
  template <class F>
  static void expect(F future, const std::string& text) {
    Context cx(Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    const test::ShapeText shape(future);
    EXPECT_EQ(shape.text(), text);
    ASSERT_EQ(shape.leaves(), 1U);
    EXPECT_EQ(shape.kind(0), sight::Wait::descriptor);
    EXPECT_GE(shape.field<int>(0), 0);
  }

  Runtime rt = Runtime::builder().current_thread().build();
  EnterGuard inside = rt.enter();
};

TEST_F(SignalShape, ASignalIsToldThroughADescriptor) {
  Signal hangup(Kind::hangup());
  expect(hangup.recv(), "signal(descriptor)");
  expect(ctrl_c(), "ctrl_c(descriptor)");
}

}  // namespace
}  // namespace rouse::signal
