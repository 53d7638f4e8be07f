// Allocations that fail on command, and how each is tried: a scenario is run again and again with
// the first, the second, the third ... allocation failing, until it makes no more; each of them
// alone, and each with all that come after it.
//
// An allocation is an operator new, or a block for a coroutine's frame or a task, whether the pool
// of blocks has to ask for memory or not (the linker sends those here, see CMakeLists.txt); of
// whatever thread. The thread sanitizer has an operator new of its own: there only blocks fail.
// What the C library allocates is in the table of calls, as ENOMEM.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "rouse/core/async.hpp"
#include "rouse/runtime/runtime.hpp"

namespace rouse::faulty {

enum class Failing { once, from_then_on };

class FailingAllocation {
 public:
  /// Lets `skip` of them pass, then one fails, or all do while this lives. The first takes so long
  /// to fail: what other threads do meanwhile is over then.
  FailingAllocation(long skip, Failing how, std::chrono::milliseconds takes = {}) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  [[nodiscard]] bool has_failed() const noexcept;
};

/// What comes out is success or not_enough_memory; nothing is left; and the same runtime goes on,
/// also with the scenario itself. On both kinds of runtimes.
void try_each_allocation(const std::string& name, const std::function<void(Runtime&)>& scenario);
void try_each_allocation(const std::string& name, Async<void> (*scenario)());

}  // namespace rouse::faulty
