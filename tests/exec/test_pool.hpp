// TestPool: a ThreadPool for tests that run one thing after another on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "rouse/exec/block_on.hpp"
#include "rouse/exec/thread_pool.hpp"

namespace rouse::test {

class TestPool {
 public:
  explicit TestPool(std::size_t workers) : pool_(config(workers)) {}

  template <class F, class... Args>
  auto spawn(F&& work, Args&&... args) {
    return pool_.spawn(std::forward<F>(work), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  auto run(F&& work, Args&&... args) {
    return block_on(spawn(std::forward<F>(work), std::forward<Args>(args)...));
  }
  std::uint64_t steals() const {
    std::uint64_t sum = 0;
    for (const auto& worker : pool_.metrics().workers) sum += worker.steals;
    return sum;
  }

 private:
  static ThreadPoolOptions config(std::size_t workers) {
    ThreadPoolOptions made;
    made.workers = workers;
    return made;
  }

  ThreadPool pool_;
};

}  // namespace rouse::test
