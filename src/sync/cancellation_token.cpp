// The tree of cancellation tokens.
//
// Invariants:
//  - The lock of the tree guards all links and waiters. Nothing recurses, and what is done under
//    it does not grow with the tree: `cancel` gives it back now and then, with the tree in order.
//  - A cancelled node is on its way out of the tree: it gets no more children or waiters, and once
//    `cancel` is done it has none and no parent.
//  - A node without tokens is *abandoned*. It stays only while it connects several children with
//    its parent: so there are never more abandoned nodes than others. A node is freed by whoever
//    takes it out of the tree when it is abandoned, or abandons it outside of the tree.
#include "rouse/sync/cancellation_token.hpp"

#include <cstddef>

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/sync/internal/wait_until.hpp"

#include "sync/wake_batch.hpp"

namespace rouse::internal {

namespace {
struct CancellationTree : RefCounted<CancellationTree> {
  SpinLock lock;
};
}  // namespace

struct CancellationNode {
  explicit CancellationNode(RefPtr<CancellationTree> in) noexcept : tree(std::move(in)) {}
  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* block, std::size_t size) noexcept { free_block(block, size); }

  // ORDER: acquire; whoever sees the cancellation sees what was done before it.
  bool is_cancelled() const noexcept { return cancelled.load(memory_order_acquire); }
  // ORDER: release; pairs with is_cancelled.
  void set_cancelled() noexcept { cancelled.store(true, memory_order_release); }

  bool has_one_child() const noexcept { return first_child && !first_child->after; }

  void link_below(CancellationNode& above) noexcept {
    parent = &above;
    before = nullptr;
    after = above.first_child;
    if (after) after->before = this;
    above.first_child = this;
  }
  void unlink() noexcept {
    if (!parent) return;
    (before ? before->after : parent->first_child) = after;
    if (after) after->before = before;
    parent = before = after = nullptr;
  }

  const RefPtr<CancellationTree> tree;
  atomic<std::size_t> tokens{1};
  atomic<bool> cancelled{false};  // written under the lock
  // Guarded by the lock:
  bool is_abandoned = false;
  CancellationNode* parent = nullptr;
  CancellationNode* first_child = nullptr;
  CancellationNode* before = nullptr;
  CancellationNode* after = nullptr;
  WaitList waiters;
};

}  // namespace rouse::internal

namespace rouse::sync {

using namespace internal;

namespace {

/// Nodes to be freed once the lock is given back.
class Garbage {
 public:
  Garbage() = default;
  Garbage(const Garbage&) = delete;
  Garbage& operator=(const Garbage&) = delete;
  ~Garbage() {
    while (CancellationNode* node = first_) {
      first_ = node->after;
      delete node;
    }
  }
  void add(CancellationNode& unlinked) noexcept {
    unlinked.after = std::exchange(first_, &unlinked);
  }

 private:
  CancellationNode* first_ = nullptr;
};

/// Takes `node` out of the tree if it is abandoned and connects nothing; then its parent, if so.
void trim(CancellationNode* node, Garbage& garbage) noexcept {
  while (node && node->is_abandoned && (!node->first_child || node->has_one_child())) {
    CancellationNode* const parent = node->parent;
    CancellationNode* const child = node->first_child;
    if (child) child->unlink();
    node->unlink();
    if (child && parent) child->link_below(*parent);
    garbage.add(*node);
    node = parent;
  }
}

/// One step of a cancellation of all below `top`. False: there is nothing left to do.
bool cancel_next(CancellationNode& top, WakeBatch& batch, Garbage& garbage) noexcept {
  CancellationNode& node = top.first_child ? *top.first_child : top;
  node.set_cancelled();
  if (!node.waiters.empty()) {
    batch.take(node.waiters.first());
    return true;
  }
  if (&node == &top) return false;
  if (CancellationNode* const below = node.first_child) {
    below->unlink();
    below->link_below(top);
    return true;
  }
  node.unlink();
  if (node.is_abandoned) garbage.add(node);
  return true;
}

void release(CancellationNode& node) noexcept {
  // ORDER: acq_rel; what was done with all tokens comes before the node goes.
  if (node.tokens.fetch_sub(1, memory_order_acq_rel) != 1) return;
  const RefPtr<CancellationTree> tree = node.tree;
  Garbage garbage;
  const SpinGuard guard(tree->lock);
  node.is_abandoned = true;
  trim(&node, garbage);
}

}  // namespace

CancellationToken::CancellationToken()
    : node_(new CancellationNode(make_ref<CancellationTree>())) {}

CancellationToken::CancellationToken(const CancellationToken& other) noexcept : node_(other.node_) {
  if (node_) node_->tokens.fetch_add(1, memory_order_relaxed);
}

CancellationToken::~CancellationToken() {
  if (node_) release(*node_);
}

CancellationNode& CancellationToken::node() const noexcept {
  ROUSE_ASSERT(node_, "use of a CancellationToken that was moved from: use the one it went to");
  return *node_;
}

CancellationToken CancellationToken::child() const {
  CancellationNode& above = node();
  auto* below = new CancellationNode(above.tree);
  const SpinGuard guard(above.tree->lock);
  if (above.is_cancelled()) {
    below->set_cancelled();
  } else {
    below->link_below(above);
  }
  return CancellationToken(*below);
}

void CancellationToken::cancel() const noexcept {
  constexpr unsigned steps_a_hold = 64;
  CancellationNode& top = node();
  SpinLock& lock = top.tree->lock;
  Garbage garbage;
  WakeBatch batch;
  lock.lock();
  CancellationNode* const parent = top.parent;
  top.unlink();
  top.set_cancelled();
  trim(parent, garbage);
  for (unsigned step = 1; cancel_next(top, batch, garbage); ++step) {
    if (!batch.is_full() && step % steps_a_hold != 0) continue;
    lock.unlock();
    batch.wake_all();
    lock.lock();
  }
  lock.unlock();
  batch.wake_all();
}

bool CancellationToken::is_cancelled() const noexcept { return node().is_cancelled(); }

CancellationToken::Cancelled::~Cancelled() {
  if (token_.node_) stop_waiting(token_.node_->tree->lock, token_.node_->waiters, waiter_);
}

Poll<> CancellationToken::Cancelled::poll(Context& cx) {
  if (!cx.take_budget()) return pending;
  CancellationNode& node = token_.node();
  const bool done = wait_until(node.tree->lock, node.waiters, waiter_, cx,
                               [&node] { return node.is_cancelled(); });
  return done ? Poll<>::ready() : Poll<>(pending);
}

}  // namespace rouse::sync
