// ForkRegion: what a coroutine awaits in `parallel`: its children, which are coroutines that nobody
// has begun. It lies in the awaiting frame and knows no types.
//
// The awaiting chain runs the last child inline, as a branch (core/internal/frame.hpp), and offers
// the others to thieves in its worker's fork deque. When a branch ends it pops the next. So if
// nobody steals and nobody suspends, there is no atomic read-modify-write and no memory but the
// children's frames.
//
// A child leaves the chain ("is detached") and becomes a task of its own
//  - when a thief takes it, who calls `promote_branch`;
//  - when the chain suspends: a deque holds only children of chains that run on its thread right
//    now. So siblings that wait for each other make progress, and a region that is dropped while
//    suspended has no children in any deque.
//  - when the chain suspends while task locals are set (exec/task_local.hpp), the branch it is
//    suspended in, too: whoever polls the chain next may have set others.
// Its result stays in its frame. Detached children and the region meet in a BranchGroup. If there
// is no memory for the task, or the group, the child is lost, which the region throws: at the
// latest when the chain suspends or the branch that runs has ended.
//
// Without a fork deque the children that were not begun are kept until the chain suspends, and then
// become tasks of the scheduler; without one the region polls them by hand like `join`.
//
// A child:
//
//              start, start_slowly: push
//        kept ---------------------------> offered (in the deque)
//         |                                   |
//         | start (the last), next_slowly     | next, next_slowly: pop
//         '-----------> running <-------------'
//                          '---- its last frame ends ----> ended
//
//        kept ----- detach_kept, poll_alone -----.
//     offered ----- promote_branch --------------+--> detached ---- leave(true) ----> ended
//     running ----- let_go ----------------------'       '---- refuse_child, lose --> lost
//
//        kept ----- detach_by_hand, poll_alone --+--> by hand ----- poll_by_hand ---> ended
//     running ----- detach_by_hand --------------'
//
// promote_branch is called by a thief, and by the owner's thread in settle and promote_all.
//
// The state words. All but the last two belong to the thread that runs the chain or ends the
// region.
//
// | word     | says                               | changed by                                    |
// | -------- | ---------------------------------- | --------------------------------------------- |
// | children | null: not started, or all are gone | begin, forget; slots: take_child              |
// | count    | children not taken out             | take_child                                    |
// | begun_   | children the chain has begun;      | begin: 1; next, next_slowly: one more;        |
// |          | count: none is detached            | let_go, poll_alone: one less;                 |
// |          |                                    | detach_by_hand, end_detached: count           |
// | offered_ | children[0, offered_) went to the  | start, start_slowly, detach_kept              |
// |          | deque or were detached             |                                               |
// | locals_  | the task locals of all children    | begin, start_slowly, poll_alone               |
// | type     | detached: waits for tasks          | at birth                                      |
// |          | by_hand: polls all itself          | detach_by_hand, poll_alone                    |
// |          | lost: ready, and throws            | detach_kept                                   |
// | group_   | null -> a BranchGroup or no_memory  | make_group, once, by whoever needs it first |
// | refused_ | children lost for lack of a group  | refuse_child, by the thread that took one     |
//
// Invariants:
//  - The chain begins its children from the last to the first: begun_ of them so far.
//  - Those in [offered_, count - begun_) are kept. Those below offered_ that are not begun are in
//    the deque or detached; once the chain is suspended or ended: detached, or about to be by a
//    thief. Thieves take the first ones first: if children[count - begun_ - 1] is gone from the
//    deque, so are all before it, and count - begun_ are detached.
//  - So of the children in the deque the newest is children[count - begun_ - 1], if none is kept.
#pragma once

#include <cstdint>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/internal/frame.hpp"
#include "rouse/exec/internal/fork_deque.hpp"

namespace rouse::internal {

class BranchGroup;

class ROUSE_API ForkRegion : public Fork {
 public:
  explicit ForkRegion(std::uint32_t size) noexcept : Fork(size), begun_(size) {}
  ForkRegion(const ForkRegion&) = delete;
  ForkRegion& operator=(const ForkRegion&) = delete;

