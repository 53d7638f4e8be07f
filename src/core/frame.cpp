#include "rouse/core/internal/frame.hpp"

#include <cstdio>
#include <exception>

#include "rouse/base/internal/construct.hpp"

#include "core/exception_trace.hpp"

namespace rouse::internal {

const char same_compiler = 0;

namespace {

/// Coroutines that were never begun, each a parameter of the next: this many are destroyed
/// recursively; those deeper are destroyed right after the one that owned them.
constexpr unsigned most_nested = 256;

struct Nested {
  unsigned depth = 0;
  Frame* first = nullptr;  // to be destroyed, by `link_`
  Frame** next_place = nullptr;
};
constinit thread_local Nested nested;

}  // namespace

constinit Fork::TakeChildFn Fork::take_child = nullptr;

Transfer Frame::adopt_started(Frame& child, ChainRun& run) {
  ROUSE_ASSERT(child.state_ == State::root && child.link_ != nullptr,
               "this coroutine was awaited again, by two at once, by itself or after it had "
               "finished: await it once and keep its result",
               child.where_.function_name(), child.last_await());
  Frame& inner = *child.link_;
  child.state_ = State::child;
  child.link_ = this;
  if (inner.poll_leaf(run)) return run.transfer(inner.handle());
  run.root().link_ = &inner;
  return ChainRun::leave();
}

void Frame::drop_unfinished() noexcept {
  if (is_awaited()) refuse_move();
  destroy();
}

void Frame::refuse_move() const noexcept {
  assert_failed(__FILE__, __LINE__,
                "an Async was moved or destroyed while another coroutine awaits it: leave it "
                "where it is until that await is over",
                where_.function_name());
}

void Frame::destroy() noexcept {
  if (state_ == State::root) return destroy_chain();
  if (state_ == State::fresh) return destroy_fresh();
  handle().destroy();
}

// A chain may be 100,000 frames deep: if the root were destroyed first, each frame's destructor
// would run inside that of the frame above. Innermost first also keeps what a child borrows alive
// longer than the child. The same holds for children of forks that have chains of their own: each
// is placed below the frame that awaits the fork before that frame is destroyed.
void Frame::destroy_chain() noexcept {
  ROUSE_ASSERT(
      link_ != nullptr,
      "a coroutine was destroyed while it runs, by itself or by a future it awaits: let it "
      "return, or have another destroy it",
      where_.function_name(), last_await());
  Frame* frame = std::exchange(link_, nullptr);               // which will soon be gone
  for (auto* leaf = static_cast<Leaf*>(frame->awaited_);;) {  // what `frame` awaits, if a leaf
    if (Frame* child = leaf && Fork::take_child ? Fork::take_child(*leaf) : nullptr) {
      frame = std::exchange(child->link_, frame);
      leaf = static_cast<Leaf*>(frame->awaited_);
      continue;
    }
    if (frame == this) break;
    Frame* parent = frame->link_;
    if (frame->state_ == State::child) {
      parent->child_owner() = nullptr;
      leaf = nullptr;
    } else {
      leaf = &parent->fork();
      if (frame->state_ == State::branch) parent->fork().disown(*frame);
    }
    frame->handle().destroy();
    frame = parent;
  }
  state_ = State::done;  // it does not run: see src/core/running_walk.hpp
  handle().destroy();
}

void Frame::destroy_fresh() noexcept {
  Nested& here = nested;
  if (here.depth == most_nested) {  // in order, and before what is there from further out
    link_ = *here.next_place;
    *here.next_place = this;
    here.next_place = &link_;
    return;
  }
  ++here.depth;
  here.next_place = &here.first;
  handle().destroy();
  if (here.depth == most_nested) {
    while (Frame* frame = here.first) {
      here.first = frame->link_;
      here.next_place = &here.first;
      frame->handle().destroy();
    }
  }
  --here.depth;
}

OutcomeState Frame::keep_exception(std::exception_ptr& uninitialized) const noexcept {
  construct(&uninitialized, std::current_exception());
  trace_exception(uninitialized, where_, state_ == State::child);
  return OutcomeState::error;
}

void Frame::rethrow_result(const std::exception_ptr& error) const {
  ROUSE_ASSERT(result_state_ == OutcomeState::error,
               "a coroutine ended without a result: one that returns Async<T> must end with "
               "`co_return value;` on every path (compile with -Wreturn-type)",
               where_.function_name(), last_await());
  std::rethrow_exception(error);
}

const char* Frame::last_await() const noexcept {
  static char text[512];
  std::snprintf(text, sizeof text, "last await: %s:%u", where_.file_name(),
                static_cast<unsigned>(where_.line()));
  return text;
}

}  // namespace rouse::internal
