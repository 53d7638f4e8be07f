// A firmware: hand-written futures on a StaticExecutor, compiled without a hosted library and
// linked with neither libstdc++ nor librouse. It checks its own results and returns 0 if all are
// right. The timer is one-shot and armed anew by the task that waits for it: one lost wake and the
// program hangs, which its time limit in ctest reports.
#include <cstddef>
#include <cstdint>

#include "rouse/core/atomic_waker.hpp"
#include "rouse/embedded/static_executor.hpp"

#include "freestanding_platform.hpp"
#include "freestanding_sync.hpp"

namespace {
using rouse::Context;
using rouse::pending;
using rouse::Poll;

/// A state machine that yields between its steps.
class Counter {
 public:
  using Output = void;
  constexpr explicit Counter(int steps) noexcept : steps_(steps) {}

  Poll<> poll(Context& cx) noexcept {
    if (count_ == steps_) return Poll<>::ready();
    ++count_;
    cx.waker().wake_by_ref();
    return pending;
  }
  int count() const noexcept { return count_; }

 private:
  int steps_;
  int count_ = 0;
};

/// What the timer's interrupt handler and the tasks share.
struct Ticker {
  rouse::AtomicWaker waker;
  rouse::atomic<std::uint32_t> ticks{0};
};
constinit Ticker ticker;

void on_timer() noexcept {
  // ORDER: release; a task that sees the tick sees what the handler did before it.
  ticker.ticks.fetch_add(1, rouse::memory_order_release);
  ticker.waker.wake();
}

/// Waits for `wanted` interrupts, one after the other, with ever different pauses.
class Ticks {
 public:
  using Output = void;
  constexpr explicit Ticks(std::uint32_t wanted) noexcept : wanted_(wanted) {}

  Poll<> poll(Context& cx) noexcept {
    ++polls_;
    ticker.waker.register_waker(cx.waker());
    // ORDER: acquire; pairs with on_timer.
    const std::uint32_t seen = ticker.ticks.load(rouse::memory_order_acquire);
    if (seen == wanted_) return Poll<>::ready();
    if (armed_ == seen) {
      ++armed_;
      platform_start_timer(on_timer, 1 + seen % 50);
    }
    return pending;
  }
  std::uint32_t polls() const noexcept { return polls_; }

 private:
  std::uint32_t wanted_;
  std::uint32_t armed_ = 0;
  std::uint32_t polls_ = 0;
};

/// One value from one task to another.
class Mailbox {
 public:
  class Receive {
   public:
    using Output = int;
    constexpr explicit Receive(Mailbox& box) noexcept : box_(box) {}
    Poll<int> poll(Context& cx) noexcept {
      box_.waker_.register_waker(cx.waker());
      if (!box_.full_) return pending;
      return Poll<int>::ready(box_.value_);
    }

   private:
    Mailbox& box_;
  };

  void send(int value) noexcept {
    value_ = value;
    full_ = true;
    waker_.wake();
  }

 private:
  rouse::AtomicWaker waker_;
  bool full_ = false;
  int value_ = 0;
};

/// Ready when both are; keeps their values.
template <rouse::Future A, rouse::Future B>
class Join {
 public:
  using Output = void;
  constexpr Join(A a, B b) noexcept : a_(a), b_(b) {}

  Poll<> poll(Context& cx) noexcept {
    if (first.is_pending()) first = a_.poll(cx);
    if (second.is_pending()) second = b_.poll(cx);
    return first.is_ready() && second.is_ready() ? Poll<>::ready() : Poll<>(pending);
  }

  Poll<rouse::output_t<A>> first = pending;
  Poll<rouse::output_t<B>> second = pending;

 private:
  A a_;
  B b_;
};

/// Counts to three, fills the mailbox of another task, and spawns a third as soon as there is room.
class Sender {
 public:
  using Output = void;
  constexpr Sender(rouse::StaticExecutor<4>& executor, Mailbox& box, Counter& next) noexcept
      : executor_(executor), box_(box), next_(next) {}

  Poll<> poll(Context& cx) noexcept {
    if (!sent_) {
      if (delay_.poll(cx).is_pending()) return pending;
      box_.send(42);
      sent_ = true;
    }
    if (executor_.spawn(next_)) return Poll<>::ready();
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  rouse::StaticExecutor<4>& executor_;
  Mailbox& box_;
  Counter& next_;
  Counter delay_{3};
  bool sent_ = false;
};

constexpr std::uint32_t tick_count = 2000;
constinit rouse::StaticExecutor<4> executor;
constinit Mailbox mailbox;
constinit Counter counter(1000);
constinit Counter late_counter(7);
constinit Ticks ticks(tick_count);
constinit Join both(Mailbox::Receive(mailbox), Counter(5));
constinit Sender sender(executor, mailbox, late_counter);

void print(const char* text) noexcept {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  platform_write(text, size);
}

bool check(bool condition, const char* what) noexcept {
  print(condition ? "ok      " : "FAILED  ");
  print(what);
  print("\n");
  return condition;
}
}  // namespace

int firmware_main() noexcept {
  bool ok = check(executor.spawn(counter) && executor.spawn(ticks) && executor.spawn(both),
                  "three tasks are spawned");
  ok &= check(executor.spawn(sender) && !executor.spawn(late_counter), "the fifth finds no room");
  ok &= check(executor.live() == 4, "four are live");

  std::uint32_t sleeps = 0;
  executor.run([&sleeps](const auto& ex) {
    platform_mask_interrupts();
    if (!ex.needs_run()) {
      ++sleeps;
      platform_wait_for_interrupt();
    }
    platform_unmask_interrupts();
  });

  ok &= check(executor.live() == 0, "all have ended");
  ok &= check(counter.count() == 1000, "the counter took every step");
  ok &= check(late_counter.count() == 7, "a task spawned by a task ran");
  ok &= check(ticks.polls() == tick_count + 1, "every tick caused one poll");
  ok &= check(both.first.value() == 42 && both.second.is_ready(), "the join has both results");
  ok &= check(sleeps > 0 && sleeps <= tick_count, "the idle executor slept, at most once a tick");
  ok &= check(notify_works(), "two tasks notify each other");
  ok &= check(mutex_works(), "three tasks take turns");
  ok &= check(barrier_works(), "three tasks wait for each other");
  ok &= check(once_cell_works(), "a value is made once");
  return ok ? 0 : 1;
}