  /// Runs the `size` children, at least one, in the chain of `parent`, which is running.
  template <std::uint32_t size>
  [[gnu::always_inline]] Transfer start(Frame& parent, Frame** frames) noexcept {
    ChainRun& run = begin(parent, frames);
    ForkDeque* forks = run.forks();
    if (forks == nullptr) [[unlikely]]
      return start_slowly(parent, run);
    for (std::uint32_t i = 0; i != size - 1; ++i) {
      frames[i]->offer(parent);
      if (!forks->push_private(*frames[i])) [[unlikely]] {
        offered_ = i;
        return start_slowly(parent, run);
      }
    }
    offered_ = size - 1;
    return frames[size - 1]->enter_branch(parent, run);
  }
  /// The same for a number of them that is not known when compiling.
  Transfer start_many(Frame& parent, Frame** frames) noexcept {
    return start_slowly(parent, begin(parent, frames));
  }

  /// Polls the children without a parent. True: all ended.
  bool poll_alone(Frame** frames, Context& cx);

  /// Ends everything that refers to the children, which do not run any further; to be called before
  /// they and this are destroyed.
  void end() noexcept {
    if (begun_ != count) [[unlikely]]
      end_detached();
  }
  /// See Fork::take_child.
  static Frame* take_child(Leaf& leaf) noexcept;

  /// Before results are taken: throws if a child is lost: std::bad_alloc if there was no memory to
  /// run it elsewhere, JoinError if the executor that ran it has ended. Otherwise nothing refers to
  /// the children any more, as after `end`.
  void throw_if_lost() {
    if (begun_ != count) [[unlikely]]
      end_or_throw();
  }
  /// The children are gone: it is as it was before it started.
  void forget() noexcept { children = nullptr; }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ForkRegion, "parallel", fork, &ForkRegion::group_)
  bool has_started() const noexcept { return children != nullptr; }

  // --- For `promote_branch`. ---

  /// Null: there was no memory for one, and there will be none.
  BranchGroup* group() noexcept;
  /// A child was taken and there is no group: it is lost. Afterwards this may be gone.
  void refuse_child() noexcept {
    // ORDER: release; whoever ends the region sees that the child is touched no more.
    refused_.fetch_add(1, memory_order_release);
  }

 private:
  ChainRun& begin(Frame& parent, Frame** frames) noexcept {
    ChainRun& run = parent.run();
    begin(frames, run.task_locals());
    begun_ = 1;
    parent.begin_fork(*this);
    return run;
  }
  /// Sets what nobody asks for before.
  void begin(Frame** frames, const TaskLocalNode* locals) noexcept {
    type = &detached_type;
    branch_ended = &next;
    children = frames;
    offered_ = 0;
    locals_ = locals;
  }
  /// A branch has ended.
  static Transfer next(Fork& fork, Frame& parent, ChainRun& run) noexcept;
  Transfer start_slowly(Frame& parent, ChainRun& run) noexcept;
  Transfer next_slowly(Frame& parent, ChainRun& run) noexcept;

  static void settle(ChainRun& run, std::uint32_t mark) noexcept;
  bool detach_kept(Context& cx) noexcept;
  void let_go(Frame& branch) noexcept;
  bool detach_by_hand(Context& cx) noexcept;
  void end_detached() noexcept;
  void end_or_throw();

  BranchGroup* make_group() noexcept;
  bool has_lost_a_child() noexcept;

  static bool poll_detached(Leaf& leaf, Context& cx) noexcept;
  static bool poll_by_hand(Leaf& leaf, Context& cx) noexcept;
  static bool poll_lost(Leaf& leaf, Context& cx) noexcept;
  static const LeafType detached_type;
  static const LeafType by_hand_type;
  static const LeafType lost_type;

  std::uint32_t begun_;
  std::uint32_t offered_;        // set by `begin`
  const TaskLocalNode* locals_;  // likewise: where it was begun; good until the group has them
  atomic<BranchGroup*> group_{nullptr};  // made by whoever needs it first
  atomic<std::uint32_t> refused_{0};
};

/// Makes a task, of this thread's scheduler, of a child that was taken from a fork deque.
ROUSE_API void promote_branch(Frame& branch) noexcept;
/// The same for all that is in the deque, whose owner calls it.
ROUSE_API void promote_all(ForkDeque& forks) noexcept;

}  // namespace rouse::internal
