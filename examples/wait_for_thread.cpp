// Tasks that wait for a thread: a future that is ready once the thread has reached a state. The
// thread keeps a list of wakers, each with the state it is for, and wakes the right ones when its
// state changes. Looking at the state and joining the list is one step, under one lock: a change
// between the two would be a wake that nobody gets.
// After the kernel in the texts that rouse began from, whose coroutines wait for threads this way.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>

namespace {

enum class State { ready, running, exited };  // in this order
constexpr const char* names[] = {"ready", "running", "exited"};
const char* name_of(State state) { return names[static_cast<int>(state)]; }

// [state_wakers]
/// The state of a thread, and who waits for it to change.
class Thread {
 public:
  /// A thread that has exited no longer changes its state.
  void set_state(State state) {
    std::vector<rouse::Waker> to_wake;
    {
      const std::lock_guard lock(mutex_);
      if (state_ == State::exited) return;
      state_ = state;
      std::erase_if(state_wakers_, [&](StateWaker& entry) {
        if (entry.state > state) return false;
        to_wake.push_back(std::move(entry.waker));
        return true;
      });
    }
    for (rouse::Waker& waker : to_wake) std::move(waker).wake();  // not under the lock
  }

  /// True if the thread has reached `state`; if not, `waker` is woken when it has.
  bool poll_state(State state, const void* who, const rouse::Waker& waker) {
    const std::lock_guard lock(mutex_);
    if (state_ >= state) return true;
    for (StateWaker& entry : state_wakers_) {
      if (entry.who != who) continue;
      entry.waker = waker;
      return false;
    }
    state_wakers_.push_back(StateWaker{who, state, waker});
    return false;
  }

  void forget(const void* who) {
    const std::lock_guard lock(mutex_);
    std::erase_if(state_wakers_, [&](const StateWaker& entry) { return entry.who == who; });
  }

 private:
  struct StateWaker {
    const void* who;
    State state;
    rouse::Waker waker;
  };
  std::mutex mutex_;
  State state_ = State::ready;
  std::vector<StateWaker> state_wakers_;
};
// [/state_wakers]

/// Ready once the thread has reached the state. Dropped midway, it leaves the thread's list.
class WaitForThread {
 public:
  using Output = void;

  WaitForThread(std::shared_ptr<Thread> thread, State state)
      : thread_(std::move(thread)), state_(state) {}
  WaitForThread(WaitForThread&&) = default;  // before the first poll: it is on no list yet
  ~WaitForThread() {
    if (thread_) thread_->forget(this);
  }

  rouse::Poll<void> poll(rouse::Context& cx) {
    if (thread_->poll_state(state_, this, cx.waker())) return rouse::Poll<void>::ready();
    return rouse::pending;
  }

 private:
  std::shared_ptr<Thread> thread_;
  State state_;
};

rouse::Async<void> wait(std::string name, std::shared_ptr<Thread> thread, State state) {
  std::printf("%s waits until it is %s\n", name.c_str(), name_of(state));
  co_await WaitForThread(thread, state);
  std::printf("%s: it has reached %s\n", name.c_str(), name_of(state));
}

}  // namespace

int main() {
  const auto thread = std::make_shared<Thread>();
  std::jthread worker;
  rouse::LocalExecutor executor;
  for (const char* name : {"first", "second"})
    executor.spawn(wait, name, thread, State::exited).detach();
  executor.spawn(wait, "third", thread, State::running).detach();
  auto start_worker = rouse::lazy([&] {
    worker = std::jthread([thread] {
      thread->set_state(State::running);
      thread->set_state(State::exited);
    });
  });
  executor.spawn(std::move(start_worker)).detach();
  executor.run();
  thread->set_state(State::running);  // does nothing any more
  executor.spawn(wait, "fourth", thread, State::exited).detach();
  executor.run();
}
