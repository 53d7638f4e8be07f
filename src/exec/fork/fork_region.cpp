// How a branch that is stolen becomes a task: `promote`. The whole story is in fork_region.hpp.
#include "rouse/exec/internal/fork_region.hpp"

#include <cstdint>
#include <new>

#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_local.hpp"

#include "exec/fork/branch_group.hpp"
#include "exec/task/current.hpp"

namespace rouse::internal {
namespace {

/// A region that has it for a group has none, for lack of memory.
BranchGroup* no_memory() noexcept { return reinterpret_cast<BranchGroup*>(std::uintptr_t{1}); }

/// Makes a task of a child, which may have begun.
void promote(Frame& child, ForkRegion& region) noexcept {
  const auto group = RefPtr<BranchGroup>::share(region.group());
  if (!group) return region.refuse_child();
  if (!group->enroll()) return;
  // From here on the region may be cancelled, and the child be gone: the task finds out.
  Detached detached(group, child);
  try {
    group->keep(spawn_on(*BranchGroup::scheduler(), {}, std::move(detached)));
  } catch (const std::bad_alloc&) {
    group->lose(std::current_exception());
  }
}

}  // namespace

void promote_branch(Frame& branch) noexcept {
  auto& region = static_cast<ForkRegion&>(branch.offered_by().fork());
  branch.withdraw_offer();
  promote(branch, region);
}

void promote_all(ForkDeque& forks) noexcept {
  while (Frame* branch = forks.pop_above(forks.oldest())) promote_branch(*branch);
}

/// The next branch is taken from the deque of the thread and not from `children`, though it is the
/// same: its address is not loaded by way of the branch that ended, its parent and the region. A
/// processor follows either way to the next frame; this one it can follow ahead.
Transfer ForkRegion::next(Fork& fork, Frame& parent, ChainRun& run) noexcept {
  auto& self = static_cast<ForkRegion&>(fork);
  const std::uint32_t left = self.count - self.begun_;
  if (left == 0) return parent.go_on(run);
  ForkDeque* const forks = this_thread.forks;
  if (forks == nullptr || forks != run.forks() || left > self.offered_) [[unlikely]]
    return self.next_slowly(parent, run);
  Frame* const branch = forks->pop_private(parent);
  if (branch == nullptr) [[unlikely]]
    return self.next_slowly(parent, run);
  ++self.begun_;
  return branch->enter_offered(run);
}

/// The first fork of a run, or one that keeps children, or whose children are to be published.
Transfer ForkRegion::start_slowly(Frame& parent, ChainRun& run) noexcept {
  ForkDeque* forks = run.context().forks();
  if (!run.settles()) {
    locals_ = task_locals();
    run.settle_with(&settle, forks ? forks->bottom() : 0, locals_);
  }
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
      [&](Fork& fork) { return static_cast<ForkRegion&>(fork).detach_kept(cx); },
      [](Fork& fork, Frame& branch) { static_cast<ForkRegion&>(fork).let_go(branch); });
}

/// True: the branch that is suspended leaves the chain. Without a scheduler it is polled by hand
/// from now on, and so are those that were kept; else a child is lost, or there are task locals.
bool ForkRegion::detach_kept(Context& cx) noexcept {
  const std::uint32_t kept_end = count - begun_;
  if (kept_end > offered_ && BranchGroup::scheduler() == nullptr) return detach_by_hand(cx);
  for (; offered_ < kept_end; ++offered_) {
    children[offered_]->withdraw_offer();  // it may have found the deque full
    promote(*children[offered_], *this);
  }
  if (has_lost_a_child()) {
    type = &lost_type;
  } else if (locals_ == nullptr || BranchGroup::scheduler() == nullptr) {
    return false;
  }
  cx.waker().wake_by_ref();
  return true;
}

/// A branch that left the chain. The next poll of the chain may have other task locals than those
/// in which the branch began: so it becomes a task like the others, unless the region ends anyway.
void ForkRegion::let_go(Frame& branch) noexcept {
  if (type != &detached_type) return;
  --begun_;
  promote(branch, *this);
}

bool ForkRegion::detach_by_hand(Context& cx) noexcept {
  const std::uint32_t kept_end = count - begun_;
  ROUSE_ASSERT(offered_ == 0, "a thread has a fork deque but no scheduler: set both, or none");
  type = &by_hand_type;
  begun_ = count;
  for (std::uint32_t i = 0; i != kept_end; ++i) (void)children[i]->poll_chain(cx);
  return true;
}

