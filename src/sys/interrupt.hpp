// The sys seam, a signal that has one thread of this process call a function, and what such a
// function may call. See src/sys/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/result.hpp"

#include "sys/thread.hpp"

namespace rouse::sys {

/// Where a thread was interrupted.
struct Interrupted {
  std::uintptr_t code;   ///< 0: nobody knows
  std::uintptr_t stack;  ///< how deep its stack was; or a little deeper
};

/// SIGRTMIN + 7: what this is used with unless a program says otherwise.
int default_interrupt() noexcept;

/// From now on the signal has a thread call `fn`, which must be async-signal-safe. For good: one
/// may be on its way at any time. Errors: device_or_resource_busy if the program has a handler for
/// the signal, invalid_argument if there is no such signal.
Result<void> install_interrupt(int number, void (*fn)(const Interrupted&) noexcept) noexcept;

/// Sends the signal. Calls that it interrupts are restarted where the system can. Errors:
/// no_such_process if the thread is gone, resource_unavailable_try_again.
Result<void> interrupt(ThreadId thread, int number) noexcept;

// --- For such a function. ---

/// Of the thread that asks, which may be any: it is not remembered.
ThreadId current_thread_id() noexcept;

/// Copies memory of this process. False: it can't be read, or a filter of system calls forbids it.
[[nodiscard]] bool read_if_mapped(const void* from, void* to, std::size_t size) noexcept;

/// Whether this is the address of something in a loaded module. Without a way to find out: true.
bool is_in_module(const void* address) noexcept;

/// The native stack of the interrupted thread, the innermost address first; those of calls are in
/// the call. Gives how many there are. Only what is sure: without an unwinder that takes no lock
/// (glibc 2.35) it is one address.
std::size_t native_stack(const Interrupted& where, std::span<std::uintptr_t> out) noexcept;

}  // namespace rouse::sys
