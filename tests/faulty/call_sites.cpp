// A line for each call that failed, "CALL ERROR ADDRESS...", in rows/TIME.sites, where TIME is that
// of the program: addresses of another one mean nothing. Written at once, as tests in which the
// program dies count, too. The addresses are those that the innermost functions return to, as in
// the program's file; one of them is right behind the call of the wrapper.
#include "faulty/call_sites.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <string>
#include <sys/stat.h>
#include <unwind.h>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker wants these names.
extern "C" int __real_open(const char* path, int flags, ...);
extern "C" ssize_t __real_write(int fd, const void* from, size_t size);
extern "C" int __real_close(int fd);
// NOLINTEND(bugprone-reserved-identifier)

namespace rouse::faulty {
namespace {

std::string path_of_sites() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  struct stat info{};
  ::stat(program.c_str(), &info);
  return program.parent_path() / "rows" / (std::to_string(info.st_mtime) + ".sites");
}

/// How far from the addresses in its file the program is loaded.
std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  const auto take_first = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
    return 1;
  };
  ::dl_iterate_phdr(take_first, &bias);
  return bias;
}

const std::string path = path_of_sites();
const std::uintptr_t bias = load_bias();

class Line {
 public:
  Line(std::string_view call, int error) noexcept {
    add(std::snprintf(text_, sizeof text_, "%.*s %d", static_cast<int>(call.size()), call.data(),
                      error));
  }

  bool add_address(std::uintptr_t address) noexcept {
    constexpr int enough = 8;  // the wrapper and what it consists of are less
    add(std::snprintf(text_ + size_, sizeof text_ - size_, " %lx",
                      static_cast<unsigned long>(address - bias)));
    return ++addresses_ < enough;
  }

  void write() noexcept {
    text_[size_++] = '\n';
    const int fd = __real_open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return;
    static_cast<void>(__real_write(fd, text_, size_));
    __real_close(fd);
  }

 private:
  void add(int size) noexcept { size_ += static_cast<std::size_t>(size); }

  char text_[512];
  std::size_t size_ = 0;
  int addresses_ = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* frame, void* line) {
  const bool more = static_cast<Line*>(line)->add_address(_Unwind_GetIP(frame));
  return more ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

void note_call_site(std::string_view call, int error) noexcept {
  const int before = errno;
  Line line(call, error);
  _Unwind_Backtrace(&add_frame, &line);
  line.write();
  errno = before;
}

}  // namespace rouse::faulty
