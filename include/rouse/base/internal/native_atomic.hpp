// NativeAtomic<T>: what std::atomic<T> is, made of the compiler's atomic operations. <atomic> also
// has waiting, floating point and shared pointers, which every program would read.
#pragma once

#include <type_traits>

namespace rouse::internal {

class MemoryOrder {
 public:
  explicit constexpr MemoryOrder(int order) noexcept : order_(order) {}
  /// Of a std::memory_order too: it has the same numbers.
  template <class Order>
    requires std::is_enum_v<Order>
  constexpr MemoryOrder(Order order) noexcept : order_(static_cast<int>(order)) {}

  [[nodiscard]] constexpr int get() const noexcept { return order_; }
  /// For a compare-exchange that fails: it stores nothing.
  [[nodiscard]] constexpr int of_failure() const noexcept {
    if (order_ == __ATOMIC_ACQ_REL) return __ATOMIC_ACQUIRE;
    return order_ == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order_;
  }

 private:
  int order_;
};

inline constexpr MemoryOrder seq_cst(__ATOMIC_SEQ_CST);

template <class T>
class NativeAtomic {
  static_assert(__is_trivially_copyable(T),
                "an atomic of a type with a copy of its own: make it trivially copyable");
  static_assert(__atomic_always_lock_free(sizeof(T), nullptr),
                "an atomic of this size would lock: use a smaller type, or a Mutex");

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr NativeAtomic() noexcept : value_() {}
  // Not explicit, as the standard's: NOLINTNEXTLINE(google-explicit-constructor)
  constexpr NativeAtomic(T value) noexcept : value_(value) {}
  NativeAtomic(const NativeAtomic&) = delete;
  NativeAtomic& operator=(const NativeAtomic&) = delete;

  T load(MemoryOrder order = seq_cst) const noexcept {
    T value;
    __atomic_load(&value_, &value, order.get());
    return value;
  }
  void store(T value, MemoryOrder order = seq_cst) noexcept {
    __atomic_store(&value_, &value, order.get());
  }
  T exchange(T value, MemoryOrder order = seq_cst) noexcept {
    T old;
    __atomic_exchange(&value_, &value, &old, order.get());
    return old;
  }

  bool compare_exchange_strong(T& expected, T desired, MemoryOrder success,
                               MemoryOrder failure) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, success.get(),
                                     failure.get());
  }
  bool compare_exchange_strong(T& expected, T desired, MemoryOrder order = seq_cst) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, false, order.get(),
                                     order.of_failure());
  }
  bool compare_exchange_weak(T& expected, T desired, MemoryOrder success,
                             MemoryOrder failure) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, true, success.get(),
                                     failure.get());
  }
  bool compare_exchange_weak(T& expected, T desired, MemoryOrder order = seq_cst) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &desired, true, order.get(),
                                     order.of_failure());
  }

  // Of whole numbers only: of a pointer the compiler's operation counts bytes.
  T fetch_add(T operand, MemoryOrder order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_add(&value_, operand, order.get());
  }
  T fetch_sub(T operand, MemoryOrder order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_sub(&value_, operand, order.get());
  }
  T fetch_and(T operand, MemoryOrder order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_and(&value_, operand, order.get());
  }
  T fetch_or(T operand, MemoryOrder order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_or(&value_, operand, order.get());
  }
  T fetch_xor(T operand, MemoryOrder order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_xor(&value_, operand, order.get());
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
  T operator+=(T operand) noexcept { return static_cast<T>(fetch_add(operand) + operand); }
  T operator-=(T operand) noexcept { return static_cast<T>(fetch_sub(operand) - operand); }

 private:
  alignas(sizeof(T)) T value_;
};

}  // namespace rouse::internal
