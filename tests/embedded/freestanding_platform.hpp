// What the firmware in freestanding_main.cpp needs from its board. On a real one these would be
// a UART, a timer, and the instructions that mask and wait for interrupts.
#pragma once

#include <cstddef>

/// Where the firmware begins; its result is the program's exit status.
extern "C" int firmware_main() noexcept;

extern "C" void platform_write(const char* text, std::size_t size) noexcept;

/// Raises one interrupt, which calls `handler`, after about `microseconds` (at least 1).
extern "C" void platform_start_timer(void (*handler)() noexcept, unsigned microseconds) noexcept;

extern "C" void platform_mask_interrupts() noexcept;
extern "C" void platform_unmask_interrupts() noexcept;

/// Called with interrupts masked: sleeps until one comes. One that is pending ends it at once.
extern "C" void platform_wait_for_interrupt() noexcept;
