// Inline: a task that is polled as soon as it is woken, in the midst of the wake.
#pragma once

#include <functional>
#include <utility>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/waker.hpp"

namespace rouse::test {

class Inline {
 public:
  explicit Inline(std::function<void()> poll) : state_(make_ref<State>(std::move(poll))) {}
  [[nodiscard]] Waker waker() const { return Waker::from_raw(State::raw(state_.get())); }

 private:
  struct State : RefCounted<State> {
    explicit State(std::function<void()> fn) : poll(std::move(fn)) {}
    static RawWaker raw(const State* state) noexcept {
      state->add_ref();
      return RawWaker(state, &vtable);
    }
    static const State* from(const void* data) noexcept { return static_cast<const State*>(data); }
    static RawWaker clone(const void* data) { return raw(from(data)); }
    static void wake(const void* data) {
      wake_by_ref(data);
      drop(data);
    }
    static void wake_by_ref(const void* data) { from(data)->poll(); }
    static void drop(const void* data) { from(data)->release(); }
    static constexpr RawWakerVTable vtable{clone, wake, wake_by_ref, drop};
    std::function<void()> poll;
  };
  RefPtr<State> state_;
};

}  // namespace rouse::test
