#include "rouse/core/frame.hpp"

#include <cstdio>

namespace rouse {

const char same_compiler = 0;

// A chain may be 100,000 frames deep: were the root destroyed first, each frame's destructor would
// run inside that of the frame above. Innermost first also keeps what a child borrows alive longer
// than the child.
void Frame::destroy_chain() noexcept {
  ROUSE_ASSERT(
      link_ != nullptr,
      "a coroutine was destroyed while it runs, by itself or by a future it awaits: let it "
      "return, or have another destroy it",
      where_.function_name(), last_await());
  for (Frame* frame = link_; frame != this;) {
    Frame* parent = frame->link_;
    if (frame->state_ == State::branch) {
      parent->fork().disown(*frame);
    } else {
      parent->child_owner() = nullptr;
    }
    frame->handle().destroy();
    frame = parent;
  }
  handle().destroy();
}

const char* Frame::last_await() const noexcept {
  static char text[512];
  std::snprintf(text, sizeof text, "last await: %s:%u", where_.file_name(),
                static_cast<unsigned>(where_.line()));
  return text;
}

}  // namespace rouse
