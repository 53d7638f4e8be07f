// Compiler attributes and the few places where compilers differ. Nothing else in the library asks
// which compiler it is built with.
#pragma once

/// Marks what the library exports; the rest is hidden.
#define ROUSE_API __attribute__((visibility("default")))

/// A class that is moved by moving its bytes: passed and returned in registers where the compiler
/// can, so that one whose address nobody takes needs no memory.
#if defined(__clang__)
#define ROUSE_TRIVIAL_ABI [[clang::trivial_abi]]
#else
#define ROUSE_TRIVIAL_ABI
#endif

/// What a function gives refers to this object or argument: clang warns where that is a temporary.
#if defined(__clang__)
#define ROUSE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define ROUSE_LIFETIMEBOUND
#endif

namespace rouse::internal {

/// Whether `await_suspend` may hand over to the next coroutine with a guaranteed tail call.
/// GCC 12 makes none at -O0, -O1, -Og or under a sanitizer, so there the loop that polls a chain
/// resumes the next frame itself (see core/internal/frame.hpp).
#if defined(__clang__)
inline constexpr bool symmetric_transfer = true;
#else
inline constexpr bool symmetric_transfer = false;
#endif

/// GCC 12 transforms all awaits of one expression before it awaits the first: in
/// `co_await a + co_await b` much time may pass between the transformation of b and its await.
#if defined(__clang__)
inline constexpr bool awaits_follow_their_transformation = true;
#else
inline constexpr bool awaits_follow_their_transformation = false;
#endif

/// What `await_transform` returns for an awaiter that lies in the frame already. GCC 12 would copy
/// an awaiter that it is given by reference.
#if defined(__clang__)
template <class Awaiter>
using AwaiterRef = Awaiter&;
#else
template <class Awaiter>
class AwaiterRef {
 public:
  explicit AwaiterRef(Awaiter& awaiter) noexcept : awaiter_(awaiter) {}
  AwaiterRef(const AwaiterRef&) = delete;
  bool await_ready() { return awaiter_.await_ready(); }
  auto await_suspend(auto awaiting) { return awaiter_.await_suspend(awaiting); }
  decltype(auto) await_resume() { return awaiter_.await_resume(); }

 private:
  Awaiter& awaiter_;
};
#endif

/// GCC 12 destroys an aggregate temporary twice when it stands in an expression with `co_await`.
#if defined(__clang__)
inline constexpr bool aggregate_temporaries_are_safe = true;
#else
inline constexpr bool aggregate_temporaries_are_safe = false;
#endif

/// An address in the code of the function that this is inlined into.
[[gnu::always_inline]] inline const void* code_here() noexcept {
  const void* here = nullptr;
#if defined(__x86_64__)
  asm volatile("1: lea 1b(%%rip), %0" : "=r"(here));  // each call its own
#elif defined(__aarch64__)
  asm volatile("adr %0, ." : "=r"(here));
#endif
  return here;
}

/// The two compilers lay frames and awaiters out differently, so a coroutine of the library can't
/// be awaited in a program of the other one. The library defines the symbol of its own compiler and
/// a program that may await such a coroutine refers to that of its own (core/async_result.hpp):
/// what does not fit together is not linked.
#if defined(__clang__)
// It is a constant of the library: NOLINTNEXTLINE(bugprone-dynamic-static-initializers)
extern ROUSE_API const char same_compiler __asm__("rouse_library_built_with_clang");
#else
extern ROUSE_API const char same_compiler __asm__("rouse_library_built_with_gcc");
#endif

/// AddressSanitizer build: memory goes straight to the allocator so that the sanitizer sees it.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#else
inline constexpr bool address_sanitizer = false;
#endif

/// A coroutine that outlives what it borrows is found: core/internal/checked_promise.hpp. GCC 12
/// does not give a promise all parameters as the standard says.
#if defined(__clang__)
#define ROUSE_CHECKS_BORROWS __has_feature(address_sanitizer)
#else
#define ROUSE_CHECKS_BORROWS 0
#endif

/// Built for the model checker (base/atomic.hpp): its atomics are larger, and memory goes straight
/// to the allocator so that it sees leaks and uses after free.
#if defined(ROUSE_MODEL)
inline constexpr bool model_checker = true;
#else
inline constexpr bool model_checker = false;
#endif

}  // namespace rouse::internal
