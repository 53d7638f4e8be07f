#include "sys/watch.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/inotify.h>
#include <unistd.h>
#include <utility>

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

constexpr std::array<std::pair<std::uint32_t, Change>, 12> changes{{
    {IN_CREATE, Change::created},
    {IN_MODIFY, Change::modified},
    {IN_CLOSE_WRITE, Change::written},
    {IN_ATTRIB, Change::attributes},
    {IN_MOVED_FROM, Change::moved_from},
    {IN_MOVED_TO, Change::moved_to},
    {IN_DELETE, Change::removed},
    {IN_MOVE_SELF, Change::self_moved},
    {IN_DELETE_SELF, Change::self_removed},
    {IN_UNMOUNT, Change::unmounted},
    {IN_Q_OVERFLOW, Change::overflow},
    {IN_IGNORED, Change::ended},
}};
constexpr std::uint32_t wanted = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB |
                                 IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_MOVE_SELF |
                                 IN_DELETE_SELF;

}  // namespace

Result<io::OwnedFd> open_watch(const std::string& path) noexcept {
  if (path.find('\0') != std::string::npos) return std::errc::invalid_argument;
  io::OwnedFd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd) return last_error();
  if (::inotify_add_watch(fd.get(), path.c_str(), wanted) < 0) return last_error();
  return fd;
}

bool is_watching(int fd) noexcept {
  std::array<char, 64> path{};
  static_cast<void>(std::snprintf(path.data(), path.size(), "/proc/self/fdinfo/%d", fd));
  const io::OwnedFd info(retry([&] { return ::open(path.data(), O_RDONLY | O_CLOEXEC); }));
  if (!info) return true;
  std::array<char, 1024> lines{};  // position, flags, mount and inode, then one line for the watch
  const ssize_t size = retry([&] { return ::read(info.get(), lines.data(), lines.size()); });
  if (size <= 0) return true;
  const std::string_view text(lines.data(), static_cast<std::size_t>(size));
  return text.find("\ninotify wd:") != std::string_view::npos;
}

std::optional<ChangeEvent> first_event(std::span<const std::byte> bytes, std::size_t& size) {
  inotify_event event{};
  std::memcpy(&event, bytes.data(), sizeof event);
  size = sizeof event + event.len;
  const char* const name = reinterpret_cast<const char*>(bytes.data()) + sizeof event;
  for (const auto& [bit, change] : changes) {
    if ((event.mask & bit) == 0) continue;
    return ChangeEvent{.change = change,
                       .name = std::string(name, ::strnlen(name, event.len)),
                       .is_dir = (event.mask & IN_ISDIR) != 0,
                       .cookie = event.cookie};
  }
  return std::nullopt;
}

}  // namespace rouse::sys
