#include "sys/poller.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rouse/base/assert.hpp"
#include "rouse/base/atomic.hpp"
#include "rouse/io/error.hpp"

#include "sys/fd.hpp"
#include "sys/linux/call.hpp"
#include "sys/process_fork.hpp"

namespace rouse::sys {
namespace {

using io::Ready;

constexpr std::uint64_t wake_token = ~std::uint64_t{0};

std::uint64_t ready_of(std::uint32_t events) noexcept {
  std::uint64_t ready = 0;
  if ((events & (EPOLLIN | EPOLLPRI)) != 0) ready |= Ready::readable;
  if ((events & EPOLLPRI) != 0) ready |= Ready::urgent;
  if ((events & EPOLLOUT) != 0) ready |= Ready::writable;
  if ((events & (EPOLLRDHUP | EPOLLHUP)) != 0) ready |= Ready::read_closed;
  if ((events & EPOLLHUP) != 0) ready |= Ready::write_closed;
  if ((events & EPOLLERR) != 0) ready |= Ready::error;
  return ready;
}

int wait_call(int epoll, epoll_event* events, int milliseconds) noexcept {
  if constexpr (sanitized) return ::epoll_wait(epoll, events, Poller::max_events, milliseconds);
  return static_cast<int>(::syscall(SYS_epoll_pwait, epoll, events, Poller::max_events,
                                    milliseconds, nullptr, std::size_t{0}));
}

/// For kernels without epoll_pwait2 (before 5.11): rounded up, so that nobody wakes too early and
/// has to wait again.
int wait_milliseconds(int epoll, epoll_event* events, std::chrono::nanoseconds at_most) noexcept {
  constexpr std::chrono::milliseconds longest(1'000'000'000);
  int timeout = -1;
  if (at_most != std::chrono::nanoseconds::max()) {
    timeout = static_cast<int>(
        std::min(std::chrono::ceil<std::chrono::milliseconds>(at_most), longest).count());
  }
  return wait_call(epoll, events, timeout);
}

int wait_for(int epoll, epoll_event* events, std::chrono::nanoseconds at_most) noexcept {
  static constinit atomic<bool> no_pwait2{false};  // this kernel has none
  if (at_most <= std::chrono::nanoseconds(0)) {
    return wait_call(epoll, events, 0);
  }
  if (at_most == std::chrono::nanoseconds::max() || no_pwait2.load(memory_order_relaxed)) {
    return wait_milliseconds(epoll, events, at_most);
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at_most);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (at_most - seconds).count()};
  const int count = ::epoll_pwait2(epoll, events, Poller::max_events, &timeout, nullptr);
  if (count >= 0 || errno == EINTR) return count;
  if (errno == ENOSYS || errno == EPERM) no_pwait2.store(true, memory_order_relaxed);
  return wait_milliseconds(epoll, events, at_most);
}

}  // namespace

Result<std::unique_ptr<Poller>> Poller::make() noexcept {
  auto poller = std::unique_ptr<Poller>(new (std::nothrow) Poller());
  if (!poller) return std::errc::not_enough_memory;
  if (const auto filled = fill_standard_descriptors(); !filled) return filled.error();
  poller->forks_before_ = process_forks();
  poller->epoll_ = io::OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!poller->epoll_) return last_error();
  poller->wake_ = io::OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!poller->wake_) return last_error();
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = wake_token}};
  if (::epoll_ctl(poller->epoll_.get(), EPOLL_CTL_ADD, poller->wake_.get(), &event) != 0) {
    return last_error();
  }
  return poller;
}

/// After fork(2) the child process shares its parent's epoll: events of descriptors that it
/// removes, and events that it receives, would be lost to the parent.
bool Poller::is_of_parent() const noexcept { return process_forks() != forks_before_; }

void Poller::refuse_in_forked_child() const noexcept {
  ROUSE_ASSERT(!is_of_parent(),
               "a runtime is used in a forked child, where it would take the parent's events away: "
               "make a new runtime there, or call exec right after fork");
}

Result<void> Poller::add(int fd, std::uint64_t token, io::Interest interest) noexcept {
  refuse_in_forked_child();
  const auto bits = static_cast<unsigned>(interest);
  epoll_event event{.events = EPOLLET | EPOLLRDHUP, .data = {.u64 = token}};
  if ((bits & 1) != 0) event.events |= EPOLLIN | EPOLLPRI;
  if ((bits & 2) != 0) event.events |= EPOLLOUT;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  if (errno == EPERM) return make_error_code(io::Error::not_pollable);
  return last_error();
}

void Poller::remove(int fd) noexcept {
  if (is_of_parent()) return;
  epoll_event unused{};
  // Fails if somebody closed the descriptor behind our back: then it is removed already.
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, &unused);
}

std::span<const Event> Poller::wait(std::chrono::nanoseconds at_most) noexcept {
  refuse_in_forked_child();
  epoll_event found[max_events];
  const int count = wait_for(epoll_.get(), found, at_most);  // EINTR: who waits looks again
  ROUSE_ASSERT(count >= 0 || errno == EINTR,
               "the runtime's epoll descriptor is no longer there: somebody closed a descriptor "
               "that is not his, perhaps one number twice");
  std::size_t told = 0;
  for (int i = 0; i < count; ++i) {
    if (found[i].data.u64 == wake_token) continue;
    events_[told++] = {.token = found[i].data.u64, .ready = ready_of(found[i].events)};
  }
  return {events_, told};
}

// The eventfd is never read: each write is an edge of its own, and its 64 bits do not fill up.
void Poller::wake() noexcept {
  const int written = retry([&] { return ::eventfd_write(wake_.get(), 1); });
  ROUSE_ASSERT(written == 0,
               "the runtime's eventfd is no longer there: somebody closed a descriptor that is not "
               "his, perhaps one number twice");
}

}  // namespace rouse::sys
