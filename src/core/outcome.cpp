#include "rouse/core/internal/outcome.hpp"

#include "rouse/base/assert.hpp"

#include "core/exception_trace.hpp"

namespace rouse::internal {

void store_current_exception(std::exception_ptr& uninitialized) noexcept {
  construct(&uninitialized, std::current_exception());
  keep_trace(uninitialized);
}

void rethrow_outcome(OutcomeState state, const std::exception_ptr& error) {
  ROUSE_ASSERT(state == OutcomeState::error, "the result is not there yet: poll until it is ready");
  std::rethrow_exception(error);
}

}  // namespace rouse::internal
