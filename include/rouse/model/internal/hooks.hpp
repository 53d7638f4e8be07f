// What the atomic seam calls in a model-checked build: the engine's entry points, without
// templates. Not for users: they include rouse/model/model.hpp.
//
// Outside of a running model `inside()` is false, and the seam's types do what plain ones do.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::model {

/// What an object of the seam remembers of the execution it was made or last used in. The engine's
/// record of it is made at its first use.
struct Stamp {
  static constexpr std::uint32_t unused = UINT32_MAX;
  static constexpr std::uint32_t destroyed = UINT32_MAX - 1;

  std::uint32_t execution = 0;  // 0: made outside of any
  std::uint32_t index = unused;
  std::uint32_t creator = 0;  // the thread
  std::uint32_t made_at = 0;  // its time
};

/// An atomic's value and stamp.
struct Word {
  void* value;
  std::uint32_t size;  // bytes, 8 at most
  Stamp* stamp;
};

enum class Update : std::uint8_t { exchange, add, subtract, bit_and, bit_or, bit_xor };

[[nodiscard]] constexpr std::uint64_t updated(Update update, std::uint64_t old,
                                              std::uint64_t operand) noexcept {
  switch (update) {
    case Update::exchange:
      return operand;
    case Update::add:
      return old + operand;
    case Update::subtract:
      return old - operand;
    case Update::bit_and:
      return old & operand;
    case Update::bit_or:
      return old | operand;
    case Update::bit_xor:
      return old ^ operand;
  }
  return old;
}

using Where = std::source_location;

/// Whether the caller runs in a thread of a model.
[[nodiscard]] ROUSE_API bool inside() noexcept;

ROUSE_API void object_made(Stamp& stamp) noexcept;

ROUSE_API std::uint64_t atomic_load(Word word, std::memory_order order, Where where) noexcept;
ROUSE_API void atomic_store(Word word, std::uint64_t value, std::memory_order order,
                            Where where) noexcept;
/// The value before.
ROUSE_API std::uint64_t atomic_update(Word word, Update update, std::uint64_t operand,
                                      std::memory_order order, Where where) noexcept;
/// Whether it was as expected; if not, `expected` becomes what it was.
ROUSE_API bool atomic_compare_exchange(Word word, std::uint64_t& expected, std::uint64_t desired,
                                       std::memory_order success, std::memory_order failure,
                                       Where where) noexcept;
ROUSE_API void atomic_destroyed(Word word) noexcept;
ROUSE_API void atomic_fence(std::memory_order order, Where where) noexcept;
ROUSE_API void spin(Where where) noexcept;

ROUSE_API void cell_read(const void* cell, Stamp& stamp, Where where) noexcept;
ROUSE_API void cell_written(const void* cell, Stamp& stamp, Where where) noexcept;
/// A read that only counts if it is confirmed.
ROUSE_API void cell_guessed(const void* cell, Stamp& stamp, Where where) noexcept;
ROUSE_API void cell_confirmed(const void* cell, Stamp& stamp, Where where) noexcept;
ROUSE_API void cell_destroyed(const void* cell, Stamp& stamp) noexcept;

ROUSE_API void mutex_lock(const void* mutex, Stamp& stamp, Where where) noexcept;
ROUSE_API bool mutex_try_lock(const void* mutex, Stamp& stamp, Where where) noexcept;
ROUSE_API void mutex_unlock(const void* mutex, Stamp& stamp, Where where) noexcept;
ROUSE_API void mutex_destroyed(const void* mutex, Stamp& stamp) noexcept;

/// Gives the mutex back while it waits. False: `timed`, and the time has passed.
ROUSE_API bool condition_wait(const void* condition, Stamp& stamp, const void* mutex,
                              Stamp& mutex_stamp, std::uint64_t at_most_ns, Where where) noexcept;
ROUSE_API void condition_notify(const void* condition, Stamp& stamp, bool all,
                                Where where) noexcept;
ROUSE_API void condition_destroyed(const void* condition, Stamp& stamp) noexcept;
inline constexpr std::uint64_t no_limit = UINT64_MAX;

ROUSE_API void parker_park(const void* parker, Stamp& stamp, Where where) noexcept;
ROUSE_API void parker_unpark(const void* parker, Stamp& stamp, Where where) noexcept;
ROUSE_API void parker_destroyed(const void* parker, Stamp& stamp) noexcept;

/// Starts a thread that runs `run(call)`, which also destroys the call. Its number.
ROUSE_API std::uint32_t thread_start(void (*run)(void*), void* call, Where where);
ROUSE_API void thread_join(std::uint32_t thread, Where where) noexcept;
[[nodiscard]] ROUSE_API std::uint32_t current_thread() noexcept;

/// The model's clock: it stands still but when a wait runs out of time.
[[nodiscard]] ROUSE_API std::uint64_t clock_ns() noexcept;

/// Ends the execution: this is what was found.
[[noreturn]] ROUSE_API void misused(const char* message) noexcept;

}  // namespace rouse::model
