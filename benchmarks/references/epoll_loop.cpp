#include "epoll_loop.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/http.hpp"

namespace bench {
namespace {

constexpr std::size_t buffer_size = 4096;

struct Connection {
  explicit Connection(int descriptor) : fd(descriptor) {}
  ~Connection() { ::close(fd); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd;
  std::size_t size = 0;  // of what was read and not answered yet
  std::array<char, buffer_size> buffer;
};

/// The answers are short: if the other side does not take one the reference gives it up.
bool send_all(int fd, std::string_view data) {
  return ::send(fd, data.data(), data.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(data.size());
}

bool answer_requests(Connection& connection) {
  const std::string_view text(connection.buffer.data(), connection.size);
  const Requests found = find_requests(text);
  for (std::size_t left = found.count; left > 0;) {
    const std::size_t now = left < max_answers ? left : max_answers;
    if (!send_all(connection.fd,
                  std::string_view(http_answers()).substr(0, now * http_answer.size())))
      return false;
    left -= now;
  }
  connection.size -= found.size;
  std::memmove(connection.buffer.data(), connection.buffer.data() + found.size, connection.size);
  return true;
}

/// False: the connection is at its end.
bool serve(Connection& connection, bool http) {
  const ssize_t n = ::recv(connection.fd, connection.buffer.data() + connection.size,
                           buffer_size - connection.size, 0);
  if (n <= 0) return n < 0 && errno == EAGAIN;
  if (!http) {
    return send_all(connection.fd, {connection.buffer.data(), static_cast<std::size_t>(n)});
  }
  connection.size += static_cast<std::size_t>(n);
  return answer_requests(connection);
}

void add(int epoll, int fd, void* data) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = data;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) std::abort();
}

int listen_on_loopback() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, at, size) != 0 || ::listen(listener, 1024) != 0 ||
      ::getsockname(listener, at, &size) != 0) {
    std::perror("listen");
    std::exit(1);
  }
  std::printf("%u\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

}  // namespace

void serve_with_epoll(bool http) {
  const int listener = listen_on_loopback();
  const int epoll = ::epoll_create1(0);
  add(epoll, listener, nullptr);
  std::array<epoll_event, 1024> events;
  for (;;) {
    const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto* connection = static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (connection == nullptr) {
        const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
        if (fd >= 0) add(epoll, fd, new Connection(fd));
      } else if (!serve(*connection, http)) {
        delete connection;
      }
    }
  }
}

}  // namespace bench
