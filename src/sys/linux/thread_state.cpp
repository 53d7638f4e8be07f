#include "sys/thread_state.hpp"

#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <span>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

/// A file of /proc/self/task/TID, or the beginning of it; empty if it can't be read.
std::string_view read_of(ThreadId thread, const char* name, std::span<char> into) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
  const int fd = static_cast<int>(retry([&] { return ::open(path, O_RDONLY | O_CLOEXEC); }));
  if (fd < 0) return {};
  const auto count = retry([&] { return ::read(fd, into.data(), into.size()); });
  ::close(fd);
  return count < 0 ? std::string_view()
                   : std::string_view(into.data(), static_cast<std::size_t>(count));
}

/// Takes a word off the front.
std::string_view take_word(std::string_view& text) noexcept {
  const std::size_t end = text.find_first_of(" \n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

template <class Number>
Number number_of(std::string_view word, Number otherwise) noexcept {
  const bool is_hex = word.starts_with("0x");
  if (is_hex) word.remove_prefix(2);
  Number number{};
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), number, is_hex ? 16 : 10);
  return error == std::errc() && end == word.data() + word.size() ? number : otherwise;
}

struct Named {
  long number;
  SystemCall call;
};
constexpr Named named_calls[] = {
    {__NR_read, {"read", true}},
    {__NR_write, {"write", true}},
    {__NR_readv, {"readv", true}},
    {__NR_writev, {"writev", true}},
    {__NR_pread64, {"pread", true}},
    {__NR_pwrite64, {"pwrite", true}},
    {__NR_recvfrom, {"recvfrom", true}},
    {__NR_recvmsg, {"recvmsg", true}},
    {__NR_sendto, {"sendto", true}},
    {__NR_sendmsg, {"sendmsg", true}},
    {__NR_accept, {"accept", true}},
    {__NR_accept4, {"accept4", true}},
    {__NR_connect, {"connect", true}},
    {__NR_ioctl, {"ioctl", true}},
    {__NR_fcntl, {"fcntl", true}},
    {__NR_flock, {"flock", true}},
    {__NR_fsync, {"fsync", true}},
    {__NR_fdatasync, {"fdatasync", true}},
    {__NR_ftruncate, {"ftruncate", true}},
    {__NR_fallocate, {"fallocate", true}},
    {__NR_getdents64, {"getdents", true}},
    {__NR_close, {"close", true}},
    {__NR_openat, {"openat", false}},
    {__NR_newfstatat, {"fstatat", false}},
    {__NR_unlinkat, {"unlinkat", false}},
    {__NR_futex, {"futex", false}},
    {__NR_ppoll, {"ppoll", false}},
    {__NR_pselect6, {"pselect", false}},
    {__NR_epoll_pwait, {"epoll_pwait", true}},
    {__NR_nanosleep, {"nanosleep", false}},
    {__NR_clock_nanosleep, {"clock_nanosleep", false}},
    {__NR_wait4, {"wait4", false}},
    {__NR_waitid, {"waitid", false}},
    {__NR_mmap, {"mmap", false}},
    {__NR_munmap, {"munmap", false}},
    {__NR_madvise, {"madvise", false}},
#if defined(__NR_poll)  // not where these were gone before there was an architecture
    {__NR_poll, {"poll", false}},
    {__NR_select, {"select", false}},
    {__NR_epoll_wait, {"epoll_wait", true}},
    {__NR_open, {"open", false}},
    {__NR_pause, {"pause", false}},
#endif
};

}  // namespace

ThreadState thread_state(ThreadId thread) noexcept {
  ThreadState state;
  char text[256];
  // "TID (name) S ...", in which the name may have anything.
  std::string_view stat = read_of(thread, "stat", text);
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 == stat.size()) return state;
  const char letter = stat[name_end + 2];
  if (letter == 'R') state.does = ThreadState::Does::runs;
  if (letter != 'S' && letter != 'D') return state;
  state.does = ThreadState::Does::waits;
  // "0 0x5 0x7ffe..." or "running" or "-1 ..."
  std::string_view call = read_of(thread, "syscall", text);
  state.system_call = number_of<long>(take_word(call), -1);
  state.first_argument = number_of<std::uint64_t>(take_word(call), 0);
  return state;
}

ThreadTimes thread_times(ThreadId thread) noexcept {
  char text[128];
  std::string_view times = read_of(thread, "schedstat", text);
  ThreadTimes seen;
  seen.on_cpu_ns = number_of<std::uint64_t>(take_word(times), 0);
  seen.waiting_ns = number_of<std::uint64_t>(take_word(times), 0);
  return seen;
}

SystemCall describe_system_call(long number) noexcept {
  for (const Named& named : named_calls) {
    if (named.number == number) return named.call;
  }
  return {};
}

}  // namespace rouse::sys
