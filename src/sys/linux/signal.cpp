// The handler increments the signal's count and then writes to the eventfd: who is woken by the
// write sees the count. Both are lock-free, and nothing else happens in the handler, except that it
// calls the handler that was installed before.
#include "sys/signal.hpp"

#include <cerrno>
#include <csignal>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rouse/base/atomic.hpp"
#include "rouse/base/thread.hpp"

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

constexpr int signal_numbers = 65;  // 1 to 64

static_assert(atomic<std::uint64_t>::is_always_lock_free, "a signal handler must not lock");

struct Counted {
  atomic<std::uint64_t> count{0};
  bool is_installed = false;  // guarded by `installing`
  struct sigaction before{};  // written before the handler is installed
};

constinit Counted handled[signal_numbers];
constinit atomic<int> event{-1};
constinit Mutex installing;

void call_previous(const struct sigaction& before, int number, siginfo_t* info,
                   void* context) noexcept {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, info, context);
  if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) return;
  before.sa_handler(number);
}

void on_signal(int number, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  // ORDER: release; pairs with signal_count: what happened before the signal is seen with it.
  handled[number].count.fetch_add(1, memory_order_release);
  const std::uint64_t one = 1;
  // Fails only if the eventfd is full, which it never is.
  retry([&] { return ::write(event.load(memory_order_relaxed), &one, sizeof one); });
  call_previous(handled[number].before, number, info, context);
  errno = error;
}

/// Those that can't be caught, and those that tell of a fault: returning from their handler would
/// only repeat it.
bool is_forbidden(int number) noexcept {
  switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGILL:
    case SIGFPE:
    case SIGBUS:
      return true;
    default:
      return number < 1 || number >= signal_numbers;
  }
}

Result<void> open_event() noexcept {
  if (event.load(memory_order_relaxed) >= 0) return {};
  const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (made < 0) return last_error();
  event.store(made, memory_order_relaxed);
  return {};
}

}  // namespace

Result<void> count_signal(int number) noexcept {
  if (is_forbidden(number)) return std::errc::invalid_argument;
  const Lock lock(installing);
  Counted& signal = handled[number];
  if (signal.is_installed) return {};
  if (const Result<void> opened = open_event(); !opened) return opened;
  if (::sigaction(number, nullptr, &signal.before) != 0) return last_error();
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  action.sa_mask = signal.before.sa_mask;
  if (::sigaction(number, &action, nullptr) != 0) return last_error();
  signal.is_installed = true;
  return {};
}

std::uint64_t signal_count(int number) noexcept {
  // ORDER: acquire; pairs with on_signal.
  return handled[number].count.load(memory_order_acquire);
}

void take_only_signals(std::span<const int> numbers) noexcept {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT}) {
    sigdelset(&blocked, fault);
  }
  for (const int number : numbers) sigdelset(&blocked, number);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

int signal_event() noexcept { return event.load(memory_order_relaxed); }

}  // namespace rouse::sys
