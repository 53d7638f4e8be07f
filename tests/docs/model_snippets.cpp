// The code in docs/guide/14_model_checking.md. Part of model_tests, which is linked with
// rouse::model.
#include <gtest/gtest.h>

// [flag]
#include <rouse/base/atomic.hpp>
#include <rouse/base/cell.hpp>
#include <rouse/base/thread.hpp>
#include <rouse/core/atomic_waker.hpp>
#include <rouse/core/future.hpp>
#include <rouse/model/block_on.hpp>
#include <rouse/model/model.hpp>

/// A future that is ready once somebody has called `set`, and gives what was set.
class Flag {
 public:
  using Output = int;

  void set(int value) {
    value_.write() = value;
    is_set_.store(true, rouse::memory_order_release);
    waker_.wake();
  }
  rouse::Poll<int> poll(rouse::Context& cx) {
    waker_.register_waker(cx.waker());  // first, or a `set` in between is lost
    if (!is_set_.load(rouse::memory_order_acquire)) return rouse::pending;
    return rouse::Poll<int>::ready(value_.read());
  }

 private:
  rouse::AtomicWaker waker_;
  rouse::atomic<bool> is_set_{false};
  rouse::Cell<int> value_{0};  // guarded by is_set_
};
// [/flag]

namespace {

// [check]
TEST(Flag, WhoWaitsGetsWhatWasSet) {
  rouse::model::check([] {
    Flag flag;
    rouse::Thread other([&] { flag.set(42); });
    rouse::model::ensure(rouse::model::block_on(flag) == 42, "what was set");
    other.join();
  });
}
// [/check]

/// As Flag, but it looks before it registers.
class HastyFlag {
 public:
  using Output = void;

  void set() {
    is_set_.store(true, rouse::memory_order_release);
    waker_.wake();
  }
  // [hasty]
  rouse::Poll<void> poll(rouse::Context& cx) {
    if (is_set_.load(rouse::memory_order_acquire)) return rouse::Poll<void>::ready();
    waker_.register_waker(cx.waker());
    return rouse::pending;
  }
  // [/hasty]

 private:
  rouse::AtomicWaker waker_;
  rouse::atomic<bool> is_set_{false};
};

// [explore]
TEST(HastyFlag, ASetBetweenTheLookAndTheRegistrationIsLost) {
  const rouse::model::Report report = rouse::model::explore([] {
    HastyFlag flag;
    rouse::Thread other([&] { flag.set(); });
    rouse::model::block_on(flag);
    other.join();
  });
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->problem, rouse::model::Problem::deadlock);
}
// [/explore]

// [leave_out]
void set_and_wait() {
  Flag flag;
  rouse::Thread other([&] { flag.set(42); });
  rouse::model::ensure(rouse::model::block_on(flag) == 42, "what was set");
  other.join();
}

TEST(Flag, EachOfItsOrdersIsNeeded) {
  for (const auto& order : rouse::model::explore(set_and_wait, {.collect_orders = true}).orders) {
    if (order.find("model_snippets.cpp") == std::string::npos) continue;  // rouse's own
    EXPECT_TRUE(rouse::model::explore(set_and_wait, {.leave_out = order}).finding) << order;
  }
}
// [/leave_out]

}  // namespace
