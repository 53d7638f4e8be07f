// Calls that the C++ library makes for rouse (create_dir_all, remove_dir_all): --wrap reaches only
// what is linked into this program, but the dynamic linker gives that library the functions of this
// program before those of the C library. The names of these faults end with (std).
#include <cerrno>
#include <cstdarg>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faulty/faults.hpp"

using rouse::faulty::Asked;
using rouse::faulty::pass;

namespace {

template <class Fn>
Fn* next(Fn* /*of this type*/, const char* name) noexcept {
  return reinterpret_cast<Fn*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = next(&mkdir, "mkdir");
  return pass("mkdir(std)", -1, [&] { return real(path, mode); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const real = next(&unlinkat, "unlinkat");
  return pass("unlinkat(std)", -1, [&] { return real(folder, path, flags); });
}
int openat(int folder, const char* path, int flags, ...) {
  using Fn = int(int, const char*, int, ...);
  static Fn* const real = reinterpret_cast<Fn*>(::dlsym(RTLD_NEXT, "openat"));
  va_list list;
  va_start(list, flags);
  const auto mode = static_cast<mode_t>(va_arg(list, int));
  va_end(list);
  return pass("openat(std)", -1, [&] { return real(folder, path, flags, mode); });
}
DIR* fdopendir(int fd) {
  static auto* const real = next(&fdopendir, "fdopendir");
  const Asked asked("fdopendir(std)");
  if (!asked.fails()) return real(fd);
  errno = asked.error();
  return nullptr;
}

}  // extern "C"
