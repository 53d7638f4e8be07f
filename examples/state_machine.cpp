// A future is a state machine that somebody polls. This one is written by hand: each poll does one
// step and says whether that was the last. `poll` is called by hand, too, so that nothing is
// hidden: no executor, no coroutine, and a waker that does nothing. After "Future" and
// "async/await" of the texts that rouse began from.
#include <chrono>
#include <cstdio>
#include <thread>

#include <rouse/core/future.hpp>

#include "support/scale.hpp"

namespace {

// [my_future]
class MyFuture {
 public:
  using Output = const char*;

  rouse::Poll<const char*> poll(rouse::Context& cx) {
    switch (state_) {
      case State::start:
        std::puts("Start");
        std::puts("Yielded: Start -> Middle");
        state_ = State::middle;
        break;
      case State::middle:
        std::puts("Middle");
        std::puts("Yielded: Middle -> End");
        state_ = State::end;
        break;
      case State::end:
        std::puts("End");
        return rouse::Poll<const char*>::ready("finished");
    }
    cx.waker().wake_by_ref();  // pending, but it can go on at once
    return rouse::pending;
  }

 private:
  enum class State { start, middle, end };
  State state_ = State::start;
};
static_assert(rouse::Future<MyFuture>);
// [/my_future]

}  // namespace

int main(int argc, char** argv) {
  const Scale scale(argc, argv);
  // [poll_by_hand]
  MyFuture future;
  rouse::Context cx(rouse::Waker::noop());
  for (int polls = 1;; ++polls) {
    std::puts("loop...");
    const auto poll = future.poll(cx);
    if (poll.is_ready()) {
      std::printf("Coroutine returned: %d poll=Ready(\"%s\")\n", polls, poll.value());
      break;
    }
    std::printf("Coroutine yielded: %d poll=Pending\n", polls);
    std::this_thread::sleep_for(scale(std::chrono::seconds(2)));
  }
  // [/poll_by_hand]
}
