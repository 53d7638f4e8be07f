#include "core/exception_trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <vector>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/spin_lock.hpp"
#include "rouse/core/exception_trace.hpp"

namespace rouse {
namespace internal {
namespace {

/// The innermost places count: where it was thrown, and who asked for that.
constexpr std::size_t most_places = 16;

struct Trace {
  const void* exception = nullptr;
  std::size_t size = 0;
  std::array<std::source_location, most_places> places;

  void add(const std::source_location& place) noexcept {
    if (size < most_places) places[size++] = place;
  }
};

constinit thread_local Trace last;

/// The traces of exceptions that are stored. When it is full, the oldest is forgotten.
class Table {
 public:
  constexpr Table() noexcept = default;
  void put(const Trace& trace) noexcept {
    const SpinGuard guard(lock_);
    Trace* place = find(trace.exception);
    *(place != nullptr ? place : &traces_[next_++ % traces_.size()]) = trace;
  }
  void erase(const void* exception) noexcept {
    const SpinGuard guard(lock_);
    if (Trace* found = find(exception)) found->exception = nullptr;
  }
  void get(const void* exception, Trace& copy) noexcept {
    const SpinGuard guard(lock_);
    if (const Trace* found = find(exception)) copy = *found;
  }

 private:
  Trace* find(const void* exception) noexcept {
    for (Trace& trace : traces_) {
      if (trace.exception == exception) return &trace;
    }
    return nullptr;
  }

  SpinLock lock_;
  std::size_t next_ = 0;
  std::array<Trace, 64> traces_;
};

constinit Table stored;

const void* address(const std::exception_ptr& error) noexcept {
  static_assert(sizeof error == sizeof(void*));
  const void* object = nullptr;
  std::memcpy(&object, static_cast<const void*>(&error), sizeof object);
  return object;
}

/// Whether the exception that is handled was thrown, not rethrown. The header of one that was
/// thrown lies right before it (Itanium C++ ABI, 2.2.1); to rethrow makes another header,
/// elsewhere.
bool is_thrown(const void* exception) noexcept {
  constexpr std::uintptr_t most_of_a_header = 128;
  const void* header = nullptr;
  std::memcpy(&header, abi::__cxa_get_globals(), sizeof header);  // the innermost that is handled
  const auto distance =
      reinterpret_cast<std::uintptr_t>(exception) - reinterpret_cast<std::uintptr_t>(header);
  return distance <= most_of_a_header;
}

/// Makes `last` the trace of this exception, which was stored; an empty one if nothing is known.
void find_trace(const void* exception) noexcept {
  if (last.exception == exception) return;
  last.exception = exception;
  last.size = 0;
  if (!model_checker) stored.get(exception, last);
}

}  // namespace

// A model has no use for the table, and each access would be a step.
void trace_exception(const std::exception_ptr& error, const std::source_location& where,
                     bool goes_on) noexcept {
  const void* exception = address(error);
  if (is_thrown(exception)) {
    last.exception = exception;
    last.size = 0;
  } else {
    find_trace(exception);
  }
  last.add(where);
  if (!goes_on && !model_checker) stored.put(last);
}

void keep_trace(const std::exception_ptr& error) noexcept {
  if (model_checker || !error) return;
  const void* exception = address(error);
  if (is_thrown(exception)) {  // by what is no coroutine: what is known belongs to another
    if (last.exception == exception) last.exception = nullptr;
    stored.erase(exception);
  } else if (last.exception == exception) {
    stored.put(last);
  }
}

}  // namespace internal

std::vector<std::source_location> trace_of(const std::exception_ptr& error) noexcept {
  if (!error || internal::is_thrown(internal::address(error))) return {};
  internal::find_trace(internal::address(error));
  const auto& trace = internal::last;
  try {
    return {trace.places.begin(), trace.places.begin() + static_cast<std::ptrdiff_t>(trace.size)};
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace rouse
