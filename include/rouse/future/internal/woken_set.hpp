// WokenSet: which children of join_all and FuturesUnordered are to be polled. Each child has its
// own waker; a wake puts the child into the set and wakes the parent, and a poll of the parent
// takes out what was woken and polls nothing else. A wake costs O(1) however many children there
// are.
//
//   any thread:  wake(node) --push--> [top -> newest -> ... -> oldest]     a lock-free stack
//   the owner:   next() <-- batch <--- all of it, reversed ---'            oldest first
//
// A stack of which only everything is taken has no half-pushed state to wait for, and no ABA.
//
// Invariants:
//  - queued is true while the node is in the stack or in the batch, or a waker is about to push it.
//    Who turns it from false to true pushes the node: so it is in there at most once, and `next`
//    belongs to whoever pushed it until the owner has taken it out.
//  - The owner turns queued to false before it polls the child: a wake from then on queues again.
//  - Who pushes onto the empty stack wakes the parent. A poll begins by registering the parent's
//    waker and then emptying the stack: so what is not in the batch by then wakes the parent again.
//    Each child is polled at most once a poll, also if it wakes itself for ever.
//  - A retired child (done or dropped) is never queued again.
//  - Closed: nothing is pushed any more. Wakers hold the set's memory alive, nothing else.
#pragma once

#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/cell.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/waker.hpp"

namespace rouse::internal {

/// A child as the set sees it. Begins as queued: it has to be polled a first time.
class WokenNode {
 public:
  WokenNode() noexcept = default;

 private:
  friend class WokenSet;
  Cell<WokenNode*> next_{nullptr};
  atomic<bool> queued_{true};
};

class WokenSet {
 public:
  WokenSet() noexcept = default;
  WokenSet(const WokenSet&) = delete;
  WokenSet& operator=(const WokenSet&) = delete;

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* set, std::size_t size) noexcept { free_block(set, size); }

  // --- Any thread that keeps the set and the node alive. ---

  /// Has the child polled, unless that is to come anyway. False: see `push`.
  bool wake(WokenNode& node) {
    // ORDER: acq_rel; release publishes what this thread did before the wake to the poll that
    // takes the child out, even if the child is queued already. Acquire sees that the owner has
    // read `next`, which push writes.
    if (node.queued_.exchange(true, memory_order_acq_rel)) return true;
    return push(node);
  }

  /// For a node that was just made or that `wake` marked. False: the set is closed, and the node is
  /// the caller's, as if it had taken it out.
  bool push(WokenNode& node) {
    // ORDER: acquire; if the set is closed, sees all that the owner did before.
    WokenNode* top = top_.load(memory_order_acquire);
    do {
      if (top == &closed_) return false;
      node.next_.write() = top;
      // ORDER: acq_rel; release publishes `next` to the owner. Acquire sees the parent's waker,
      // which was registered before the owner emptied the stack. On failure: as the load above.
    } while (!top_.compare_exchange_weak(top, &node, memory_order_acq_rel, memory_order_acquire));
    if (top == nullptr) parent_.wake();
    return true;
  }

  // --- The owner, one thread at a time. ---

  /// Appends a node that was just made to the batch.
  void append(WokenNode& node) noexcept { append_list(&node, &node); }

  /// Takes out what was woken until now. What is woken later wakes `parent`; the one before it, if
  /// `parent` waits for nothing.
  void begin_poll(const Waker& parent) {
    if (!parent.will_wake(Waker::noop())) parent_.register_waker(parent);
    // ORDER: acq_rel; acquire sees the nodes pushed, release publishes the parent's waker to the
    // next push.
    WokenNode* const newest = top_.exchange(nullptr, memory_order_acq_rel);
    WokenNode* oldest = nullptr;
    for (WokenNode* rest = newest; rest;) {
      WokenNode* node = std::exchange(rest, rest->next_.read());
      node->next_.write() = std::exchange(oldest, node);
    }
    if (oldest) append_list(oldest, newest);
  }

  /// The next child to poll; it counts as not woken from here on. Null: there is none in this poll.
  WokenNode* next() {
    if (batch_ == nullptr) return nullptr;
    WokenNode* node = std::exchange(batch_, batch_->next_.read());
    // ORDER: acq_rel; acquire sees what every thread did before it woke this child, also those that
    // found it queued. Release lets the next push write `next`.
    node->queued_.exchange(false, memory_order_acq_rel);
    return node;
  }

  /// The same while the task has a budget left. Once it is used up: null, and the parent was woken.
  /// So the other children are not polled in vain, all of them again and again.
  WokenNode* next(const Context& cx) {
    if (batch_ == nullptr || !cx.has_budget()) return nullptr;
    return next();
  }

  /// No wake will queue this child again. True: it is not queued either, so nobody but the owner
  /// and the child's wakers knows it. False: it will come out of `next` or `close` once more, or
  /// the waker that pushes it will find the set closed.
  bool retire(WokenNode& node) noexcept {
    // ORDER: relaxed; publishes nothing. As an exchange it keeps earlier releases visible.
    return !node.queued_.exchange(true, memory_order_relaxed);
  }

  /// Ends the set, after every child was retired: calls `fn` for each that is still queued, and
  /// hands the parent's waker out. Empty: nobody waits, or they are being woken.
  template <class Fn>
  Waker close(Fn&& fn) {
    // ORDER: acq_rel; acquire sees the nodes pushed, release publishes what the owner did (children
    // destroyed and retired) to a push that comes too late.
    WokenNode* rest = top_.exchange(&closed_, memory_order_acq_rel);
    for (WokenNode* list : {std::exchange(batch_, nullptr), rest}) {
      while (list) fn(*std::exchange(list, list->next_.read()));
    }
    return parent_.take();
  }

 private:
  void append_list(WokenNode* first, WokenNode* last) noexcept {
    (batch_ ? batch_last_->next_.write() : batch_) = first;
    batch_last_ = last;
  }

  atomic<WokenNode*> top_{nullptr};
  AtomicWaker parent_;
  // The owner's: taken out of the stack, still to be polled.
  WokenNode* batch_ = nullptr;
  WokenNode* batch_last_ = nullptr;
  WokenNode closed_;  // a mark: the top of a closed set
};

}  // namespace rouse::internal
