// OwnedFd: a file descriptor that is closed when its owner is destroyed.
#pragma once

#include <utility>

#include "rouse/base/internal/attributes.hpp"

namespace rouse::io {

class ROUSE_API OwnedFd {
 public:
  constexpr OwnedFd() noexcept = default;
  /// Takes over `fd`, which nobody else closes from now on; negative: none.
  explicit constexpr OwnedFd(int fd) noexcept : fd_(fd) {}
  constexpr OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~OwnedFd() { close(); }

  /// -1: there is none.
  [[nodiscard]] constexpr int get() const noexcept { return fd_; }
  [[nodiscard]] explicit constexpr operator bool() const noexcept { return fd_ >= 0; }
  /// Gives the descriptor to the caller, who closes it.
  [[nodiscard]] constexpr int release() noexcept { return std::exchange(fd_, -1); }
  /// Closes the descriptor now.
  void close() noexcept {
    if (fd_ >= 0) close_fd(std::exchange(fd_, -1));
  }

 private:
  static void close_fd(int fd) noexcept;
  int fd_ = -1;
};

}  // namespace rouse::io
