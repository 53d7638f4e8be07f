// The atomic seam. All lock-free code of the library uses these names and never <atomic> directly:
// with ROUSE_MODEL they become the model checker's, which explores every interleaving.
// Mutex, CondVar and Thread are in base/thread.hpp: their standard headers are heavy and the
// public headers do not need them. Cell, for what atomics guard, is in base/cell.hpp.
#pragma once

#include <atomic>

#if defined(ROUSE_MODEL)
#include "rouse/model/atomic.hpp"
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
#else
inline namespace native {

template <class T>
using atomic = std::atomic<T>;

inline void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }

/// One half of an asymmetric fence: with sys::heavy_fence on another thread it orders what two
/// seq_cst fences would order, but costs nothing here. Between two light fences nothing is ordered.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Tells the processor that this is a spin loop: nothing changes until another thread stores.
inline void spin_hint() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}
#endif

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

}  // inline namespace
}  // namespace rouse
