#include "rouse/core/frame.hpp"

#include <cstdio>

namespace rouse {

const char same_compiler = 0;

namespace {

/// Coroutines that were never begun, each a parameter of the next: so many are destroyed inside one
/// another; those further in right after the one that owned them.
constexpr unsigned most_nested = 256;

struct Nested {
  unsigned depth = 0;
  Frame* first = nullptr;  // to be destroyed, by `link_`
  Frame** next_place = nullptr;
};
constinit thread_local Nested nested;

}  // namespace

constinit Fork::TakeChildFn Fork::take_child = nullptr;

// A chain may be 100,000 frames deep: were the root destroyed first, each frame's destructor would
// run inside that of the frame above. Innermost first also keeps what a child borrows alive longer
// than the child. So do children of forks that are chains of their own: each is put below the frame
// that awaits the fork before that is destroyed.
void Frame::destroy_chain() noexcept {
  ROUSE_ASSERT(
      link_ != nullptr,
      "a coroutine was destroyed while it runs, by itself or by a future it awaits: let it "
      "return, or have another destroy it",
      where_.function_name(), last_await());
  Frame* frame = link_;
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

const char* Frame::last_await() const noexcept {
  static char text[512];
  std::snprintf(text, sizeof text, "last await: %s:%u", where_.file_name(),
                static_cast<unsigned>(where_.line()));
  return text;
}

}  // namespace rouse
