// The errors that the manual pages document for each call, and a few that Linux is known to give
// besides. EWOULDBLOCK is EAGAIN. check_table.py reads this table, too: a call a line.
//
// Left out is what only the caller's own memory can cause (EFAULT), and what is of features that
// are not used (EPOLLEXCLUSIVE, locks, leases, io priorities).
#pragma once

#include <cerrno>
#include <cstdlib>
#include <netdb.h>
#include <span>
#include <string_view>
#include <vector>

namespace rouse::faulty {

struct Documented {
  std::string_view call;
  std::vector<int> errors;
};

// clang-format off
inline const std::vector<Documented> documented = {
    {"accept4", {EAGAIN, EBADF, ECONNABORTED, EINTR, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOTSOCK, EOPNOTSUPP, EPERM, EPROTO, ENOSR, ESOCKTNOSUPPORT, EPROTONOSUPPORT, ETIMEDOUT, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, ENETUNREACH}},
    {"_Fork", {EAGAIN, ENOMEM, ENOSYS}},
    {"__sched_cpualloc", {ENOMEM}},
    {"access", {EACCES, EBADF, EINVAL, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, EPERM, EROFS, ETXTBSY}},
    {"bind", {EACCES, EADDRINUSE, EADDRNOTAVAIL, EBADF, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, ENOTSOCK, EROFS}},
    {"chmod", {EACCES, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, EPERM, EROFS}},
    {"close", {EBADF, EINTR, EIO, ENOSPC, EDQUOT}},
    {"closedir", {EBADF}},
    {"connect", {EACCES, EPERM, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EAGAIN, EALREADY, EBADF, ECONNREFUSED, EINPROGRESS, EINTR, EISCONN, ENETUNREACH, ENOTSOCK, EPROTOTYPE, ETIMEDOUT}},
    {"epoll_create1", {EINVAL, EMFILE, ENFILE, ENOMEM}},
    {"epoll_ctl(ADD)", {EBADF, EEXIST, EINVAL, ELOOP, ENOENT, ENOMEM, ENOSPC, EPERM}},
    {"epoll_ctl(DEL)", {EBADF, EINVAL, ENOENT, ENOMEM, EPERM}},
    {"epoll_pwait2", {EBADF, EINTR, EINVAL, ENOSYS, EPERM}},
    {"epoll_wait", {EBADF, EINTR, EINVAL}},
    {"eventfd", {EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM}},
    {"eventfd_write", {EAGAIN, EBADF, EINTR, EINVAL}},
    {"fchmod", {EBADF, EINTR, EIO, EPERM, EROFS}},
    {"fcntl(F_DUPFD_CLOEXEC)", {EBADF, EINVAL, EMFILE}},
    {"fcntl(F_GETFL)", {EBADF}},
    {"fcntl(F_SETFL)", {EBADF, EPERM, EINVAL}},
    {"fdopendir(std)", {EBADF, EMFILE, ENFILE, ENOMEM, ENOTDIR}},
    {"fdatasync", {EBADF, EINTR, EIO, ENOSPC, EROFS, EINVAL, EDQUOT}},
    {"flock", {EAGAIN, EBADF, EINTR, EINVAL, ENOLCK}},
    {"fstat", {EBADF, ENOMEM, EOVERFLOW}},
    {"fsync", {EBADF, EINTR, EIO, ENOSPC, EROFS, EINVAL, EDQUOT}},
    {"ftruncate", {EBADF, EFBIG, EINTR, EINVAL, EIO, EPERM, EROFS, ETXTBSY}},
    {"futimens", {EACCES, EBADF, EINVAL, EPERM, EROFS, ENOSYS}},
    {"getaddrinfo", {EAI_ADDRFAMILY, EAI_AGAIN, EAI_BADFLAGS, EAI_FAIL, EAI_FAMILY, EAI_MEMORY, EAI_NODATA, EAI_NONAME, EAI_SERVICE, EAI_SOCKTYPE, EINTR, EMFILE}},
    {"getpeername", {EBADF, EINVAL, ENOBUFS, ENOTCONN, ENOTSOCK}},
    {"getrandom", {EAGAIN, EINTR, EINVAL, ENOSYS}},
    {"getsockname", {EBADF, EINVAL, ENOBUFS, ENOTSOCK}},
    {"getsockopt", {EBADF, EINVAL, ENOPROTOOPT, ENOTSOCK}},
    {"getsockopt(SO_DOMAIN)", {EBADF, EINVAL, ENOPROTOOPT, ENOTSOCK}},
    {"getsockopt(SO_ERROR)", {EBADF, EINVAL, ENOPROTOOPT, ENOTSOCK}},
    {"if_nametoindex", {ENODEV, EMFILE, ENFILE, ENOMEM}},
    {"inotify_add_watch", {EACCES, EBADF, EEXIST, EINVAL, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR}},
    {"inotify_init1", {EINVAL, EMFILE, ENFILE, ENOMEM}},
    {"kill", {EINVAL, EPERM, ESRCH}},
    {"link", {EACCES, EDQUOT, EEXIST, EIO, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS, EXDEV}},
    {"listen", {EADDRINUSE, EBADF, ENOTSOCK, EOPNOTSUPP}},
    {"lseek", {EBADF, EINVAL, ENXIO, EOVERFLOW, ESPIPE}},
    {"membarrier", {EINVAL, ENOSYS, EPERM}},
    {"mkdir", {EACCES, EDQUOT, EEXIST, EINVAL, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS}},
    {"mkdir(std)", {EACCES, EDQUOT, EEXIST, EINVAL, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS}},
    {"mmap", {EAGAIN, ENOMEM}},
    {"munmap", {EINVAL, ENOMEM}},
    {"open", {EACCES, EBUSY, EDQUOT, EEXIST, EFBIG, EINTR, EINVAL, EISDIR, ELOOP, EMFILE, ENAMETOOLONG, ENFILE, ENODEV, ENOENT, ENOMEM, ENOSPC, ENOTDIR, ENXIO, EOPNOTSUPP, EOVERFLOW, EPERM, EROFS, ETXTBSY, EAGAIN}},
    {"openat(std)", {EACCES, EBADF, EINTR, EINVAL, ELOOP, EMFILE, ENAMETOOLONG, ENFILE, ENOENT, ENOMEM, ENOTDIR, EPERM}},
    {"opendir", {EACCES, EINTR, EMFILE, ENFILE, ENOENT, ENOMEM, ENOTDIR}},
    {"pidfd_open", {EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, ENOSYS, ESRCH}},
    {"pidfd_send_signal", {EBADF, EINVAL, EPERM, ESRCH}},
    {"pipe2", {EINVAL, EMFILE, ENFILE, ENOPKG}},
    {"poll", {EINTR, EINVAL, ENOMEM}},
    {"posix_spawn", {ENOSYS, EAGAIN, ENOMEM, EACCES, ENOENT, ENOTDIR, ENOEXEC, E2BIG, EMFILE, ETXTBSY, EPERM, EINVAL}},
    {"posix_spawn_file_actions_adddup2", {EBADF, ENOMEM, EINVAL}},
    {"posix_spawn_file_actions_addfchdir_np", {EBADF, ENOMEM}},
    {"posix_spawn_file_actions_init", {ENOMEM}},
    {"posix_spawnattr_init", {ENOMEM}},
    {"posix_spawnattr_setflags", {EINVAL}},
    {"posix_spawnattr_setpgroup", {EINVAL}},
    {"posix_spawnattr_setsigdefault", {EINVAL}},
    {"posix_spawnattr_setsigmask", {EINVAL}},
    {"pread", {EBADF, EINTR, EINVAL, EIO, EISDIR, ENXIO, EOVERFLOW, ESPIPE}},
    {"process_vm_readv", {EFAULT, EINVAL, ENOMEM, ENOSYS, EPERM, ESRCH}},
    {"pthread_attr_init", {ENOMEM}},
    {"pthread_attr_setstacksize", {EINVAL}},
    {"pthread_create", {EAGAIN, EINVAL, EPERM}},
    {"pthread_setname_np", {ERANGE}},
    {"pwrite", {EBADF, EDQUOT, EFBIG, EINTR, EINVAL, EIO, ENOSPC, ENXIO, EOVERFLOW, EPERM, ESPIPE}},
    {"read", {EAGAIN, EBADF, EINTR, EINVAL, EIO, EISDIR}},
    {"readdir", {EBADF, EINTR, EIO, ENOENT}},
    {"readlink", {EACCES, EINVAL, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR}},
    {"readv", {EAGAIN, EBADF, EINTR, EINVAL, EIO, EISDIR, EOPNOTSUPP}},
    {"realpath", {EACCES, EINVAL, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR}},
    {"recv", {EAGAIN, EBADF, ECONNREFUSED, ECONNRESET, EINTR, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK, ETIMEDOUT}},
    {"recv(MSG_PEEK)", {EAGAIN, EBADF, ECONNREFUSED, ECONNRESET, EINTR, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK, ETIMEDOUT}},
    {"recvfrom", {EAGAIN, EBADF, ECONNREFUSED, EINTR, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK}},
    {"recvmmsg", {EAGAIN, EBADF, ECONNREFUSED, EINTR, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK}},
    {"recvmsg", {EAGAIN, EBADF, ECONNREFUSED, EINTR, EINVAL, ENOMEM, ENOTCONN, ENOTSOCK}},
    {"rename", {EACCES, EBUSY, EDQUOT, EEXIST, EINVAL, EISDIR, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR, ENOTEMPTY, EPERM, EROFS, EXDEV}},
    {"rmdir", {EACCES, EBUSY, EEXIST, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, ENOTEMPTY, EPERM, EROFS}},
    {"sched_getaffinity", {EINVAL, EPERM, ESRCH}},
    {"send", {EACCES, EAGAIN, EALREADY, EBADF, ECONNRESET, EDESTADDRREQ, EINTR, EINVAL, EISCONN, EMSGSIZE, ENOBUFS, ENOMEM, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPIPE, ETIMEDOUT}},
    {"sendmmsg", {EACCES, EAGAIN, EALREADY, EBADF, ECONNRESET, EDESTADDRREQ, EINTR, EINVAL, EISCONN, EMSGSIZE, ENOBUFS, ENOMEM, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPIPE}},
    {"sendmsg", {EACCES, EAGAIN, EALREADY, EBADF, ECONNRESET, EDESTADDRREQ, EINTR, EINVAL, EISCONN, EMSGSIZE, ENOBUFS, ENOMEM, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPIPE}},
    {"sendto", {EACCES, EAGAIN, EALREADY, EBADF, ECONNRESET, EDESTADDRREQ, EINTR, EINVAL, EISCONN, EMSGSIZE, ENOBUFS, ENOMEM, ENOTCONN, ENOTSOCK, EOPNOTSUPP, EPIPE}},
    {"setsockopt", {EBADF, EINVAL, ENOPROTOOPT, ENOTSOCK, EDOM, EADDRINUSE, ENODEV}},
    {"shutdown", {EBADF, EINVAL, ENOTCONN, ENOTSOCK}},
    {"sigaction", {EINVAL}},
    {"sigtimedwait", {EAGAIN, EINTR, EINVAL}},
    {"socket", {EACCES, EAFNOSUPPORT, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM, EPROTONOSUPPORT}},
    {"socketpair", {EAFNOSUPPORT, EMFILE, ENFILE, EOPNOTSUPP, EPROTONOSUPPORT}},
    {"statx", {EACCES, EBADF, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR}},
    {"symlink", {EACCES, EDQUOT, EEXIST, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS}},
    {"tgkill", {EAGAIN, EINVAL, EPERM, ESRCH}},
    {"unlink", {EACCES, EBUSY, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, EPERM, EROFS}},
    {"unlinkat(std)", {EACCES, EBADF, EBUSY, EINVAL, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, ENOTEMPTY, EPERM, EROFS}},
    {"utimensat", {EACCES, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS, ESRCH}},
    {"waitid", {EAGAIN, ECHILD, EINTR, EINVAL}},
    {"waitpid", {ECHILD, EINTR, EINVAL}},
    {"write", {EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFBIG, EINTR, EINVAL, EIO, ENOSPC, EPERM, EPIPE}},
};
// clang-format on

/// Those of one call, which is there.
inline const std::vector<int>& errors_of_call(std::string_view call) {
  for (const Documented& entry : documented) {
    if (entry.call == call) return entry.errors;
  }
  std::abort();
}

}  // namespace rouse::faulty
