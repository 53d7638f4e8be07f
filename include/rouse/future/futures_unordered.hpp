// FuturesUnordered<F>: a growing set of futures that run concurrently, and the stream of their
// outputs, in the order of completion.
//
//   FuturesUnordered<Async<int>> jobs;
//   jobs.push(job(1));
//   jobs.push(job(2));
//   while (auto done = co_await jobs.next()) use(*done);
//
// Only woken children are polled (future/internal/woken_set.hpp): a wake costs O(1), and a poll
// ends even if children wake themselves forever. A child is destroyed when it is done. poll_next
// throws what a child threw; the others continue. The set may be moved at any time. A push while
// somebody waits wakes them. A child's destructor may use the set, whatever drops the child: what
// it pushes during a clear stays in the set, and what it pushes during the set's destruction is
// dropped too.
// Cancel safety: dropping `next()` loses nothing; dropping the set drops all children.
// Threads: one task at a time pushes and polls.
//
// One block of memory for the set and one for each child, which is freed when the child is done and
// its last waker is gone. A node is referenced by the owner and by each waker. If a child is done
// while it is queued, the owner leaves its reference to the queue.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/future/internal/child.hpp"
#include "rouse/future/internal/woken_set.hpp"

namespace rouse {

namespace internal {

/// The set of woken children, held by its owner and by each child's node.
class SharedWokenSet : public internal::WokenSet, public RefCounted<SharedWokenSet> {};

/// One child. The owner alone owns the future in it; wakers keep only the memory alive.
template <Future F>
class UnorderedNode : public internal::WokenNode, public RefCounted<UnorderedNode<F>> {
 public:
  UnorderedNode(RefPtr<SharedWokenSet> set, F&& child)
      : future(std::in_place, std::move(child)), set_(std::move(set)) {
    static_assert(alignof(UnorderedNode) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "FuturesUnordered of an over-aligned future");
  }

  static void* operator new(std::size_t size) { return internal::allocate_block(size); }
  static void operator delete(void* node, std::size_t size) noexcept {
    internal::free_block(node, size);
  }

  /// What its waker calls.
  void wake() {
    // Closed: release what the queue would have owned.
    if (!set_->wake(*this)) this->release();
  }

  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(UnorderedNode, nullptr, list, &UnorderedNode::future, &UnorderedNode::after)

  // The owner's:
  Maybe<F> future;
  UnorderedNode* before = nullptr;
  UnorderedNode* after = nullptr;
  bool is_running = false;  // inside its poll

 private:
  RefPtr<SharedWokenSet> set_;
};

}  // namespace internal

template <Future F>
class [[nodiscard]] FuturesUnordered {
  using Node = internal::UnorderedNode<F>;

 public:
  /// Unit for void, a pointer for a reference.
  using Item = stored_t<output_t<F>>;

  FuturesUnordered() noexcept = default;
  FuturesUnordered(FuturesUnordered&& other) noexcept
      : set_(std::move(other.set_)),
        first_(std::exchange(other.first_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  FuturesUnordered& operator=(FuturesUnordered&& other) noexcept {
    FuturesUnordered old(std::move(other));
    std::swap(set_, old.set_);
    std::swap(first_, old.first_);
    std::swap(size_, old.size_);
    old.clear();
    return *this;
  }
  ~FuturesUnordered() {
    while (set_) static_cast<void>(drop_children());
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Whether a child borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    for (Node* node = first_; node; node = node->after) {
      if (internal::future_borrows(*node->future)) return true;
    }
    return false;
  }

  /// The next poll_next polls the future for the first time.
  void push(F future) {
    Node& node = add(std::move(future));
    set_->push(node);
  }

  /// The same for a caller that polls the set before anybody waits for it again: wakes nobody.
  void push_before_poll(F future) {
    Node& node = add(std::move(future));
    set_->append(node);
  }

  /// The output of a completed child, or an empty optional once there are no children. Throws what
  /// the child threw. Polls each child at most once.
  PollNext<Item> poll_next(Context& cx) {
    if (empty()) return PollNext<Item>::ready(std::nullopt);
    set_->begin_poll(cx.waker());
    while (internal::WokenNode* woken = set_->next(cx)) {
      Node& node = static_cast<Node&>(*woken);
      if (!node.future) {
        // Done before it came out: the queue's reference is what is left.
        if (set_->retire(node)) node.release();
        continue;
      }
      internal::Outcome<output_t<F>> outcome;
      if (!poll_child(node, outcome, cx)) continue;
      unlink(node);
      drop(*set_, node);
      // The child's destructor may have changed the set.
      if (outcome.is_error()) std::rethrow_exception(outcome.error());
      return PollNext<Item>::ready(std::move(outcome.stored()));
    }
    return pending;
  }

  /// A future of what poll_next gives. Borrows the set, which must neither move nor be destroyed
  /// before it.
  [[nodiscard]] Next<FuturesUnordered> next() noexcept { return Next<FuturesUnordered>(*this); }

  /// Calls `fn(future)` with each child, the latest first. It must neither poll nor change the set.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (Node* node = first_; node; node = node->after) fn(*node->future);
  }

  /// Drops all children. A waiter is woken: there is nothing left to wait for.
  void clear() noexcept {
    if (Waker parent = drop_children()) std::move(parent).wake();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FuturesUnordered, "FuturesUnordered", any_of, &FuturesUnordered::first_)

 private:
  static bool poll_child(Node& node, internal::Outcome<output_t<F>>& outcome, Context& cx) {
    ROUSE_ASSERT(!node.is_running, "FuturesUnordered: a child polls the set it is in");
    const internal::BorrowedWaker child_waker(
        RawWaker(&node, &internal::SharedWaker<Node>::vtable));
    Context child_cx(child_waker.get(), cx);
    node.is_running = true;
    const bool is_done = internal::poll_into(outcome, *node.future, child_cx);
    node.is_running = false;
    return is_done;
  }

  /// Destroys an unlinked child and drops the owner's reference, or leaves that to the queue if the
  /// node is in it. The child's destructor may call anything, so the set is not touched afterwards.
  static void drop(internal::SharedWokenSet& set, Node& node) noexcept {
    // The destructor may empty the queue, too: the node must not end before it is through.
    if (!set.retire(node)) node.add_ref();
    node.future.reset();
    node.release();
  }

  /// Empties the set before it drops the first child: a destructor that calls back finds nothing to
  /// do, and one that pushes starts anew. Returns the waker of the waiter.
  Waker drop_children() noexcept {
    const RefPtr<internal::SharedWokenSet> set = std::move(set_);
    Node* rest = std::exchange(first_, nullptr);
    size_ = 0;
    if (!set) return Waker();
    while (rest) {
      Node& node = *std::exchange(rest, rest->after);
      ROUSE_ASSERT(!node.is_running,
                   "FuturesUnordered: a child's poll cleared or destroyed the set it is in");
      drop(*set, node);
    }
    return set->close([](internal::WokenNode& left) { static_cast<Node&>(left).release(); });
  }

  Node& add(F&& future) {
    if (!set_) set_ = make_ref<internal::SharedWokenSet>();
    Node& node = *new Node(set_, std::move(future));
    link(node);
    return node;
  }

  void link(Node& node) noexcept {
    node.after = first_;
    if (first_) first_->before = &node;
    first_ = &node;
    ++size_;
  }
  void unlink(Node& node) noexcept {
    (node.before ? node.before->after : first_) = node.after;
    if (node.after) node.after->before = node.before;
    --size_;
  }

  RefPtr<internal::SharedWokenSet> set_;
  Node* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rouse