bool ForkRegion::poll_alone(Frame** frames, Context& cx) {
  if (!has_started()) {
    begin(frames, task_locals());
    if (BranchGroup::scheduler() == nullptr) {
      type = &by_hand_type;
    } else {
      for (std::uint32_t i = 0; i < count; ++i) {
        --begun_;
        promote(*children[i], *this);
      }
    }
  }
  return poll(cx);
}

constinit const LeafType ForkRegion::detached_type{&poll_detached, &shape_of<ForkRegion>, 0};
constinit const LeafType ForkRegion::by_hand_type{&poll_by_hand, &shape_of<ForkRegion>, 0};
constinit const LeafType ForkRegion::lost_type{&poll_lost, &shape_of<ForkRegion>, 0};

bool ForkRegion::poll_detached(Leaf& leaf, Context& cx) noexcept {
  auto& self = static_cast<ForkRegion&>(leaf);
  BranchGroup* const detached = self.group();
  return detached == nullptr || detached->poll_ended(self.count - self.begun_, cx);
}

bool ForkRegion::poll_lost(Leaf&, Context&) noexcept { return true; }

bool ForkRegion::poll_by_hand(Leaf& leaf, Context& cx) noexcept {
  auto& self = static_cast<ForkRegion&>(leaf);
  bool all_ended = true;
  for (std::uint32_t i = 0; i < self.count; ++i) {
    Frame& child = *self.children[i];
    if (!child.is_done() && !child.poll_chain(cx)) all_ended = false;
  }
  return all_ended;
}

BranchGroup* ForkRegion::group() noexcept {
  // ORDER: acquire; sees the group that another thread made.
  BranchGroup* there = group_.load(memory_order_acquire);
  if (there == nullptr) there = make_group();
  return there == no_memory() ? nullptr : there;
}

BranchGroup* ForkRegion::make_group() noexcept {
  RefPtr<BranchGroup> made;
  BranchGroup* wanted = nullptr;
  try {
    made = make_ref<BranchGroup>(locals_);
    wanted = made.get();
  } catch (const std::bad_alloc&) {
    wanted = no_memory();
  }
  BranchGroup* there = nullptr;
  // ORDER: release; publishes the group. If it fails: acquire; as above.
  if (!group_.compare_exchange_strong(there, wanted, memory_order_release, memory_order_acquire)) {
    return there;
  }
  static_cast<void>(made.leak());
  return wanted;
}

/// For a suspended chain, which nobody would wake for a child that is lost later: so this waits for
/// thieves that took one and are about to make a task of it. They wait for nothing of this chain.
bool ForkRegion::has_lost_a_child() noexcept {
  const std::uint32_t detached = count - begun_;
  if (detached == 0) return false;
  BranchGroup* const there = group();
  if (there == nullptr) return true;
  for (unsigned attempt = 0; !there->is_each_kept_or_lost(detached); ++attempt) {
    back_off(attempt);
  }
  return there->is_lost();
}

void ForkRegion::end_or_throw() {
  BranchGroup* const detached = group();
  if (detached == nullptr) throw std::bad_alloc();
  if (auto why = detached->why_lost()) std::rethrow_exception(std::move(why));
  end_detached();
}

namespace {
/// A constant would do, but core can't name it.
[[maybe_unused]] const bool is_take_child_set = [] {
  Fork::take_child = &ForkRegion::take_child;
  return true;
}();
}  // namespace

Frame* ForkRegion::take_child(Leaf& leaf) noexcept {
  if (leaf.type != &detached_type && leaf.type != &lost_type && leaf.type != &by_hand_type) {
    return nullptr;
  }
  auto& self = static_cast<ForkRegion&>(leaf);
  self.end();
  while (self.count > 0) {
    Frame*& child = self.children[--self.count];
    self.begun_ = self.count;  // so that it stays ended
    if (child != nullptr && child->is_suspended_root()) return std::exchange(child, nullptr);
  }
  return nullptr;
}

void ForkRegion::end_detached() noexcept {
  const std::uint32_t detached = count - std::exchange(begun_, count);
  if (BranchGroup* const there = group()) {
    there->cancel_and_wait(detached);
    there->release();
    return;
  }
  // Thieves that took one are about to find that out.
  // ORDER: acquire; they touch the children no more.
  for (unsigned attempt = 0; refused_.load(memory_order_acquire) != detached; ++attempt) {
    back_off(attempt);
  }
}

}  // namespace rouse::internal
