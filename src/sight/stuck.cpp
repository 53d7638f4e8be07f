#include "rouse/sight/stuck.hpp"

#include <algorithm>
#include <utility>

#include "exec/task/current.hpp"
#include "sight/formats.hpp"

namespace rouse::sight {

Stuck::Stuck(Kind what, std::vector<TaskId> which, std::string told) noexcept
    : kind(what), tasks(std::move(which)), text(std::move(told)) {}
Stuck::Stuck(Stuck&&) noexcept = default;
Stuck& Stuck::operator=(Stuck&&) noexcept = default;
Stuck::~Stuck() = default;

std::vector<Stuck> find_stuck() {
  const Snapshot snapshot(patience_of({}));
  std::vector<Stuck> found;
  std::uint64_t number = 0;
  for (const Deadlock* deadlock = snapshot.deadlocks(); deadlock; deadlock = deadlock->next) {
    std::vector<TaskId> ids;
    for (const DeadlockedTask& task : deadlock->tasks) ids.push_back(task.id);
    std::string text;
    Out out(text);
    write_text(out, snapshot, *deadlock, ++number);
    found.emplace_back(Stuck::Kind::deadlock, std::move(ids), std::move(text));
  }
  for (const Executor* executor = snapshot.first(); executor; executor = executor->next) {
    for (const Group* group = executor->first; group; group = group->next) {
      if (!group->is_forgotten) continue;
      const std::size_t known = std::min<std::size_t>(group->count, Group::most_ids);
      std::string text;
      Out out(text);
      write_text(out, snapshot, *group);
      found.emplace_back(Stuck::Kind::forgotten,
                         std::vector<TaskId>(group->ids.begin(), group->ids.begin() + known),
                         std::move(text));
    }
  }
  return found;
}

}  // namespace rouse::sight
