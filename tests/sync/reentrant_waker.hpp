// ReentrantWaker: a waker that calls a function whenever it is cloned, woken or dropped. If that
// function uses the primitive which handles the waker, a waker handled under the primitive's lock
// shows as a deadlock.
#pragma once

#include <functional>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/waker.hpp"

namespace rouse::test {

class ReentrantWaker {
 public:
  explicit ReentrantWaker(std::function<void()> enter)
      : state_(make_ref<State>(std::move(enter))),
        waker_(Waker::from_raw(State::raw(state_.get()))) {}
  ReentrantWaker(const ReentrantWaker&) = delete;
  ReentrantWaker& operator=(const ReentrantWaker&) = delete;

  [[nodiscard]] const Waker& waker() const noexcept { return waker_; }
  [[nodiscard]] int clones() const noexcept { return state_->clones; }
  [[nodiscard]] int wakes() const noexcept { return state_->wakes; }
  [[nodiscard]] int drops() const noexcept { return state_->drops; }

 private:
  struct State : RefCounted<State> {
    explicit State(std::function<void()> fn) : enter(std::move(fn)) {}

    /// What `enter` does to wakers enters no further.
    void call() const {
      if (std::exchange(inside, true)) return;
      enter();
      inside = false;
    }
    static RawWaker raw(const State* state) noexcept {
      state->add_ref();
      return RawWaker(state, &vtable);
    }
    static const State* from(const void* data) noexcept { return static_cast<const State*>(data); }
    static RawWaker clone(const void* data) {
      ++from(data)->clones;
      from(data)->call();
      return raw(from(data));
    }
    static void wake(const void* data) {
      wake_by_ref(data);
      drop(data);
    }
    static void wake_by_ref(const void* data) {
      ++from(data)->wakes;
      from(data)->call();
    }
    static void drop(const void* data) {
      ++from(data)->drops;
      from(data)->call();
      from(data)->release();
    }
    static constexpr RawWakerVTable vtable{clone, wake, wake_by_ref, drop};

    std::function<void()> enter;
    mutable bool inside = false;
    mutable int clones = 0;
    mutable int wakes = 0;
    mutable int drops = 0;
  };

  RefPtr<State> state_;
  Waker waker_;
};

}  // namespace rouse::test
