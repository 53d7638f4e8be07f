#include "rouse/exec/internal/task_header.hpp"

#include <cstddef>
#include <exception>
#include <utility>

#include "rouse/base/internal/block_pool.hpp"

#include "core/exception_trace.hpp"

namespace rouse::internal {

void TaskHeader::become_outcome(const std::exception_ptr* why) noexcept {
  vtable.drop_future(*this, why);
  has_outcome = true;
  vtable.outcome.construct(outcome());
}

void TaskHeader::cancel() noexcept { become_outcome(nullptr); }

void TaskHeader::fail(std::exception_ptr error) noexcept {
  if (!has_outcome) become_outcome(&error);
  vtable.outcome.set_error(outcome(), std::move(error));
}

void TaskHeader::fail_with_current_exception() noexcept {
  std::exception_ptr error = std::current_exception();
  keep_trace(error);
  fail(std::move(error));
}

void TaskHeader::free_block_of(TaskHeader& task) noexcept {
  const std::size_t block_class = task.vtable.block_class;
  task.~TaskHeader();
  internal::free_block_of(&task, block_class);
}

}  // namespace rouse::internal
