#include "rouse/exec/task_local.hpp"

namespace rouse {

using namespace internal;
namespace {

constinit thread_local const TaskLocalNode* innermost = nullptr;

}  // namespace

/// The value is in another node.
class TaskLocalNode::SameValue final : public TaskLocalNode {
 public:
  explicit SameValue(RefPtr<TaskLocalNode> owner) noexcept
      : TaskLocalNode(owner->key(), owner->value()), owner_(std::move(owner)) {}

 private:
  RefPtr<TaskLocalNode> with_same_value() override { return make_ref<SameValue>(owner_); }

  const RefPtr<TaskLocalNode> owner_;
};

TaskLocalNode::~TaskLocalNode() = default;

RefPtr<TaskLocalNode> TaskLocalNode::with_same_value() {
  return make_ref<SameValue>(RefPtr<TaskLocalNode>::share(this));
}

/// Who asks has a reference. If it is the only one, nobody else can get one meanwhile.
bool TaskLocalNode::has_one_ref() const noexcept {
  // ORDER: acquire; sees that those who had references no longer read it.
  return refs_.load(memory_order_acquire) == 1;
}

bool TaskLocalNode::try_put_before(const TaskLocalNode* rest) noexcept {
  if (rest_ == rest) return true;
  if (!has_one_ref()) return false;
  if (rest != nullptr) rest->add_ref();
  if (const TaskLocalNode* before = std::exchange(rest_, rest)) before->release();
  return true;
}

void TaskLocalNode::put_before(const TaskLocalNode* rest, RefPtr<TaskLocalNode>& node) {
  if (node->try_put_before(rest)) return;
  node = node->with_same_value();
  static_cast<void>(node->try_put_before(rest));  // it is new, so it can
}

/// In a loop: there may be many scopes in one another.
void TaskLocalNode::release() const noexcept {
  const TaskLocalNode* node = this;
  // ORDER: acq_rel; as RefCounted.
  while (node != nullptr &&
         (node->has_one_ref() || node->refs_.fetch_sub(1, memory_order_acq_rel) == 1)) {
    const TaskLocalNode* const rest = node->rest_;
    delete node;
    node = rest;
  }
}

const TaskLocalNode* internal::task_locals() noexcept { return innermost; }

const void* internal::find_task_local(const void* key) noexcept {
  const TaskLocalNode* node = innermost;
  while (node && node->key() != key) node = node->rest();
  return node ? node->value() : nullptr;
}

TaskLocalsScope::TaskLocalsScope(const TaskLocalNode* scopes) noexcept
    : before_(std::exchange(innermost, scopes)) {}
TaskLocalsScope::~TaskLocalsScope() { innermost = before_; }

}  // namespace rouse
