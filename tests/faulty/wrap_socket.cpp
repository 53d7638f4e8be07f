// Calls on sockets and on the poller: see faults.hpp. Each wrapper is the call itself if no fault
// is armed for it.
#include <algorithm>
#include <cstdarg>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faulty/faults.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.

using rouse::faulty::Asked;
using rouse::faulty::pass;

namespace {

const char* name_of_question(int level, int option) {
  if (level == SOL_SOCKET && option == SO_ERROR) return "getsockopt(SO_ERROR)";
  if (level == SOL_SOCKET && option == SO_DOMAIN) return "getsockopt(SO_DOMAIN)";
  return "getsockopt";
}

/// The buffers up to `size` bytes, in `kept`.
int shortened(const Asked& asked, const iovec* all, int count, iovec& kept) {
  if (asked.shorten(2) != 1 || count == 0) return count;
  while (count > 1 && all->iov_len == 0) ++all, --count;
  kept = {.iov_base = all->iov_base, .iov_len = std::min<std::size_t>(all->iov_len, 1)};
  return 1;
}

}  // namespace

extern "C" {

// --- The poller. ---

int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags) {
  return pass("epoll_create1", -1, [&] { return __real_epoll_create1(flags); });
}

int __real_epoll_ctl(int epoll, int what, int fd, epoll_event* event);
/// A removal that fails with an error was none because there was nothing left to remove.
int __wrap_epoll_ctl(int epoll, int what, int fd, epoll_event* event) {
  if (what == EPOLL_CTL_DEL) {
    rouse::faulty::note_unwatched(fd);
    const Asked asked("epoll_ctl(DEL)");
    const int result = __real_epoll_ctl(epoll, what, fd, event);
    if (!asked.fails()) return result;
    errno = asked.error();
    return -1;
  }
  return pass("epoll_ctl(ADD)", -1, [&] {
    rouse::faulty::note_watched(epoll, fd, event->events, event->data.u64);
    return __real_epoll_ctl(epoll, what, fd, event);
  });
}

int __real_epoll_wait(int epoll, epoll_event* events, int max, int timeout);
int __wrap_epoll_wait(int epoll, epoll_event* events, int max, int timeout) {
  return pass("epoll_wait", -1, [&] { return __real_epoll_wait(epoll, events, max, timeout); });
}

int __real_epoll_pwait2(int epoll, epoll_event* events, int max, const timespec* timeout,
                        const sigset_t* mask);
int __wrap_epoll_pwait2(int epoll, epoll_event* events, int max, const timespec* timeout,
                        const sigset_t* mask) {
  return pass("epoll_pwait2", -1,
              [&] { return __real_epoll_pwait2(epoll, events, max, timeout, mask); });
}

int __real_eventfd(unsigned initial, int flags);
int __wrap_eventfd(unsigned initial, int flags) {
  return pass("eventfd", -1, [&] { return __real_eventfd(initial, flags); });
}
int __real_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value) {
  return pass("eventfd_write", -1, [&] { return __real_eventfd_write(fd, value); });
}
int __real_poll(pollfd* fds, nfds_t count, int timeout);
int __wrap_poll(pollfd* fds, nfds_t count, int timeout) {
  return pass("poll", -1, [&] { return __real_poll(fds, count, timeout); });
}

// --- Making sockets. ---

int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol) {
  return pass("socket", -1, [&] { return __real_socket(family, type, protocol); });
}
int __real_socketpair(int family, int type, int protocol, int* ends);
int __wrap_socketpair(int family, int type, int protocol, int* ends) {
  return pass("socketpair", -1, [&] { return __real_socketpair(family, type, protocol, ends); });
}
int __real_bind(int fd, const sockaddr* address, socklen_t size);
int __wrap_bind(int fd, const sockaddr* address, socklen_t size) {
  return pass("bind", -1, [&] { return __real_bind(fd, address, size); });
}
int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog) {
  return pass("listen", -1, [&] { return __real_listen(fd, backlog); });
}
int __real_accept4(int fd, sockaddr* address, socklen_t* size, int flags);
int __wrap_accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  return pass("accept4", fd, [&] { return __real_accept4(fd, address, size, flags); });
}
int __real_connect(int fd, const sockaddr* address, socklen_t size);
/// One that is interrupted, or says that it is under way, is under way.
int __wrap_connect(int fd, const sockaddr* address, socklen_t size) {
  const Asked asked("connect");
  if (asked.fails() && asked.error() != EINTR && asked.error() != EINPROGRESS) {
    errno = asked.error();
    return -1;
  }
  const int result = __real_connect(fd, address, size);
  if (!asked.fails() || (result < 0 && errno != EINPROGRESS)) return result;
  errno = asked.error();
  return -1;
}
int __real_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how) {
  return pass("shutdown", -1, [&] { return __real_shutdown(fd, how); });
}

// --- What sockets say of themselves. ---

int __real_getsockname(int fd, sockaddr* address, socklen_t* size);
int __wrap_getsockname(int fd, sockaddr* address, socklen_t* size) {
  return pass("getsockname", -1, [&] { return __real_getsockname(fd, address, size); });
}
int __real_getpeername(int fd, sockaddr* address, socklen_t* size);
int __wrap_getpeername(int fd, sockaddr* address, socklen_t* size) {
  return pass("getpeername", -1, [&] { return __real_getpeername(fd, address, size); });
}
int __real_setsockopt(int fd, int level, int name, const void* value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
  return pass("setsockopt", -1, [&] { return __real_setsockopt(fd, level, name, value, size); });
}
int __real_getsockopt(int fd, int level, int name, void* value, socklen_t* size);
int __wrap_getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
  return pass(name_of_question(level, name), -1,
              [&] { return __real_getsockopt(fd, level, name, value, size); });
}
int __real_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                       addrinfo** found);
/// EAI_SYSTEM comes with an errno, which is given as its negative: EAI values are negative, too,
/// but small ones.
int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                       addrinfo** found) {
  const Asked asked("getaddrinfo");
  if (!asked.fails()) return __real_getaddrinfo(node, service, hints, found);
  if (asked.error() < 0) return asked.error();
  errno = asked.error();
  return EAI_SYSTEM;
}

