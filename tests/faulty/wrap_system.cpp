// Calls on files, processes, signals and threads: see faults.hpp.
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty/faults.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.

using rouse::faulty::Asked;
using rouse::faulty::pass;
using rouse::faulty::pass_number;

namespace {

const char* name_of_command(int command) {
  switch (command) {
    case F_GETFL:
      return "fcntl(F_GETFL)";
    case F_SETFL:
      return "fcntl(F_SETFL)";
    default:
      return "fcntl(F_DUPFD_CLOEXEC)";
  }
}

}  // namespace

extern "C" {

// --- Descriptors. ---

int __real_close(int fd);
/// Whatever it says, the descriptor is closed.
int __wrap_close(int fd) {
  rouse::faulty::note_unwatched(fd);
  const Asked asked("close");
  const int result = __real_close(fd);
  if (!asked.fails()) return result;
  errno = asked.error();
  return -1;
}
ssize_t __real_read(int fd, void* to, size_t size);
ssize_t __wrap_read(int fd, void* to, size_t size) {
  const Asked asked("read", fd);
  if (!asked.fails()) return __real_read(fd, to, asked.shorten(size));
  errno = asked.error();
  return -1;
}
ssize_t __real_write(int fd, const void* from, size_t size);
ssize_t __wrap_write(int fd, const void* from, size_t size) {
  const Asked asked("write", fd);
  if (!asked.fails()) return __real_write(fd, from, asked.shorten(size));
  errno = asked.error();
  return -1;
}
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return pass(name_of_command(command), -1, [&] { return __real_fcntl(fd, command, argument); });
}
int __real_pipe2(int* ends, int flags);
int __wrap_pipe2(int* ends, int flags) {
  return pass("pipe2", -1, [&] { return __real_pipe2(ends, flags); });
}

// --- Memory. ---

void* __real_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  const Asked asked("mmap");
  if (!asked.fails()) return __real_mmap(at, size, protection, flags, fd, offset);
  errno = asked.error();
  return MAP_FAILED;
}
int __real_munmap(void* memory, size_t size);
int __wrap_munmap(void* memory, size_t size) {
  return pass("munmap", -1, [&] { return __real_munmap(memory, size); });
}

// --- Processes. ---

pid_t __real__Fork();
pid_t __wrap__Fork() {
  return pass("_Fork", -1, [] { return __real__Fork(); });
}

// --- Files. ---

int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return pass("open", -1, [&] { return __real_open(path, flags, mode); });
}
ssize_t __real_pread(int fd, void* to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void* to, size_t size, off_t at) {
  const Asked asked("pread");
  if (!asked.fails()) return __real_pread(fd, to, asked.shorten(size), at);
  errno = asked.error();
  return -1;
}
ssize_t __real_pwrite(int fd, const void* from, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void* from, size_t size, off_t at) {
  const Asked asked("pwrite");
  if (!asked.fails()) return __real_pwrite(fd, from, asked.shorten(size), at);
  errno = asked.error();
  return -1;
}
off_t __real_lseek(int fd, off_t offset, int base);
off_t __wrap_lseek(int fd, off_t offset, int base) {
  return pass("lseek", -1, [&] { return __real_lseek(fd, offset, base); });
}
int __real_fsync(int fd);
int __wrap_fsync(int fd) {
  return pass("fsync", -1, [&] { return __real_fsync(fd); });
}
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd) {
  return pass("fdatasync", -1, [&] { return __real_fdatasync(fd); });
}
int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size) {
  return pass("ftruncate", -1, [&] { return __real_ftruncate(fd, size); });
}
int __real_fstat(int fd, struct stat* found);
int __wrap_fstat(int fd, struct stat* found) {
  return pass("fstat", -1, [&] { return __real_fstat(fd, found); });
}
int __real_futimens(int fd, const timespec* times);
int __wrap_futimens(int fd, const timespec* times) {
  return pass("futimens", -1, [&] { return __real_futimens(fd, times); });
}
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation) {
  return pass("flock", -1, [&] { return __real_flock(fd, operation); });
}
int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode) {
  return pass("fchmod", -1, [&] { return __real_fchmod(fd, mode); });
}

// --- Paths. ---

