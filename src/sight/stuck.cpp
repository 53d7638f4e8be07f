#include "rouse/sight/stuck.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sight/findings.hpp"
#include "sight/formats.hpp"

namespace rouse::sight {

Stuck::Stuck(Kind what, std::vector<TaskId> which, std::string told) noexcept
    : kind(what), tasks(std::move(which)), text(std::move(told)) {}
Stuck::Stuck(Stuck&&) noexcept = default;
Stuck& Stuck::operator=(Stuck&&) noexcept = default;
Stuck::~Stuck() = default;

TaskId Finding::lowest_id() const noexcept {
  if (group_ != nullptr) return group_->ids[0];
  TaskId lowest = deadlock_->tasks[0].id;
  for (const DeadlockedTask& task : deadlock_->tasks) lowest = std::min(lowest, task.id);
  return lowest;
}

void Finding::write(Out& out) const {
  if (group_ != nullptr) return write_text(out, *snapshot_, *group_);
  write_text(out, *snapshot_, *deadlock_, number_);
}

Stuck Finding::told() const {
  std::vector<TaskId> ids;
  if (group_ != nullptr) {
    const std::size_t known = std::min<std::size_t>(group_->count, Group::most_ids);
    ids.assign(group_->ids.begin(), group_->ids.begin() + known);
  } else {
    for (const DeadlockedTask& task : deadlock_->tasks) ids.push_back(task.id);
  }
  std::string text;
  Out out(text);
  write(out);
  const auto kind = group_ != nullptr ? Stuck::Kind::forgotten : Stuck::Kind::deadlock;
  return Stuck(kind, std::move(ids), std::move(text));
}

void for_each_finding(const Snapshot& snapshot,
                      rouse::internal::FunctionRef<void(const Finding&)> fn) {
  std::uint64_t number = 0;
  for (const Deadlock* deadlock = snapshot.deadlocks(); deadlock; deadlock = deadlock->next) {
    fn(Finding(snapshot, *deadlock, ++number));
  }
  for (const Executor* executor = snapshot.first(); executor; executor = executor->next) {
    for (const Group* group = executor->first; group; group = group->next) {
      if (group->is_forgotten) fn(Finding(snapshot, *group));
    }
  }
}

std::vector<Stuck> find_stuck() {
  // What runs is not stuck: no thread need be asked.
  const Snapshot snapshot(patience_of({}), Snapshot::Asks::no);
  std::vector<Stuck> found;
  for_each_finding(snapshot, [&](const Finding& finding) { found.push_back(finding.told()); });
  return found;
}

}  // namespace rouse::sight
