#include "rouse/exec/join_handle.hpp"

#include <string>

namespace rouse {

using namespace internal;

JoinError::JoinError(TaskId id)
    : std::runtime_error(
          id == 0 ? "a child of parallel or scope was cancelled, because the executor that ran it "
                    "ended: let it live until the await is over"
                  : "task " + std::to_string(id) + " was cancelled before it was done"),
      id_(id) {}
JoinError::~JoinError() = default;

}  // namespace rouse
