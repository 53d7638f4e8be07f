#include "rouse/core/frame.hpp"

namespace rouse {

bool Frame::poll_chain(Context& cx) {
  ROUSE_ASSERT(state_ < State::child, "a coroutine was polled after it was ready or while another awaits it",
               where_.function_name());
  state_ = State::root;
  Frame& inner = *link_;
  ChainRun run(cx, *this);
  if (!inner.poll_leaf(run)) return false;
  run.resume(inner.handle());
  return state_ == State::done;
}

// A chain may be 100,000 frames deep: were the root destroyed first, each frame's destructor would
// run inside that of the frame above. Innermost first also keeps what a child borrows alive longer
// than the child.
void Frame::destroy_chain() noexcept {
  for (Frame* frame = link_; frame != this;) {
    Frame* parent = frame->link_;
    parent->child_owner() = nullptr;
    frame->handle().destroy();
    frame = parent;
  }
  handle().destroy();
}

}  // namespace rouse
