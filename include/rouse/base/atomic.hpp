// The atomic seam. All lock-free code of the library uses these names and never <atomic> directly:
// with ROUSE_MODEL they become the model checker's, which explores every interleaving.
// Mutex, CondVar and Thread are in base/thread.hpp: their standard headers are heavy and the
// public headers do not need them. Cell, for what atomics guard, is in base/cell.hpp.
#pragma once

#if defined(ROUSE_MODEL)
#include <atomic>

#include "rouse/model/internal/atomic.hpp"
#else
#include "rouse/base/internal/native_atomic.hpp"
#endif

namespace rouse {
#if defined(ROUSE_MODEL)
inline namespace model_checked {

template <class T>
using atomic = model::Atomic<T>;

inline void fence(std::memory_order order, model::Where where = model::Where::current()) noexcept {
  if (model::inside()) model::atomic_fence(order, where);
}
inline void light_fence(model::Where where = model::Where::current()) noexcept {
  fence(std::memory_order_seq_cst, where);
}
inline void spin_hint(model::Where where = model::Where::current()) noexcept {
  if (model::inside()) model::spin(where);
}

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
#else
inline namespace native {

template <class T>
using atomic = internal::NativeAtomic<T>;

/// As std::atomic_thread_fence.
inline void fence(internal::MemoryOrder order) noexcept { __atomic_thread_fence(order.get()); }

/// One half of an asymmetric fence: with sys::heavy_fence on another thread it orders what two
/// seq_cst fences would order, but costs nothing here. Between two light fences nothing is ordered.
inline void light_fence() noexcept { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// Tells the processor that this is a spin loop: nothing changes until another thread stores.
inline void spin_hint() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline constexpr internal::MemoryOrder memory_order_relaxed(__ATOMIC_RELAXED);
inline constexpr internal::MemoryOrder memory_order_acquire(__ATOMIC_ACQUIRE);
inline constexpr internal::MemoryOrder memory_order_release(__ATOMIC_RELEASE);
inline constexpr internal::MemoryOrder memory_order_acq_rel(__ATOMIC_ACQ_REL);
inline constexpr internal::MemoryOrder memory_order_seq_cst(__ATOMIC_SEQ_CST);
#endif

}  // inline namespace
}  // namespace rouse
