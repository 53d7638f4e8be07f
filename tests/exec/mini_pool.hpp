// MiniPool: the smallest pool that steals: a queue under a lock, and threads with fork deques that
// spin for work. For tests of fork/join alone. Join every task before it goes.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "rouse/base/thread.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/fork_deque.hpp"
#include "rouse/exec/fork_region.hpp"
#include "rouse/exec/spawner.hpp"

#include "exec/current.hpp"
#include "exec/shared_scheduler.hpp"

namespace rouse::test {

class MiniPool {
 public:
  explicit MiniPool(std::size_t threads) : core_(new Core(threads)) { core_->start(); }
  MiniPool(const MiniPool&) = delete;
  MiniPool& operator=(const MiniPool&) = delete;
  ~MiniPool() {
    core_->stop();
    core_->release();
  }

  template <class F, class... Args>
  auto spawn(F&& work, Args&&... args) {
    return spawn_on(*core_, {}, std::forward<F>(work), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  auto run(F&& work, Args&&... args) {
    return block_on(spawn(std::forward<F>(work), std::forward<Args>(args)...));
  }
  std::size_t steals() const noexcept { return core_->steals.load(memory_order_relaxed); }

 private:
  class Core final : public SharedScheduler {
   public:
    explicit Core(std::size_t threads) : SharedScheduler(nullptr) {
      for (std::size_t i = 0; i < threads; ++i) deques_.push_back(std::make_unique<ForkDeque>());
    }

    void submit(TaskHeader& task) override {
      add_ref();
      enqueue(task, Turn::last);
    }
    void enqueue(TaskHeader& task, Turn) noexcept override {
      const Lock lock(mutex_);
      queue_.push_back(&task);
    }
    void forget(TaskHeader&) noexcept override {}

    void start() {
      for (auto& deque : deques_) threads_.emplace_back([this, &deque] { work(*deque); });
    }
    void stop() {
      stopped_.store(true, memory_order_relaxed);
      for (Thread& thread : threads_) thread.join();
      while (TaskHeader* task = pop()) cancel_now(*task);
    }

    atomic<std::size_t> steals{0};

   private:
    TaskHeader* pop() {
      const Lock lock(mutex_);
      if (queue_.empty()) return nullptr;
      TaskHeader* task = queue_.front();
      queue_.pop_front();
      return task;
    }
    void work(ForkDeque& own) {
      this_thread.scheduler = this;
      while (!stopped_.load(memory_order_relaxed)) {
        if (TaskHeader* task = pop()) {
          if (!run(*task, &own)) enqueue(*task, Turn::last);
        } else if (!steal(own)) {
          std::this_thread::yield();
        }
      }
    }
    bool steal(ForkDeque& own) {
      for (auto& deque : deques_) {
        if (deque.get() == &own) continue;
        if (Frame* branch = deque->steal()) {
          steals.fetch_add(1, memory_order_relaxed);
          promote_branch(*branch);
          return true;
        }
      }
      return false;
    }

    Mutex mutex_;
    std::deque<TaskHeader*> queue_;
    std::vector<std::unique_ptr<ForkDeque>> deques_;
    std::vector<Thread> threads_;
    atomic<bool> stopped_{false};
  };

  Core* core_;
};

}  // namespace rouse::test
