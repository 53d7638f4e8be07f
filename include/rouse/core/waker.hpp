// Waker: "poll this task again". Two words, usable from any thread; it may outlive the task and its
// executor. A RawWaker is the part that an executor supplies.
//
// Waking is idempotent: any number of wakes before the next poll cost one poll, a wake during a
// poll causes one more, a wake after completion does nothing, and no wake is ever lost.
#pragma once

#include <concepts>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/ref_ptr.hpp"

namespace rouse {

class RawWaker;

/// The operations that an executor supplies for its data pointer. All four may be called from any
/// thread and must not throw.
struct RawWakerVTable {
  constexpr RawWakerVTable(RawWaker (*clone_fn)(const void*), void (*wake_fn)(const void*),
                           void (*wake_by_ref_fn)(const void*),
                           void (*drop_fn)(const void*)) noexcept
      : clone(clone_fn), wake(wake_fn), wake_by_ref(wake_by_ref_fn), drop(drop_fn) {}

  RawWaker (*clone)(const void* data);    ///< another waker for the same task
  void (*wake)(const void* data);         ///< wake, and drop
  void (*wake_by_ref)(const void* data);  ///< wake, and keep
  void (*drop)(const void* data);         ///< drop the waker without waking
};

/// A waker as an executor creates it: a data pointer and its operations.
class RawWaker {
 public:
  constexpr RawWaker(const void* data, const RawWakerVTable* vtable) noexcept
      : data_(data), vtable_(vtable) {}
  /// The argument of the vtable's functions.
  constexpr const void* data() const noexcept { return data_; }
  /// Null: there is no waker.
  constexpr const RawWakerVTable* vtable() const noexcept { return vtable_; }

 private:
  const void* data_;
  const RawWakerVTable* vtable_;
};

class ROUSE_API Waker {
 public:
  /// Holds no waker, like a null pointer: may only be assigned to, compared and destroyed.
  constexpr Waker() noexcept = default;

  /// Takes over `raw`, which must keep the contract above.
  static constexpr Waker from_raw(RawWaker raw) noexcept { return Waker(raw); }

  Waker(const Waker& other)
      : raw_(other ? other.raw_.vtable()->clone(other.raw_.data()) : other.raw_) {}
  constexpr Waker(Waker&& other) noexcept : raw_(std::exchange(other.raw_, empty)) {}
  Waker& operator=(const Waker& other) { return *this = Waker(other); }
  Waker& operator=(Waker&& other) noexcept {
    const RawWaker old = std::exchange(raw_, std::exchange(other.raw_, empty));
    if (old.vtable()) old.vtable()->drop(old.data());
    return *this;
  }
  constexpr ~Waker() {
    if (raw_.vtable()) raw_.vtable()->drop(raw_.data());
  }

  /// Wakes the task and drops this waker: cheaper than waking by reference and then dropping.
  void wake() && {
    const RawWaker raw = std::exchange(raw_, empty);
    ROUSE_ASSERT(raw.vtable(), "wake() of an empty Waker: it was moved from or never set");
    raw.vtable()->wake(raw.data());
  }

  /// Wakes the task and keeps this waker.
  void wake_by_ref() const {
    ROUSE_ASSERT(raw_.vtable(), "wake_by_ref() of an empty Waker: it was moved from or never set");
    raw_.vtable()->wake_by_ref(raw_.data());
  }

  /// True if both certainly wake the same task. Futures use it to leave a stored waker unchanged.
  [[nodiscard]] constexpr bool will_wake(const Waker& other) const noexcept {
    return raw_.data() == other.raw_.data() && raw_.vtable() == other.raw_.vtable();
  }

  /// Hands the RawWaker to the caller, who wakes or drops it.
  [[nodiscard]] RawWaker into_raw() && noexcept { return std::exchange(raw_, empty); }

  explicit constexpr operator bool() const noexcept { return raw_.vtable() != nullptr; }
  /// The RawWaker inside; the waker keeps it.
  constexpr const RawWaker& as_raw() const noexcept { return raw_; }

  /// A waker that does nothing, for polling by hand.
  static const Waker& noop() noexcept;

 private:
  static constexpr RawWaker empty{nullptr, nullptr};
  explicit constexpr Waker(RawWaker raw) noexcept : raw_(raw) {}

  RawWaker raw_ = empty;
};

static_assert(sizeof(Waker) == 2 * sizeof(void*));

namespace internal {

/// A Waker over a RawWaker that somebody else owns: it is not dropped. Executors poll with it, so
/// that a poll which stores no waker costs no reference count.
class BorrowedWaker {
 public:
  explicit BorrowedWaker(RawWaker raw) noexcept : waker_(Waker::from_raw(raw)) {}
  BorrowedWaker(const BorrowedWaker&) = delete;
  BorrowedWaker& operator=(const BorrowedWaker&) = delete;
  ~BorrowedWaker() {}
  /// The waker, to poll with.
  [[nodiscard]] const Waker& get() const noexcept { return waker_; }

 private:
  union {
    Waker waker_;
  };
};

/// What Waker::noop() is.
struct NoopWaker {
  /// As RawWakerVTable::clone.
  static RawWaker clone(const void*) { return RawWaker(nullptr, &vtable); }
  /// As the others: does nothing.
  static constexpr void ignore(const void*) {}
  static constexpr RawWakerVTable vtable{clone, ignore, ignore, ignore};

  /// Never destroyed: usable before and after main.
  union Storage {
    constexpr Storage() noexcept : waker(Waker::from_raw(RawWaker(nullptr, &vtable))) {}
    constexpr ~Storage() {}
    Waker waker;
  };
};

inline constexpr NoopWaker::Storage noop_waker;

}  // namespace internal

inline const Waker& Waker::noop() noexcept { return internal::noop_waker.waker; }

namespace internal {

/// The vtable of wakers that share ownership of a `W` with a `wake()` member.
template <class W>
struct SharedWaker {
  /// What the waker refers to.
  static const W* self(const void* data) { return static_cast<const W*>(data); }
  /// As RawWakerVTable::clone.
  static RawWaker clone(const void* data) {
    self(data)->add_ref();
    return RawWaker(data, &vtable);
  }
  /// As RawWakerVTable::wake.
  static void wake(const void* data) {
    const_cast<W*>(self(data))->wake();
    self(data)->release();
  }
  /// As RawWakerVTable::wake_by_ref.
  static void wake_by_ref(const void* data) { const_cast<W*>(self(data))->wake(); }
  /// As RawWakerVTable::drop.
  static void drop(const void* data) { self(data)->release(); }
  // NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constexpr is not dynamic
  static constexpr RawWakerVTable vtable{clone, wake, wake_by_ref, drop};
};

}  // namespace internal

/// A Waker that calls `target->wake()`, which must be safe to call from any thread.
template <class W>
  requires requires(W& w) { w.wake(); }
Waker make_waker(RefPtr<W> target) {
  ROUSE_ASSERT(target, "make_waker needs a target: the RefPtr is null");
  return Waker::from_raw(RawWaker(target.leak(), &internal::SharedWaker<W>::vtable));
}

}  // namespace rouse
