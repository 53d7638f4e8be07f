#include "exec/task/worker_watch.hpp"

#include <new>

#include "rouse/core/internal/frame.hpp"

#include "exec/task/watching.hpp"

namespace rouse::internal {

constinit atomic<std::uint32_t> watching_count{0};

Watching::Watching() noexcept {
  sys::prepare_ticks();
  // ORDER: release; publishes what the clock of ticks is worth.
  watching_count.fetch_add(1, memory_order_release);
}
// ORDER: relaxed; publishes nothing.
Watching::~Watching() { watching_count.fetch_sub(1, memory_order_relaxed); }

WorkerWatch* WatchPlace::make() noexcept {
  if (WorkerWatch* const made = watch_.load(memory_order_relaxed)) return made;
  auto* const made = new (std::nothrow) WorkerWatch;
  // ORDER: release; publishes it.
  watch_.store(made, memory_order_release);
  return made;
}

/// For the thread that has polled it.
std::source_location PollWatch::last_await(const TaskHeader& task) noexcept {
  const Frame* const root = task.frame();
  const Frame* innermost = nullptr;
  if (root != nullptr) {
    root->visit_chain([&](const Frame& frame) {
      if (innermost == nullptr) innermost = &frame;
    });
  }
  return innermost == nullptr ? std::source_location() : innermost->where();
}

}  // namespace rouse::internal
