// IoPark: where a LocalExecutor sleeps that also waits for sockets. It is in epoll_wait until one
// of the descriptors somebody waits for is readable, or another thread unparks it. Both become
// wakes. All but `unpark` belongs to the executor's thread, so there is no lock.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utility>

#include <rouse/core/waker.hpp>
#include <rouse/exec/park.hpp>

#include "fd.hpp"

class IoPark : public rouse::Park {
 public:
  IoPark() { set(EPOLL_CTL_ADD, unparked_.get(), EPOLLIN); }

  /// `fd` is open from here until `remove`. A descriptor that nobody waits for is quiet.
  void add(int fd) { set(EPOLL_CTL_ADD, fd, EPOLLONESHOT); }
  void remove(int fd) {
    wakers_.erase(fd);
    set(EPOLL_CTL_DEL, fd, 0);
  }

  /// Wakes once, when `fd` can be read or is at its end.
  void wake_when_readable(int fd, const rouse::Waker& waker) {
    wakers_.insert_or_assign(fd, waker);
    set(EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT);
  }
  void forget_waker(int fd) { wakers_.erase(fd); }

  void park(std::chrono::nanoseconds at_most) override {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(
        std::min<std::chrono::nanoseconds>(at_most, std::chrono::hours(24)));
    std::array<epoll_event, 16> events;
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               static_cast<int>(ms.count()));
    for (int i = 0; i < n; ++i) {  // n is -1 after a signal: parking may end early
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      eventfd_t ignored = 0;
      if (fd == unparked_.get()) ::eventfd_read(fd, &ignored);
      auto entry = wakers_.extract(fd);
      if (!entry.empty()) std::move(entry.mapped()).wake();
    }
  }
  void unpark() noexcept override { ::eventfd_write(unparked_.get(), 1); }

 private:
  void set(int operation, int fd, unsigned events) {
    epoll_event event{.events = events, .data = {.fd = fd}};
    check(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl");
  }

  const Fd epoll_{::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"};
  const Fd unparked_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"};
  std::map<int, rouse::Waker> wakers_;
};
