// PrivateSocket: a Unix socket with a file that only this user may open. Made for the time that it
// lives; the file of a process that was killed stays, and is removed by the next one that starts.
#pragma once

#include <cstdint>
#include <string>

#include "sight/listener.hpp"

namespace rouse::sight {

class PrivateSocket {
 public:
  /// Empty: default_path(). Throws std::system_error, which says why it is refused.
  explicit PrivateSocket(const std::string& path);
  PrivateSocket(const PrivateSocket&) = delete;
  PrivateSocket& operator=(const PrivateSocket&) = delete;
  /// Removes the file, but not that of the parent in a forked child.
  ~PrivateSocket();

  [[nodiscard]] int fd() const noexcept { return listener_.fd(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const std::string path_;
  const std::uint32_t process_forks_before_;
  Listener listener_;
};

}  // namespace rouse::sight
