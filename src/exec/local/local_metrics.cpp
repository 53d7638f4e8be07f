// LocalCore, in figures. Any thread.
#include "exec/local/local_core.hpp"

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

}  // namespace rouse::internal
