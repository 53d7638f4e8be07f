// The board of the freestanding test, played by Linux: an interrupt is SIGALRM, masking is blocking
// the signal, and `wfi` is sigsuspend. Only this file knows that there is an operating system.
#include "freestanding_platform.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

namespace {
void (*timer_handler)() noexcept;
sigset_t unmasked;

sigset_t alarm_only() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  return set;
}
}  // namespace

extern "C" {
void platform_write(const char* text, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t written = write(STDOUT_FILENO, text, size);
    if (written < 0) return;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

void platform_start_timer(void (*handler)() noexcept, unsigned microseconds) noexcept {
  timer_handler = handler;
  itimerval once{};
  once.it_value.tv_sec = microseconds / 1000000;
  once.it_value.tv_usec = microseconds % 1000000;
  setitimer(ITIMER_REAL, &once, nullptr);
}

void platform_mask_interrupts() noexcept {
  const sigset_t set = alarm_only();
  sigprocmask(SIG_BLOCK, &set, &unmasked);
}

void platform_unmask_interrupts() noexcept { sigprocmask(SIG_SETMASK, &unmasked, nullptr); }

// Unmasks and waits in one step, like `sti; hlt`.
void platform_wait_for_interrupt() noexcept { sigsuspend(&unmasked); }
}

int main() {
  struct sigaction action{};
  action.sa_handler = [](int) { timer_handler(); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  return firmware_main();
}
