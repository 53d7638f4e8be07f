// map, try_map: turn the guard of a Mutex or a RwLock into one of a part of the value, so that a
// function may hand out that part and nothing else.
//
//   auto users = map(co_await state.lock(), [](State& s) -> auto& { return s.users; });
//   users->push_back(name);                  // the whole state stays locked until `users` is gone
//
// Of a member, `map(guard, &State::users)` does.
//
// As in Tokio these are no members, so that `guard->map` is the value's. They work on owned guards
// and on guards that were mapped before, too.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/invoke.hpp"
#include "rouse/sync/lock_guard.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/rw_lock.hpp"

namespace rouse::sync {

/// Access to a part of a locked value; unlocks all of it when it is destroyed. `Guard` is what was
/// mapped.
template <class Part, class Guard>
class [[nodiscard("unlocked at once: keep the guard in a variable")]] MappedGuard {
 public:
  /// `part` is of the value that `guard` has locked.
  MappedGuard(Guard guard, Part& part) noexcept : guard_(std::move(guard)), part_(&part) {}
  MappedGuard(MappedGuard&& other) noexcept
      : guard_(std::move(other.guard_)), part_(std::exchange(other.part_, nullptr)) {}
  MappedGuard& operator=(MappedGuard other) noexcept {
    std::swap(guard_, other.guard_);
    std::swap(part_, other.part_);
    return *this;
  }
  ~MappedGuard() = default;

  Part& operator*() const noexcept ROUSE_LIFETIMEBOUND { return get(); }
  Part* operator->() const noexcept ROUSE_LIFETIMEBOUND { return &get(); }

  /// Unlocks early; the guard is empty afterwards.
  void unlock() noexcept {
    part_ = nullptr;
    guard_.unlock();
  }

 private:
  Part& get() const noexcept {
    ROUSE_ASSERT(part_, "use of a guard that was unlocked or moved from: lock again");
    return *part_;
  }

  Guard guard_;
  Part* part_;
};

/// A part, of type U, of the T of a Mutex.
template <class T, class U>
using MappedMutexGuard = MappedGuard<U, MutexGuard<T>>;
/// A part, of type U, of the T of a RwLock that is read.
template <class T, class U>
using MappedReadGuard = MappedGuard<const U, ReadGuard<T>>;
/// A part, of type U, of the T of a RwLock that is written.
template <class T, class U>
using MappedWriteGuard = MappedGuard<U, WriteGuard<T>>;

}  // namespace rouse::sync

namespace rouse::internal {

template <class Guard, class Fn>
auto map_guard(Guard&& guard, Fn& fn) {
  using Part = std::invoke_result_t<Fn&, decltype(*guard)>;
  constexpr bool is_part = std::is_lvalue_reference_v<Part>;
  static_assert(
      is_part,
      "map(guard, fn): fn returns a reference to a part of the value, and this one returns "
      "a value: a lambda needs `-> auto&`");
  if constexpr (is_part) {
    Part part = internal::invoke(fn, *guard);  // if it throws, the caller still has the guard
    return sync::MappedGuard<std::remove_reference_t<Part>, Guard>(std::move(guard), part);
  }
}

template <class Guard, class Fn>
auto try_map_guard(Guard&& guard, Fn& fn) {
  using Part = std::remove_cvref_t<std::invoke_result_t<Fn&, decltype(*guard)>>;
  constexpr bool is_pointer = std::is_pointer_v<Part>;
  static_assert(is_pointer,
                "try_map(guard, fn): fn returns a pointer to a part of the value, or null");
  if constexpr (is_pointer) {
    using Mapped = sync::MappedGuard<std::remove_pointer_t<Part>, Guard>;
    const Part part = internal::invoke(fn, *guard);
    return part == nullptr ? std::optional<Mapped>()
                           : std::optional<Mapped>(std::in_place, std::move(guard), *part);
  }
}

}  // namespace rouse::internal

namespace rouse::sync {

/// The guard of what `fn(value)` returns a reference to. `guard` is empty afterwards; if `fn`
/// throws, it is as it was.
template <class Value, class Owner, class Fn>
[[nodiscard]] auto map(LockGuard<Value, Owner>&& guard, Fn&& fn) {
  return internal::map_guard(std::move(guard), fn);
}
template <class Part, class Guard, class Fn>
[[nodiscard]] auto map(MappedGuard<Part, Guard>&& guard, Fn&& fn) {
  return internal::map_guard(std::move(guard), fn);
}

/// The same, if the pointer that `fn(value)` returns is not null. Else it gives an empty optional,
/// and `guard` is as it was.
template <class Value, class Owner, class Fn>
[[nodiscard]] auto try_map(LockGuard<Value, Owner>&& guard, Fn&& fn) {
  return internal::try_map_guard(std::move(guard), fn);
}
template <class Part, class Guard, class Fn>
[[nodiscard]] auto try_map(MappedGuard<Part, Guard>&& guard, Fn&& fn) {
  return internal::try_map_guard(std::move(guard), fn);
}

}  // namespace rouse::sync
