// LocalCore, in figures: any thread reads them. And what is noted of a wake.
#include "exec/local/local_core.hpp"
#include "exec/task/observe.hpp"

namespace rouse::internal {

SchedulerMetrics LocalCore::figures() const noexcept {
  SchedulerMetrics metrics;
  const std::uint64_t completed = counters_.completed.get();
  metrics.spawned_tasks = counters_.spawned.get();
  metrics.alive_tasks = difference(metrics.spawned_tasks, completed);
  // ORDER: acquire; sees them.
  const TimerDrivers* const drivers = shown_drivers_.load(memory_order_acquire);
  metrics.has_io = drivers != nullptr;
  if (metrics.has_io) metrics.io = drivers->io_metrics();
  return metrics;
}

bool LocalCore::find_watch(std::size_t index, const WorkerWatch*& watch) const noexcept {
  watch = watch_.get();
  return index == 0;
}

PoolMetrics LocalCore::metrics() const {
  const SchedulerMetrics figures = this->figures();
  PoolMetrics metrics;
  metrics.spawned_tasks = figures.spawned_tasks;
  metrics.alive_tasks = figures.alive_tasks;
  metrics.workers.push_back(worker(0));
  return metrics;
}

/// A task that wakes itself is not idle: the end of its poll says so.
void LocalCore::note_own_wake(const TaskHeader& task) noexcept {
  if (this_thread.task != &task) note_wake(task);
  if (samples_wakes_) watch_.get()->sample.woken(task);
}

}  // namespace rouse::internal