int __real_inotify_init1(int flags);
int __wrap_inotify_init1(int flags) {
  return pass("inotify_init1", -1, [&] { return __real_inotify_init1(flags); });
}
int __real_inotify_add_watch(int fd, const char* path, uint32_t wanted);
int __wrap_inotify_add_watch(int fd, const char* path, uint32_t wanted) {
  return pass("inotify_add_watch", -1, [&] { return __real_inotify_add_watch(fd, path, wanted); });
}

int __real_statx(int at, const char* path, int flags, unsigned mask, struct statx* found);
int __wrap_statx(int at, const char* path, int flags, unsigned mask, struct statx* found) {
  return pass("statx", -1, [&] { return __real_statx(at, path, flags, mask, found); });
}
int __real_utimensat(int at, const char* path, const timespec* times, int flags);
int __wrap_utimensat(int at, const char* path, const timespec* times, int flags) {
  return pass("utimensat", -1, [&] { return __real_utimensat(at, path, times, flags); });
}
int __real_chmod(const char* path, mode_t mode);
int __wrap_chmod(const char* path, mode_t mode) {
  return pass("chmod", -1, [&] { return __real_chmod(path, mode); });
}
int __real_access(const char* path, int how);
int __wrap_access(const char* path, int how) {
  return pass("access", -1, [&] { return __real_access(path, how); });
}
int __real_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to) {
  return pass("rename", -1, [&] { return __real_rename(from, to); });
}
int __real_unlink(const char* path);
int __wrap_unlink(const char* path) {
  return pass("unlink", -1, [&] { return __real_unlink(path); });
}
int __real_mkdir(const char* path, mode_t mode);
int __wrap_mkdir(const char* path, mode_t mode) {
  return pass("mkdir", -1, [&] { return __real_mkdir(path, mode); });
}
int __real_rmdir(const char* path);
int __wrap_rmdir(const char* path) {
  return pass("rmdir", -1, [&] { return __real_rmdir(path); });
}
int __real_link(const char* original, const char* link);
int __wrap_link(const char* original, const char* link) {
  return pass("link", -1, [&] { return __real_link(original, link); });
}
int __real_symlink(const char* target, const char* link);
int __wrap_symlink(const char* target, const char* link) {
  return pass("symlink", -1, [&] { return __real_symlink(target, link); });
}
ssize_t __real_readlink(const char* path, char* to, size_t size);
ssize_t __wrap_readlink(const char* path, char* to, size_t size) {
  return pass("readlink", -1, [&] { return __real_readlink(path, to, size); });
}
char* __real_realpath(const char* path, char* to);
char* __wrap_realpath(const char* path, char* to) {
  const Asked asked("realpath");
  if (!asked.fails()) return __real_realpath(path, to);
  errno = asked.error();
  return nullptr;
}
DIR* __real_opendir(const char* path);
DIR* __wrap_opendir(const char* path) {
  const Asked asked("opendir");
  if (!asked.fails()) return __real_opendir(path);
  errno = asked.error();
  return nullptr;
}
dirent* __real_readdir(DIR* stream);
dirent* __wrap_readdir(DIR* stream) {
  const Asked asked("readdir");
  if (!asked.fails()) return __real_readdir(stream);
  errno = asked.error();
  return nullptr;
}
int __real_closedir(DIR* stream);
int __wrap_closedir(DIR* stream) {
  const Asked asked("closedir");
  const int result = __real_closedir(stream);
  if (!asked.fails()) return result;
  errno = asked.error();
  return -1;
}

// --- Processes. ---

int __real_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const* arguments,
                       char* const* environment);
