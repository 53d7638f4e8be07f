// Fd: an open file descriptor that is closed in the end. `check`: a system call's error is thrown.
#pragma once

#include <cerrno>
#include <system_error>
#include <unistd.h>
#include <utility>

inline int check(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

class Fd {
 public:
  Fd(int result, const char* call) : fd_(check(result, call)) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};
