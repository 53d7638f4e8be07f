#include "rouse/exec/join_handle.hpp"

#include <exception>
#include <string>
#include <utility>

namespace rouse {

using namespace internal;

JoinError::JoinError(TaskId id)
    : std::runtime_error(
          id == 0 ? "a child of parallel or scope was cancelled, because the executor that ran it "
                    "ended: let it live until the await is over"
                  : "task " + std::to_string(id) + " was cancelled before it was done"),
      id_(id) {}
JoinError::~JoinError() = default;

void internal::join_failed(TaskHeader& task) {
  const TaskId id = task.id();
  std::exception_ptr error = task.discard();
  task.scheduler.joined(task);
  if (!error) throw JoinError(id);
  std::rethrow_exception(std::move(error));
}

}  // namespace rouse
