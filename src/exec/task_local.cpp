#include "rouse/exec/task_local.hpp"

namespace rouse {
namespace {

constinit thread_local const TaskLocalNode* innermost = nullptr;

}  // namespace

const TaskLocalNode* task_locals() noexcept { return innermost; }

const void* find_task_local(const void* key) noexcept {
  const TaskLocalNode* node = innermost;
  while (node && node->key() != key) node = node->rest();
  return node ? node->value() : nullptr;
}

TaskLocalsScope::TaskLocalsScope(const TaskLocalNode* scopes) noexcept
    : before_(std::exchange(innermost, scopes)) {}
TaskLocalsScope::~TaskLocalsScope() { innermost = before_; }

}  // namespace rouse