unsigned __real_if_nametoindex(const char* name);
unsigned __wrap_if_nametoindex(const char* name) {
  const Asked asked("if_nametoindex");
  return asked.fails() ? 0 : __real_if_nametoindex(name);
}

// --- Bytes and datagrams. ---

ssize_t __real_recv(int fd, void* to, size_t size, int flags);
ssize_t __wrap_recv(int fd, void* to, size_t size, int flags) {
  const char* const call = (flags & MSG_PEEK) != 0 ? "recv(MSG_PEEK)" : "recv";
  const Asked asked(call, fd);
  if (!asked.fails()) return __real_recv(fd, to, asked.shorten(size), flags);
  errno = asked.error();
  return -1;
}
ssize_t __real_send(int fd, const void* from, size_t size, int flags);
ssize_t __wrap_send(int fd, const void* from, size_t size, int flags) {
  const Asked asked("send", fd);
  if (!asked.fails()) return __real_send(fd, from, asked.shorten(size), flags);
  errno = asked.error();
  return -1;
}
ssize_t __real_recvfrom(int fd, void* to, size_t size, int flags, sockaddr* address,
                        socklen_t* address_size);
ssize_t __wrap_recvfrom(int fd, void* to, size_t size, int flags, sockaddr* address,
                        socklen_t* address_size) {
  return pass("recvfrom", fd,
              [&] { return __real_recvfrom(fd, to, size, flags, address, address_size); });
}
ssize_t __real_sendto(int fd, const void* from, size_t size, int flags, const sockaddr* address,
                      socklen_t address_size);
ssize_t __wrap_sendto(int fd, const void* from, size_t size, int flags, const sockaddr* address,
                      socklen_t address_size) {
  return pass("sendto", fd,
              [&] { return __real_sendto(fd, from, size, flags, address, address_size); });
}
int __real_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout);
int __wrap_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  const Asked asked("recvmmsg", fd);
  const auto most = static_cast<unsigned>(asked.shorten(count));
  if (!asked.fails()) return __real_recvmmsg(fd, messages, most, flags, timeout);
  errno = asked.error();
  return -1;
}
int __real_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
int __wrap_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  const Asked asked("sendmmsg", fd);
  const auto most = static_cast<unsigned>(asked.shorten(count));
  if (!asked.fails()) return __real_sendmmsg(fd, messages, most, flags);
  errno = asked.error();
  return -1;
}
ssize_t __real_recvmsg(int fd, msghdr* message, int flags);
ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  return pass("recvmsg", fd, [&] { return __real_recvmsg(fd, message, flags); });
}
ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  const Asked asked("sendmsg", fd);
  if (asked.fails()) {
    errno = asked.error();
    return -1;
  }
  msghdr copy = *message;
  iovec kept{};
  const int count = shortened(asked, copy.msg_iov, static_cast<int>(copy.msg_iovlen), kept);
  if (count != static_cast<int>(copy.msg_iovlen) || kept.iov_base != nullptr) copy.msg_iov = &kept;
  copy.msg_iovlen = static_cast<std::size_t>(count);
  return __real_sendmsg(fd, &copy, flags);
}
ssize_t __real_readv(int fd, const iovec* buffers, int count);
ssize_t __wrap_readv(int fd, const iovec* buffers, int count) {
  const Asked asked("readv", fd);
  if (asked.fails()) {
    errno = asked.error();
    return -1;
  }
  iovec kept{};
  const int most = shortened(asked, buffers, count, kept);
  return __real_readv(fd, kept.iov_base != nullptr ? &kept : buffers, most);
}

// --- Calls by their numbers: the same as those of libc, without its points of cancellation. ---

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  const auto fd = static_cast<int>(a[0]);
  switch (number) {
    case SYS_recvfrom:
    case SYS_sendto: {
      const Asked asked(number == SYS_recvfrom ? "recv" : "send", fd);
      a[2] = static_cast<long>(asked.shorten(static_cast<std::size_t>(a[2])));
      if (!asked.fails()) return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
      errno = asked.error();
      return -1;
    }
    case SYS_epoll_pwait:
      return pass("epoll_wait", -1,
                  [&] { return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]); });
    case SYS_membarrier:
      return pass("membarrier", -1, [&] { return __real_syscall(number, a[0], a[1], a[2]); });
    case SYS_tgkill:
      return pass("tgkill", -1, [&] { return __real_syscall(number, a[0], a[1], a[2]); });
    case SYS_process_vm_readv:
      return pass("process_vm_readv", -1,
                  [&] { return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]); });
    case SYS_pidfd_open:
      return pass("pidfd_open", -1, [&] { return __real_syscall(number, a[0], a[1]); });
    case SYS_pidfd_send_signal:
      return pass("pidfd_send_signal", -1,
                  [&] { return __real_syscall(number, a[0], a[1], a[2], a[3]); });
    case SYS_setgroups:  // these three: in a forked child, see harmless_calls.txt
    case SYS_setresgid:
    case SYS_setresuid:
    default:
      return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}

}  // extern "C"

// NOLINTEND(bugprone-reserved-identifier)
