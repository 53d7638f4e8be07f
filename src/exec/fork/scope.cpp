#include "rouse/exec/scope.hpp"

#include <new>
#include <unordered_set>

#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_local.hpp"

#include "exec/fork/branch_group.hpp"

namespace rouse {

using namespace internal;

/// The children that have not ended, and the first error. Owned by the scope: a child's task
/// touches it only between `enter` and `leave` of the group.
class internal::ScopeState {
 public:
  ~ScopeState() { end(); }

  /// If there is no memory for its task, the scope fails.
  void start(Frame& child);
  /// The child ended.
  void remove(Frame& child);
  void fail(std::exception_ptr error) noexcept;
  std::exception_ptr error() {
    const Lock lock(mutex_);
    return error_;
  }
  void end() noexcept {
    group->cancel_and_wait(0);
    destroy_children();
  }

  // First: a dump reads it there (base/shape.hpp).
  const RefPtr<BranchGroup> group = make_ref<BranchGroup>(task_locals());

 private:
  void remember(Frame& child);
  void destroy_children() noexcept {
    for (Frame* child : std::exchange(children_, {})) child->destroy();
  }

  Mutex mutex_;
  std::unordered_set<Frame*> children_;
  std::exception_ptr error_;
};

namespace {

/// The task of a child.
class ScopeTask {
 public:
  using Output = void;
  ScopeTask(ScopeState& scope, Frame& child) noexcept
      : group_(scope.group), scope_(&scope), child_(&child) {}
  ScopeTask(ScopeTask&&) noexcept = default;
  ~ScopeTask() {
    // It goes before the child ended: the scope, if it is still there, has failed.
    if (group_ && child_) fail(BranchGroup::executor_ended());
  }
  /// The scheduler had no memory for the task, which goes now.
  void task_failed(std::exception_ptr why) noexcept { fail(std::move(why)); }

  ROUSE_SHAPE(ScopeTask, nullptr, branch, &ScopeTask::child_, &ScopeTask::group_)
  Poll<void> poll(Context& cx) {
    if (!group_->enter()) return Poll<void>::ready();
    const bool ended = group_->poll(*child_, cx);
    if (ended) scope_->remove(*std::exchange(child_, nullptr));
    group_->leave(ended);
    if (!ended) return pending;
    return Poll<void>::ready();
  }

 private:
  void fail(std::exception_ptr why) noexcept {
    if (!group_->enter()) return;
    scope_->fail(std::move(why));
    group_->leave(false);
  }

  RefPtr<BranchGroup> group_;
  ScopeState* scope_;
  Frame* child_;
};

}  // namespace

void ScopeState::start(Frame& child) {
  Scheduler* scheduler = BranchGroup::scheduler();
  ROUSE_ASSERT(scheduler != nullptr,
               "Scope::spawn without an executor: run the scope inside a task, of a Runtime or a "
               "LocalExecutor");
  remember(child);
  // This runs inside a poll of fn or of a child, so the scope can't be gone before it returns.
  if (!group->enroll()) {
    if (group->is_lost()) fail(group->why_lost());
    return remove(child);
  }
  ScopeTask task(*this, child);
  try {
    group->keep(spawn_on(*scheduler, {}, std::move(task)));
  } catch (const std::bad_alloc&) {
    fail(std::current_exception());
  }
}

void ScopeState::remember(Frame& child) {
  try {
    const Lock lock(mutex_);  // not while the child is destroyed, which runs destructors of others
    children_.insert(&child);
  } catch (const std::bad_alloc&) {
    child.destroy();
    throw;
  }
}

void ScopeState::remove(Frame& child) {
  {
    const Lock lock(mutex_);
    children_.erase(&child);
  }
  child.destroy();
}

void ScopeState::fail(std::exception_ptr error) noexcept {
  {
    const Lock lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
  }
  group->wake_parent();
}

Scope::Scope() : state_(internal::make_box<ScopeState>()) {}
Scope::~Scope() = default;

void Scope::start(Frame* child) { state_->start(*child); }
void Scope::fail(std::exception_ptr error) noexcept { state_->fail(std::move(error)); }
std::exception_ptr Scope::error() const noexcept { return state_->error(); }
bool Scope::poll_children(const Context& cx) { return state_->group->poll_all_ended(cx); }
void Scope::end() noexcept { state_->end(); }

}  // namespace rouse
