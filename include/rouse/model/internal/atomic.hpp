// Atomic<T>: what rouse::atomic<T> is in a model-checked build. Every operation is a step of the
// model: another thread may go first, and a load may see any store that the memory model allows.
// Outside of a model it is a plain atomic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rouse/model/internal/hooks.hpp"

namespace rouse::model {

/// What is added to an atomic T: for a pointer, a number of elements.
template <class T>
using Difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

template <class T>
class Atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t),
                "the model checker's atomics hold at most 8 bytes");
  static constexpr auto seq_cst = std::memory_order_seq_cst;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr Atomic() noexcept : Atomic(T{}) {}
  // Not explicit, as the standard's: NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Atomic(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated()) object_made(stamp_);
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  constexpr ~Atomic() {
    if (!std::is_constant_evaluated()) atomic_destroyed(word());
  }

  [[nodiscard]] bool is_lock_free() const noexcept { return true; }

  T load(std::memory_order order = seq_cst, Where where = Where::current()) const noexcept {
    if (inside()) return decode(atomic_load(word(), order, where));
    T value;
    __atomic_load(&value_, &value, __ATOMIC_SEQ_CST);
    return value;
  }
  void store(T value, std::memory_order order = seq_cst, Where where = Where::current()) noexcept {
    if (inside()) return atomic_store(word(), encode(value), order, where);
    __atomic_store(&value_, &value, __ATOMIC_SEQ_CST);
  }
  T exchange(T value, std::memory_order order = seq_cst, Where where = Where::current()) noexcept {
    if (inside()) {
      return decode(atomic_update(word(), Update::exchange, encode(value), order, where));
    }
    T old;
    __atomic_exchange(&value_, &value, &old, __ATOMIC_SEQ_CST);
    return old;
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure, Where where = Where::current()) noexcept {
    if (!inside()) {
      return __atomic_compare_exchange(&value_, &expected, &desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
    }
    std::uint64_t found = encode(expected);
    const bool done =
        atomic_compare_exchange(word(), found, encode(desired), success, failure, where);
    if (!done) expected = decode(found);
    return done;
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order = seq_cst,
                               Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, order, of_failure(order), where);
  }
  /// Never fails without a reason here.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure, Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order = seq_cst,
                             Where where = Where::current()) noexcept {
    return compare_exchange_strong(expected, desired, order, of_failure(order), where);
  }

  T fetch_add(Difference<T> operand, std::memory_order order = seq_cst,
              Where where = Where::current()) noexcept {
    return update(Update::add, scaled(operand), order, where);
  }
  T fetch_sub(Difference<T> operand, std::memory_order order = seq_cst,
              Where where = Where::current()) noexcept {
    return update(Update::subtract, scaled(operand), order, where);
  }
  T fetch_and(T operand, std::memory_order order = seq_cst,
              Where where = Where::current()) noexcept {
    return update(Update::bit_and, encode(operand), order, where);
  }
  T fetch_or(T operand, std::memory_order order = seq_cst,
             Where where = Where::current()) noexcept {
    return update(Update::bit_or, encode(operand), order, where);
  }
  T fetch_xor(T operand, std::memory_order order = seq_cst,
              Where where = Where::current()) noexcept {
    return update(Update::bit_xor, encode(operand), order, where);
  }

  // As the standard's: NOLINTNEXTLINE(google-explicit-constructor)
  operator T() const noexcept { return load(); }
  // As the standard's: NOLINTNEXTLINE(misc-unconventional-assign-operator)
  T operator=(T value) noexcept {
    store(value);
    return value;
  }
  T operator++() noexcept { return static_cast<T>(fetch_add(1) + 1); }
  T operator++(int) noexcept { return fetch_add(1); }
  T operator--() noexcept { return static_cast<T>(fetch_sub(1) - 1); }
  T operator--(int) noexcept { return fetch_sub(1); }

 private:
  static constexpr std::memory_order of_failure(std::memory_order order) noexcept {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    if (order == std::memory_order_release) return std::memory_order_relaxed;
    return order;
  }
  static std::uint64_t encode(const T& value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
  static T decode(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  static std::uint64_t scaled(Difference<T> operand) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return static_cast<std::uint64_t>(operand) * sizeof(std::remove_pointer_t<T>);
    } else {
      return encode(operand);
    }
  }
  Word word() const noexcept {
    // An atomic is used through references to const, too.
    return Word{const_cast<std::remove_const_t<T>*>(&value_), sizeof(T), &stamp_};
  }
  T update(Update kind, std::uint64_t operand, std::memory_order order, Where where) noexcept {
    if (inside()) return decode(atomic_update(word(), kind, operand, order, where));
    T old = load();
    for (;;) {
      T changed = decode(updated(kind, encode(old), operand));
      if (compare_exchange_strong(old, changed, seq_cst, seq_cst)) return old;
    }
  }

  T value_;
  mutable Stamp stamp_;
};

}  // namespace rouse::model
