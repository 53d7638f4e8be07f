#include "rouse/exec/internal/task_header.hpp"

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "rouse/base/internal/block_pool.hpp"

#include "core/exception_trace.hpp"

namespace rouse::internal {

void TaskHeader::drop_future(const std::exception_ptr* why) noexcept {
  vtable.drop_future(*this, why);
  content = Content::nothing;
}

const char* TaskHeader::name() const noexcept {
  if (vtable.name_offset == 0) return nullptr;
  const char* const place = reinterpret_cast<const char*>(this) + vtable.name_offset;
  return std::launder(reinterpret_cast<const std::string*>(place))->c_str();
}

void TaskHeader::cancel() noexcept { drop_future(nullptr); }

void TaskHeader::fail(std::exception_ptr error) noexcept {
  if (content <= Content::future) drop_future(&error);
  new (outcome()) std::exception_ptr(std::move(error));  // the cell is a union: all at its address
  content = Content::error;
}

std::exception_ptr TaskHeader::discard() noexcept {
  const Content held = std::exchange(content, Content::nothing);
  if (held == Content::error) {
    auto& error = *static_cast<std::exception_ptr*>(outcome());
    std::exception_ptr untaken = std::exchange(error, nullptr);
    error.~exception_ptr();
    return untaken;
  }
  if (held == Content::value && vtable.destroy_value) vtable.destroy_value(outcome());
  return nullptr;
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
