// StaticExecutor woken from a signal handler, as from an interrupt, and asleep meanwhile. Every
// alarm is waited for before the next one is set, so one lost wake is a hang.
#include <atomic>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <gtest/gtest.h>

#include "rouse/core/atomic_waker.hpp"
#include "rouse/embedded/static_executor.hpp"

namespace {
using rouse::AtomicWaker;
using rouse::Context;
using rouse::pending;
using rouse::Poll;
using rouse::StaticExecutor;

AtomicWaker alarm_waker;
std::atomic<int> alarms{0};

void on_alarm(int) {
  alarms.fetch_add(1);
  alarm_waker.wake();
}

class SignalMask {
 public:
  SignalMask() {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before_);
  }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;
  void unmask_and_wait() const { sigsuspend(&before_); }

 private:
  sigset_t before_;
};

/// Waits for `wanted` one-shot alarms, one after the other.
class Alarms {
 public:
  using Output = void;
  Alarms(int wanted, int microseconds) : wanted_(wanted), microseconds_(microseconds) {
    alarms = 0;
    struct sigaction action{};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  ~Alarms() { sigaction(SIGALRM, &before_, nullptr); }

  Poll<> poll(Context& cx) {
    ++polls;
    alarm_waker.register_waker(cx.waker());
    const int seen = alarms.load();
    if (seen == wanted_) return Poll<>::ready();
    if (armed_ == seen) {
      ++armed_;
      itimerval once{};
      once.it_value.tv_usec = microseconds_ > 0 ? microseconds_ : 1 + seen % 40;
      setitimer(ITIMER_REAL, &once, nullptr);
    }
    return pending;
  }

  int polls = 0;

 private:
  int wanted_;
  int microseconds_;
  int armed_ = 0;
  struct sigaction before_{};
};

TEST(StaticExecutorSignals, AWakeBetweenTheLastLookAndTheSleepIsNotLost) {
  static StaticExecutor<1> executor;
  Alarms alarm(3000, 0);  // pauses of 1 to 40 us: some end on either side of the look
  ASSERT_TRUE(executor.spawn(alarm));
  executor.run([](const auto& ex) {
    const SignalMask mask;
    if (!ex.needs_run()) mask.unmask_and_wait();
  });
  EXPECT_EQ(alarm.polls, 3001);
}

TEST(StaticExecutorSignals, AnIdleExecutorUsesNoProcessorTime) {
  const auto cpu_ms = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
  };
  static StaticExecutor<8> executor;
  Alarms alarm(1, 300000);
  ASSERT_TRUE(executor.spawn(alarm));
  int idles = 0;
  const auto before = cpu_ms();
  executor.run([&idles](const auto& ex) {
    ++idles;
    const SignalMask mask;
    if (!ex.needs_run()) mask.unmask_and_wait();
  });
  EXPECT_LT(cpu_ms() - before, 100);
  EXPECT_EQ(idles, 1);
  EXPECT_EQ(alarm.polls, 2);
}
}  // namespace