int __wrap_posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const* arguments,
                       char* const* environment) {
  return pass_number("posix_spawn", [&] {
    return __real_posix_spawn(pid, path, actions, attributes, arguments, environment);
  });
}
int __real_posix_spawn_file_actions_init(posix_spawn_file_actions_t* actions);
int __wrap_posix_spawn_file_actions_init(posix_spawn_file_actions_t* actions) {
  return pass_number("posix_spawn_file_actions_init",
                     [&] { return __real_posix_spawn_file_actions_init(actions); });
}
int __real_posix_spawnattr_init(posix_spawnattr_t* attributes);
int __wrap_posix_spawnattr_init(posix_spawnattr_t* attributes) {
  return pass_number("posix_spawnattr_init",
                     [&] { return __real_posix_spawnattr_init(attributes); });
}
int __real_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int fd, int as);
int __wrap_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int fd, int as) {
  return pass_number("posix_spawn_file_actions_adddup2",
                     [&] { return __real_posix_spawn_file_actions_adddup2(actions, fd, as); });
}
int __real_posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t* actions, int fd);
int __wrap_posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t* actions, int fd) {
  return pass_number("posix_spawn_file_actions_addfchdir_np",
                     [&] { return __real_posix_spawn_file_actions_addfchdir_np(actions, fd); });
}
int __real_posix_spawnattr_setflags(posix_spawnattr_t* attributes, short flags);
int __wrap_posix_spawnattr_setflags(posix_spawnattr_t* attributes, short flags) {
  return pass_number("posix_spawnattr_setflags",
                     [&] { return __real_posix_spawnattr_setflags(attributes, flags); });
}
int __real_posix_spawnattr_setpgroup(posix_spawnattr_t* attributes, pid_t group);
int __wrap_posix_spawnattr_setpgroup(posix_spawnattr_t* attributes, pid_t group) {
  return pass_number("posix_spawnattr_setpgroup",
                     [&] { return __real_posix_spawnattr_setpgroup(attributes, group); });
}
int __real_posix_spawnattr_setsigmask(posix_spawnattr_t* attributes, const sigset_t* set);
int __wrap_posix_spawnattr_setsigmask(posix_spawnattr_t* attributes, const sigset_t* set) {
  return pass_number("posix_spawnattr_setsigmask",
                     [&] { return __real_posix_spawnattr_setsigmask(attributes, set); });
}
int __real_posix_spawnattr_setsigdefault(posix_spawnattr_t* attributes, const sigset_t* set);
int __wrap_posix_spawnattr_setsigdefault(posix_spawnattr_t* attributes, const sigset_t* set) {
  return pass_number("posix_spawnattr_setsigdefault",
                     [&] { return __real_posix_spawnattr_setsigdefault(attributes, set); });
}
int __real_waitid(idtype_t kind, id_t id, siginfo_t* info, int options);
int __wrap_waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  return pass("waitid", -1, [&] { return __real_waitid(kind, id, info, options); });
}
pid_t __real_waitpid(pid_t pid, int* status, int options);
pid_t __wrap_waitpid(pid_t pid, int* status, int options) {
  return pass("waitpid", -1, [&] { return __real_waitpid(pid, status, options); });
}
int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal) {
  return pass("kill", -1, [&] { return __real_kill(pid, signal); });
}

// --- Signals, threads, CPUs, time. ---

ssize_t __real_getrandom(void* to, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void* to, size_t size, unsigned flags) {
  return pass("getrandom", -1, [&] { return __real_getrandom(to, size, flags); });
}

int __real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);
int __wrap_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return pass("sigaction", -1, [&] { return __real_sigaction(signal, action, before); });
}
int __real_sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout);
int __wrap_sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  return pass("sigtimedwait", -1, [&] { return __real_sigtimedwait(set, info, timeout); });
}
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument) {
  return pass_number("pthread_create",
                     [&] { return __real_pthread_create(thread, attributes, body, argument); });
}
int __real_pthread_attr_init(pthread_attr_t* attributes);
int __wrap_pthread_attr_init(pthread_attr_t* attributes) {
  return pass_number("pthread_attr_init", [&] { return __real_pthread_attr_init(attributes); });
}
int __real_pthread_attr_setstacksize(pthread_attr_t* attributes, size_t size);
int __wrap_pthread_attr_setstacksize(pthread_attr_t* attributes, size_t size) {
  return pass_number("pthread_attr_setstacksize",
                     [&] { return __real_pthread_attr_setstacksize(attributes, size); });
}
int __real_pthread_setname_np(pthread_t thread, const char* name);
int __wrap_pthread_setname_np(pthread_t thread, const char* name) {
  return pass_number("pthread_setname_np", [&] { return __real_pthread_setname_np(thread, name); });
}
cpu_set_t* __real___sched_cpualloc(size_t count);
cpu_set_t* __wrap___sched_cpualloc(size_t count) {
  const Asked asked("__sched_cpualloc");
  return asked.fails() ? nullptr : __real___sched_cpualloc(count);
}
int __real_sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set) {
  return pass("sched_getaffinity", -1, [&] { return __real_sched_getaffinity(pid, size, set); });
}

}  // extern "C"

// NOLINTEND(bugprone-reserved-identifier)
