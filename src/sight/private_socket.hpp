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
  /// Removes the file, but neither that of the parent in a forked child nor one that another socket
  /// has put into its place.
  ~PrivateSocket();

  [[nodiscard]] int fd() const noexcept { return listener_.fd(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// Who has the socket open keeps the number from being used again.
  struct FileId {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileId&) const noexcept = default;
  };
  static FileId file_at(const std::string& path);

  const std::string path_;
  const std::uint32_t process_forks_before_;
  Listener listener_;
  const FileId file_;
};

}  // namespace rouse::sight
