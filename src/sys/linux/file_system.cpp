#include "sys/file_system.hpp"

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "rouse/io/owned_fd.hpp"

#include "sys/linux/call.hpp"
#include "sys/linux/file_status.hpp"

namespace rouse::sys {
namespace {

bool has_nul(const std::string& path) noexcept { return path.find('\0') != std::string::npos; }

template <class Call>
Result<void> done(const std::string& path, Call call) noexcept {
  if (has_nul(path)) return std::errc::invalid_argument;
  if (retry(call) == -1) return last_error();
  return {};
}

template <class Call>
Result<void> done(const std::string& first, const std::string& second, Call call) noexcept {
  if (has_nul(first)) return std::errc::invalid_argument;
  return done(second, call);
}

/// For bodies that allocate.
template <class Body>
auto without_exceptions(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return std::errc::not_enough_memory;
  }
}

Result<void> to_result(std::error_code error) noexcept {
  if (error) return error;
  return {};
}

DIR* stream_of(void* stream) noexcept { return static_cast<DIR*>(stream); }

}  // namespace

Result<FileStatus> status(const std::string& path, Links links) noexcept {
  if (has_nul(path)) return std::errc::invalid_argument;
  return status_of(AT_FDCWD, path.c_str(), links == Links::follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

Result<void> set_mode(const std::string& path, std::uint32_t mode) noexcept {
  return done(path, [&] { return ::chmod(path.c_str(), mode); });
}

Result<void> rename(const std::string& from, const std::string& to) noexcept {
  return done(from, to, [&] { return std::rename(from.c_str(), to.c_str()); });
}

Result<void> remove_file(const std::string& path) noexcept {
  return done(path, [&] { return ::unlink(path.c_str()); });
}

Result<void> create_dir(const std::string& path, std::uint32_t mode) noexcept {
  return done(path, [&] { return ::mkdir(path.c_str(), mode); });
}

Result<void> set_times(const std::string& path, const TimesToSet& times) noexcept {
  const NativeTimes native(times);
  return done(path, [&] { return ::utimensat(AT_FDCWD, path.c_str(), native.data(), 0); });
}

Result<void> sync_dir(const std::string& path) noexcept {
  if (has_nul(path)) return std::errc::invalid_argument;
  const io::OwnedFd fd(
      retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd) return last_error();
  if (retry([&] { return ::fsync(fd.get()); }) == -1) return last_error();
  return {};
}

Result<void> remove_dir(const std::string& path) noexcept {
  return done(path, [&] { return ::rmdir(path.c_str()); });
}

Result<void> remove_dir_all(const std::string& path) noexcept {
  const auto found = status(path, Links::dont_follow);
  if (!found) return found.error();
  if (S_ISLNK(found->mode)) return remove_file(path);
  if (!S_ISDIR(found->mode)) return std::errc::not_a_directory;
  return without_exceptions([&] {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return to_result(error);
  });
}

Result<void> create_dir_all(const std::string& path) noexcept {
  if (path.empty()) return std::errc::no_such_file_or_directory;
  if (has_nul(path)) return std::errc::invalid_argument;
  return without_exceptions([&] {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return to_result(error);
  });
}

Result<void> hard_link(const std::string& original, const std::string& link) noexcept {
  return done(original, link, [&] { return ::link(original.c_str(), link.c_str()); });
}

Result<void> symlink(const std::string& target, const std::string& link) noexcept {
  return done(target, link, [&] { return ::symlink(target.c_str(), link.c_str()); });
}

Result<std::string> read_link(const std::string& path) noexcept {
  if (has_nul(path)) return std::errc::invalid_argument;
  return without_exceptions([&]() -> Result<std::string> {
    for (std::size_t room = 256;; room *= 2) {
      std::string target(room, '\0');
      const ::ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
      if (size == -1) return last_error();
      if (static_cast<std::size_t>(size) == room) continue;  // it may be longer
      target.resize(static_cast<std::size_t>(size));
      return target;
    }
  });
}

Result<std::string> canonicalize(const std::string& path) noexcept {
  if (has_nul(path)) return std::errc::invalid_argument;
  struct Free {
    void operator()(char* text) const noexcept { std::free(text); }
  };
  const std::unique_ptr<char, Free> found(::realpath(path.c_str(), nullptr));
  if (!found) return last_error();
  return without_exceptions([&]() -> Result<std::string> { return std::string(found.get()); });
}

void Directory::Close::operator()(void* stream) const noexcept { ::closedir(stream_of(stream)); }

/// opendir sets close-on-exec.
Result<Directory> Directory::open(const std::string& path) noexcept {
  if (has_nul(path)) return std::errc::invalid_argument;
  for (;;) {
    if (DIR* stream = ::opendir(path.c_str())) return Directory(stream);
    if (errno != EINTR) return last_error();
  }
}

Result<std::optional<Directory::Entry>> Directory::next() noexcept {
  using Next = Result<std::optional<Entry>>;
  return without_exceptions([&]() -> Next {
    for (;;) {
      errno = 0;
      const dirent* const found = ::readdir(stream_of(stream_.get()));
      if (found == nullptr) {
        if (errno == EINTR) continue;
        if (errno != 0) return last_error();
        return Next(std::optional<Entry>());
      }
      const std::string_view name = found->d_name;
      if (name == "." || name == "..") continue;
      Entry entry;
      entry.name = name;
      if (found->d_type != DT_UNKNOWN)
        entry.type = std::uint32_t{found->d_type} << 12U;  // as DTTOIF
      return Next(std::optional<Entry>(std::move(entry)));
    }
  });
}

}  // namespace rouse::sys
