#include "sys/interrupt.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "rouse/base/atomic.hpp"

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

using InterruptFn = void (*)(const Interrupted&) noexcept;
constinit atomic<InterruptFn> interrupt_fn{nullptr};

/// glibc's way to find a module without a lock; null: there is none.
using FindObject = int (*)(void* address, void* found);
constinit atomic<FindObject> find_object{nullptr};
constinit atomic<bool> can_unwind{false};

/// libgcc's unwinder uses that way. Others use dl_iterate_phdr, whose lock the interrupted thread
/// may hold.
bool is_unwinder_without_lock() noexcept {
  if (find_object.load(memory_order_relaxed) == nullptr) return false;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&_Unwind_Backtrace), &info) == 0) return false;
  return info.dli_fname == nullptr || std::strstr(info.dli_fname, "libunwind") == nullptr;
}

void on_interrupt(int, siginfo_t*, void* context) noexcept {
  const int error = errno;
  Interrupted where{};
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  where.code = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
  where.stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  where.code = machine.pc;
  where.stack = machine.sp;
#endif
  // On the same stack, and not on one for signals, this is better: thread sanitizer calls handlers
  // later, somewhere else.
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  constexpr std::uintptr_t same_stack = 65536;
  if (where.stack == 0 || where.stack - here + same_stack < 2 * same_stack) where.stack = here;
  // ORDER: acquire; what was set before the handler was installed.
  interrupt_fn.load(memory_order_acquire)(where);
  errno = error;
}

/// Of a walk over a stack.
struct Unwound {
  const std::uintptr_t interrupted_at;
  const std::span<std::uintptr_t> out;
  std::size_t count = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* frame, void* into) noexcept {
  auto& stack = *static_cast<Unwound*>(into);
  int is_before_instruction = 0;
  const std::uintptr_t code = _Unwind_GetIPInfo(frame, &is_before_instruction);
  if (code == 0) return _URC_END_OF_STACK;
  if (code == stack.interrupted_at) stack.count = 0;  // what came before is the handler's
  if (stack.count == stack.out.size()) return _URC_END_OF_STACK;
  stack.out[stack.count++] = is_before_instruction != 0 ? code : code - 1;
  return _URC_NO_REASON;
}

}  // namespace

int default_interrupt() noexcept { return SIGRTMIN + 7; }

Result<void> install_interrupt(int number, InterruptFn fn) noexcept {
  struct sigaction before{};
  if (::sigaction(number, nullptr, &before) != 0) return last_error();
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == on_interrupt) return {};
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    return std::errc::device_or_resource_busy;
  }
  find_object.store(reinterpret_cast<FindObject>(::dlsym(RTLD_DEFAULT, "_dl_find_object")),
                    memory_order_relaxed);
  can_unwind.store(is_unwinder_without_lock(), memory_order_relaxed);
  // Its first use may need memory.
  std::uintptr_t here[1];
  (void)native_stack(Interrupted{}, here);
  // ORDER: release; to the handler.
  interrupt_fn.store(fn, memory_order_release);
  struct sigaction action{};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  if (::sigaction(number, &action, nullptr) != 0) return last_error();
  return {};
}

Result<void> interrupt(ThreadId thread, int number) noexcept {
  if (::syscall(SYS_tgkill, long{::getpid()}, long{thread}, long{number}) != 0) return last_error();
  return {};
}

ThreadId current_thread_id() noexcept { return ::gettid(); }

bool read_if_mapped(const void* from, void* to, std::size_t size) noexcept {
  const iovec local{.iov_base = to, .iov_len = size};
  const iovec remote{.iov_base = const_cast<void*>(from), .iov_len = size};
  // Each as wide as a register: nothing else tells `syscall` how wide they are.
  return ::syscall(SYS_process_vm_readv, long{::getpid()}, &local, 1UL, &remote, 1UL, 0UL) ==
         static_cast<long>(size);
}

bool is_in_module(const void* address) noexcept {
  const FindObject find = find_object.load(memory_order_relaxed);
  if (find == nullptr) return true;
  alignas(16) char found[256];  // a dl_find_object, which is smaller
  return find(const_cast<void*>(address), found) == 0;
}

std::size_t native_stack(const Interrupted& where, std::span<std::uintptr_t> out) noexcept {
  if (!can_unwind.load(memory_order_relaxed)) {
    if (where.code == 0 || out.empty()) return 0;
    out[0] = where.code;
    return 1;
  }
  Unwound stack{.interrupted_at = where.code, .out = out};
  _Unwind_Backtrace(add_frame, &stack);
  return stack.count;
}

}  // namespace rouse::sys
