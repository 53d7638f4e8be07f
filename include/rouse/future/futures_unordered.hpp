// FuturesUnordered<F>: a growing set of futures that run together, and the stream of their outputs,
// in the order in which the futures finish.
//
//   FuturesUnordered<Async<int>> jobs;
//   jobs.push(job(1));
//   jobs.push(job(2));
//   while (auto done = co_await jobs.next()) use(*done);
//
// Only children that were woken are polled (future/woken_set.hpp): a wake costs O(1), and a poll
// ends even if children wake themselves for ever. A child is destroyed when it is done; what it
// threw, poll_next throws, and the others go on. It may be moved at any time.
// Not thread safe: push and poll from one task at a time. A push while somebody waits wakes them.
// A child's destructor may use the set, whatever it is that drops the child: what it pushes while
// the set is cleared stays in there, and what it pushes while the set ends is dropped too.
// Cancel safety: dropping `next()` loses nothing; dropping the set drops all children.
//
// One block of memory for the set and one for each child, which ends when the child is done and its
// last waker is gone. References to a node: the owner's, and one for each waker. A child that is
// done while it is queued leaves the owner's reference to the queue.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/block_pool.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/future/child.hpp"
#include "rouse/future/woken_set.hpp"

namespace rouse {

/// The set of woken children, held by its owner and by each child's node.
class SharedWokenSet : public WokenSet, public RefCounted<SharedWokenSet> {};

/// One child. The future in it belongs to the owner alone; wakers keep only the memory.
template <Future F>
class UnorderedNode : public WokenNode, public RefCounted<UnorderedNode<F>> {
 public:
  UnorderedNode(RefPtr<SharedWokenSet> set, F&& child)
      : future(std::move(child)), set_(std::move(set)) {
    static_assert(alignof(UnorderedNode) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "FuturesUnordered of an over-aligned future");
  }

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* node, std::size_t size) noexcept { free_block(node, size); }

  void wake() {
    // Closed: what the queue would have owned is ours to release.
    if (!set_->wake(*this)) this->release();
  }

  // The owner's:
  std::optional<F> future;
  UnorderedNode* before = nullptr;
  UnorderedNode* after = nullptr;
  bool is_running = false;  // inside its poll

 private:
  RefPtr<SharedWokenSet> set_;
};

template <Future F>
class [[nodiscard]] FuturesUnordered {
  using Node = UnorderedNode<F>;

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
      if (future_borrows(*node->future)) return true;
    }
    return false;
  }

  /// The future is polled first by the next poll_next.
  void push(F future) {
    Node& node = add(std::move(future));
    set_->push(node);
  }

  /// The same for who polls the set anyway, before anybody waits for it again: wakes nobody.
  void push_before_poll(F future) {
    Node& node = add(std::move(future));
    set_->append(node);
  }

  /// The output of a child that is done, or nothing once there are no children. Throws what the
  /// child threw. Each child is polled at most once.
  PollNext<Item> poll_next(Context& cx) {
    if (empty()) return PollNext<Item>::ready(std::nullopt);
    set_->begin_poll(cx.waker());
    while (WokenNode* woken = set_->next(cx)) {
      Node& node = static_cast<Node&>(*woken);
      if (!node.future) {
        // Done before it came out: the queue's reference is what is left.
        if (set_->retire(node)) node.release();
        continue;
      }
      Outcome<output_t<F>> outcome;
      if (!poll_child(node, outcome, cx)) continue;
      unlink(node);
      drop(*set_, node);
      // The child's destructor may have changed the set.
      if (outcome.is_error()) std::rethrow_exception(outcome.error());
      return PollNext<Item>::ready(std::move(outcome.stored()));
    }
    return pending;
  }

  /// A future of what poll_next gives. Borrows the set, which must neither move nor end before it.
  [[nodiscard]] Next<FuturesUnordered> next() noexcept { return Next<FuturesUnordered>(*this); }

  /// Calls `fn(future)` with each child, the latest first. It must neither poll nor change the set.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (Node* node = first_; node; node = node->after) fn(*node->future);
  }

  /// Drops all children. Whoever waits is woken: there is nothing to wait for any more.
  void clear() noexcept {
    if (Waker parent = drop_children()) std::move(parent).wake();
  }

 private:
  static bool poll_child(Node& node, Outcome<output_t<F>>& outcome, Context& cx) {
    ROUSE_ASSERT(!node.is_running, "FuturesUnordered: a child polls the set it is in");
    const BorrowedWaker child_waker(RawWaker(&node, &SharedWaker<Node>::vtable));
    Context child_cx(child_waker.get(), cx);
    node.is_running = true;
    const bool is_done = poll_into(outcome, *node.future, child_cx);
    node.is_running = false;
    return is_done;
  }

  /// Ends a child that is not linked, and gives the owner's reference up; or leaves that to the
  /// queue if the node is in there. The child's destructor may call anything, so the set is not
  /// touched after it.
  static void drop(SharedWokenSet& set, Node& node) noexcept {
    // The destructor may empty the queue, too: the node must not end before it is through.
    if (!set.retire(node)) node.add_ref();
    node.future.reset();
    node.release();
  }

  /// Leaves an empty set behind before it drops the first child: a destructor that comes back here
  /// finds nothing to do, and one that pushes begins anew. Hands out the waker of whoever waits.
  Waker drop_children() noexcept {
    const RefPtr<SharedWokenSet> set = std::move(set_);
    Node* rest = std::exchange(first_, nullptr);
    size_ = 0;
    if (!set) return Waker();
    while (rest) {
      Node& node = *std::exchange(rest, rest->after);
      ROUSE_ASSERT(!node.is_running,
                   "FuturesUnordered: a child's poll cleared or destroyed the set it is in");
      drop(*set, node);
    }
    return set->close([](WokenNode& left) { static_cast<Node&>(left).release(); });
  }

  Node& add(F&& future) {
    if (!set_) set_ = make_ref<SharedWokenSet>();
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

  RefPtr<SharedWokenSet> set_;
  Node* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rouse
