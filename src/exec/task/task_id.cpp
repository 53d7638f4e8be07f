#include "rouse/base/atomic.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {
namespace {

constexpr TaskId id_block = 1024;
atomic<TaskId> next_id_block{1};
constinit thread_local TaskId next_id = 0;
constinit thread_local TaskId id_end = 0;

}  // namespace

// A thread takes ids in blocks, so that a spawn costs no shared counter.
TaskId next_task_id() noexcept {
  if (next_id == id_end) {
    next_id = next_id_block.fetch_add(id_block, memory_order_relaxed);
    id_end = next_id + id_block;
  }
  return next_id++;
}

}  // namespace rouse::internal
