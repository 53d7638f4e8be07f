#include "sys/new_file.hpp"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

#include "sys/linux/call.hpp"

namespace rouse::sys {
namespace {

Result<io::OwnedFd> create(const char* path) noexcept {
  // A link that somebody has put there is not followed.
  const int file =
      retry([&] { return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); });
  if (file == -1) return last_error();
  return io::OwnedFd(file);
}

/// False: it does not fit.
template <std::size_t room, class... Args>
bool print(std::array<char, room>& out, const char* format, Args... args) noexcept {
  const int length = std::snprintf(out.data(), room, format, args...);
  return length >= 0 && static_cast<std::size_t>(length) < room;
}

}  // namespace

NewFile::NewFile(const char* path) noexcept {
  // The thread's number: each writes a file of its own.
  if (!print(path_, "%s", path) || !print(part_, "%s.%d.part", path, ::gettid())) {
    made_ = std::errc::filename_too_long;
    return;
  }
  Result<io::OwnedFd> file = create(part_.data());
  if (!file && file.error() == std::errc::file_exists) {
    // Of a process that died meanwhile.
    (void)retry([&] { return ::unlink(part_.data()); });
    file = create(part_.data());
  }
  if (file) {
    file_ = *std::move(file);
  } else {
    made_ = file.error();
  }
}

NewFile::~NewFile() {
  if (file_ && !is_published_) (void)retry([&] { return ::unlink(part_.data()); });
}

Result<void> NewFile::publish() noexcept {
  if (retry([&] { return ::rename(part_.data(), path_.data()); }) == -1) return last_error();
  is_published_ = true;
  return {};
}

}  // namespace rouse::sys
