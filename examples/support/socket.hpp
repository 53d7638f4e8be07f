// Socket: one end of a connection inside this program, with non-blocking calls. It belongs to the
// thread of the IoPark that waits for it, which must outlive it.
#pragma once

#include <optional>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "fd.hpp"
#include "io_park.hpp"

class Socket {
 public:
  Socket(IoPark& park, const char* name, Fd fd) : park_(park), name_(name), fd_(std::move(fd)) {
    park_.add(fd_.get());
  }
  Socket(Socket&&) noexcept = default;
  ~Socket() {
    if (fd_.get() >= 0) park_.remove(fd_.get());
  }

  static std::pair<Socket, Socket> connected(IoPark& park, const char* name, const char* peer) {
    int ends[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), "socketpair");
    Fd first(ends[0], "socketpair");
    Fd second(ends[1], "socketpair");
    return {Socket(park, name, std::move(first)), Socket(park, peer, std::move(second))};
  }

  /// What has come; empty at the end of the stream. None: nothing has come yet.
  std::optional<std::string> try_read() {
    char buffer[256];
    const auto n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    return std::string(buffer, static_cast<std::size_t>(check(static_cast<int>(n), "recv")));
  }
  /// A short text: the kernel takes it whole.
  void write(const std::string& text) {
    check(static_cast<int>(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL)), "send");
  }

  void set_readable_callback(const rouse::Waker& waker) {
    park_.wake_when_readable(fd_.get(), waker);
  }
  void drop_readable_callback() { park_.forget_waker(fd_.get()); }
  const char* name() const { return name_; }

 private:
  IoPark& park_;
  const char* name_;
  Fd fd_;
};
