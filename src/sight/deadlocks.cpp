#include "sight/deadlocks.hpp"

#include <algorithm>
#include <utility>

namespace rouse::sight {

using rouse::internal::tag_of;

Suspects::Suspects(Arena& arena) noexcept
    : all_(arena.make<Task>(most_tasks + 1)),
      edges_(arena.make<Awaited>(most_awaited)),
      targets_(arena.make<std::uint32_t>(most_awaited)),
      waiters_(arena.make<std::uint32_t>(most_awaited)),
      queue_(arena.make<std::uint32_t>(most_tasks)),
      found_(arena.make<std::uint32_t>(most_in_one)),
      ids_(arena.make<TaskId>(most_in_one)) {}

void Suspects::add(TaskId id, std::span<const Awaited> awaited) noexcept {
  // Without room it counts as one that may go on.
  if (ids_ == nullptr || tasks_ == most_tasks || awaited.size() > most_awaited - awaited_) return;
  std::copy(awaited.begin(), awaited.end(), edges_ + awaited_);
  all_[tasks_++] = Task{.id = id,
                        .first = awaited_,
                        .count = static_cast<std::uint32_t>(awaited.size()),
                        .goes_on = false,
                        .is_taken = false,
                        .first_waiter = 0,
                        .found_from = 0};
  awaited_ += static_cast<std::uint32_t>(awaited.size());
}

/// The tasks are sorted by their tags.
std::uint32_t Suspects::find_task(const Awaited& awaited) const noexcept {
  const std::uint32_t tag = tag_of(awaited.id);
  const Task* const found = std::partition_point(
      all_, all_ + tasks_, [tag](const Task& task) { return tag_of(task.id) < tag; });
  if (found == all_ + tasks_ || tag_of(found->id) != tag) return nobody;
  if (!awaited.is_tag && found->id != awaited.id) return nobody;
  return static_cast<std::uint32_t>(found - all_);
}

/// From those that wait for somebody who is not here, backwards. O(n log n).
void Suspects::leave_those_that_go_on() noexcept {
  std::sort(all_, all_ + tasks_,
            [](const Task& a, const Task& b) { return tag_of(a.id) < tag_of(b.id); });
  for (std::uint32_t i = 0; i <= tasks_; ++i) all_[i].first_waiter = 0;
  for (std::uint32_t edge = 0; edge < awaited_; ++edge) {
    targets_[edge] = find_task(edges_[edge]);
    if (targets_[edge] != nobody) ++all_[targets_[edge]].first_waiter;
  }
  // From how many to where they end; each that is put there moves that to the front.
  for (std::uint32_t i = 0, sum = 0; i <= tasks_; ++i) {
    sum += all_[i].first_waiter;
    all_[i].first_waiter = sum;
  }
  std::uint32_t queued = 0;
  for (std::uint32_t i = 0; i < tasks_; ++i) {
    Task& task = all_[i];
    for (std::uint32_t edge = task.first; edge < task.first + task.count; ++edge) {
      if (targets_[edge] == nobody) {
        if (!task.goes_on) queue_[queued++] = i;
        task.goes_on = true;
      } else {
        waiters_[--all_[targets_[edge]].first_waiter] = i;
      }
    }
  }
  for (std::uint32_t done = 0; done < queued; ++done) {
    const std::uint32_t end = all_[queue_[done] + 1].first_waiter;
    for (std::uint32_t at = all_[queue_[done]].first_waiter; at < end; ++at) {
      Task& waiter = all_[waiters_[at]];
      if (!waiter.goes_on) queue_[queued++] = waiters_[at];
      waiter.goes_on = true;
    }
  }
}

/// A cycle that this task leads to, and all that those in it wait for: so nobody in it waits for
/// anybody else. 0: there is none that was not taken, or it is too large.
std::size_t Suspects::take_cycle(std::uint32_t from) noexcept {
  if (all_[from].goes_on || all_[from].is_taken) return 0;
  // Nobody here goes on, so each waits for one of them: after so many steps it is in a cycle.
  std::uint32_t at = from;
  for (std::uint32_t step = 0; step < tasks_ && !all_[at].is_taken; ++step) {
    at = targets_[all_[at].first];
  }
  const bool is_known = all_[at].is_taken;
  // Whoever waits on the way leads here, too, and is looked at once.
  for (std::uint32_t way = from; !all_[way].is_taken; way = targets_[all_[way].first]) {
    all_[way].is_taken = true;
  }
  if (is_known) return 0;
  std::uint32_t count = 0;
  const auto add = [&](std::uint32_t task) {
    if (std::exchange(all_[task].found_from, from + 1) == from + 1) return true;
    if (count == most_in_one) return false;
    found_[count++] = task;
    return true;
  };
  bool fits = add(at);
  for (std::uint32_t i = 0; i < count && fits; ++i) {
    const Task& task = all_[found_[i]];
    for (std::uint32_t edge = task.first; edge < task.first + task.count && fits; ++edge) {
      fits = add(targets_[edge]);
    }
  }
  std::sort(found_, found_ + count);
  for (std::uint32_t i = 0; i < count; ++i) {
    all_[found_[i]].is_taken = true;
    ids_[i] = all_[found_[i]].id;
  }
  return fits ? count : 0;
}

}  // namespace rouse::sight
