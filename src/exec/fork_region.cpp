#include "rouse/exec/fork_region.hpp"

#include "rouse/exec/spawner.hpp"

#include "exec/child_group.hpp"

namespace rouse {
namespace {

void promote(Frame& child, ForkRegion& region) {
  auto group = RefPtr<ChildGroup>::share(&region.group());
  child.withdraw_offer();
  if (!group->enroll()) return;
  // From here on the region may be cancelled, and the child be gone: the task finds out.
  ChildGroup& of = *group;
  of.keep(spawn_on(*ChildGroup::scheduler(), {}, Detached(group, child)));
}

}  // namespace

void promote_branch(Frame& branch) {
  promote(branch, static_cast<ForkRegion&>(branch.offered_by().fork()));
}

void promote_all(ForkDeque& forks) {
  while (Frame* branch = forks.pop_above(forks.oldest())) promote_branch(*branch);
}

/// The first fork of a run, or one that keeps children, or whose children are to be published.
Transfer ForkRegion::start_slowly(Frame& parent, ChainRun& run) noexcept {
  ForkDeque* forks = run.context().forks();
  if (!run.settles()) run.settle_with(&settle, forks ? forks->bottom() : 0);
  for (; forks != nullptr && offered_ != count - 1; ++offered_) {
    Frame& child = *children[offered_];
    child.offer(parent);
    if (!forks->push(child)) break;
  }
  return children[count - 1]->enter_branch(parent, run);
}

Transfer ForkRegion::next_slowly(Frame& parent, ChainRun& run) noexcept {
  const std::uint32_t left = count - begun_;
  Frame& branch = *children[left - 1];
  ForkDeque* forks = run.context().forks();
  if (left > offered_ || (forks != nullptr && forks->pop(branch))) {
    ++begun_;
    return branch.enter_branch(parent, run);
  }
  return poll_detached(*this, run.context()) ? parent.go_on(run) : parent.wait_for_fork(run);
}

/// The chain has suspended: what it offered must not stay in the deque, what it kept must run.
void ForkRegion::settle(ChainRun& run, std::uint32_t mark) noexcept {
  Context& cx = run.context();
  if (ForkDeque* forks = cx.forks()) {
    while (Frame* branch = forks->pop_above(mark)) promote_branch(*branch);
  }
  run.root().cut_branches(
      [&](Fork& fork) { return static_cast<ForkRegion&>(fork).detach_kept(cx); });
}

/// True: they are polled by hand from now on, and so is the branch that is suspended.
bool ForkRegion::detach_kept(Context& cx) noexcept {
  const std::uint32_t kept_end = count - begun_;
  if (kept_end <= offered_) return false;
  if (ChildGroup::scheduler() != nullptr) {
    for (; offered_ != kept_end; ++offered_) promote(*children[offered_], *this);
    return false;
  }
  ROUSE_ASSERT(offered_ == 0, "a thread has a fork deque but no scheduler: set both, or none");
  poll = &poll_by_hand;
  begun_ = count;
  for (std::uint32_t i = 0; i != kept_end; ++i) (void)children[i]->poll_chain(cx);
  return true;
}

bool ForkRegion::poll_alone(Frame** frames, Context& cx) {
  if (!has_started()) {
    children = frames;
    locals_ = cx.task_locals();
    if (ChildGroup::scheduler() == nullptr) {
      poll = &poll_by_hand;
    } else {
      for (std::uint32_t i = 0; i < count; ++i) {
        --begun_;  // first: if there is no memory for the task, the child counts as enrolled
        promote(*children[i], *this);
      }
    }
  }
  return poll(*this, cx);
}

bool ForkRegion::poll_detached(Leaf& leaf, Context& cx) noexcept {
  auto& self = static_cast<ForkRegion&>(leaf);
  return self.group().poll_ended(self.count - self.begun_, cx);
}

bool ForkRegion::poll_by_hand(Leaf& leaf, Context& cx) noexcept {
  auto& self = static_cast<ForkRegion&>(leaf);
  bool all_ended = true;
  for (std::uint32_t i = 0; i < self.count; ++i) {
    Frame& child = *self.children[i];
    if (!child.is_done() && !child.poll_chain(cx)) all_ended = false;
  }
  return all_ended;
}

ChildGroup& ForkRegion::group() {
  // ORDER: acquire; sees the group that another thread made.
  ChildGroup* there = group_.load(memory_order_acquire);
  if (there != nullptr) return *there;
  auto made = make_ref<ChildGroup>(locals_);
  // ORDER: release; publishes the group. acquire; as above.
  if (group_.compare_exchange_strong(there, made.get(), memory_order_acq_rel,
                                     memory_order_acquire)) {
    return *made.leak();
  }
  return *there;
}

void ForkRegion::check_lost() {
  if (group().is_lost()) throw JoinError(0);
}

void ForkRegion::end_detached() noexcept {
  ChildGroup& detached = group();
  detached.cancel_and_wait(count - begun_);
  detached.release();
}

}  // namespace rouse
