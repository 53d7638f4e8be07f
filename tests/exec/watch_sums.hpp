// WatchSums: all that the threads of one executor have noted in watched mode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/task/examinable.hpp"
#include "exec/task/worker_watch.hpp"

namespace rouse::internal {

struct WatchSums {
  std::uint64_t polls = 0;
  std::uint64_t noted = 0;
  std::uint64_t delays = 0;
  std::uint64_t site_polls = 0;
  std::uint64_t tasks = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t site_busy_ns = 0;
};
inline WatchSums sums_of(const Examinable& core) {
  WatchSums sums;
  for (std::size_t i = 0; i < core.workers(); ++i) sums.polls += core.worker(i).polls;
  const WorkerWatch* watch = nullptr;
  for (std::size_t i = 0; core.find_watch(i, watch); ++i) {
    if (watch == nullptr) continue;
    sums.noted += watch->polls.total();
    sums.busy_ns += watch->polls.sum_ns();
    sums.delays += watch->delays.total();
    const auto add = [&](const Site& site) {
      sums.site_polls += site.polls();
      sums.tasks += site.tasks();
      sums.site_busy_ns += site.busy_ns();
    };
    watch->sites.for_each([&](SpawnPlace, const Site& site) { add(site); });
    add(watch->sites.others());
  }
  return sums;
}

}  // namespace rouse::internal
