// echo_load PORT CONNECTIONS SECONDS: keeps one request of 64 bytes under way on each connection to
// an echo server on loopback and prints, as one line: requests, seconds, p50 and p99 in us.
// Prints "ready" when all are connected and warm, and waits for a line on stdin before it measures.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t message_size = 64;

struct Connection {
  int fd = -1;
  std::size_t received = 0;
  Clock::time_point sent;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void send_request(Connection& connection) {
  static const std::array<char, message_size> message{};
  connection.sent = Clock::now();
  connection.received = 0;
  if (::send(connection.fd, message.data(), message.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(message.size()))
    fail("send");
}

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    fail("connect");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

/// Answers what comes, until `end`; gives the latencies.
std::vector<std::uint32_t> run(int epoll, Clock::time_point end) {
  std::vector<std::uint32_t> latencies;
  latencies.reserve(1'000'000);
  std::array<epoll_event, 512> events;
  std::array<char, 4096> buffer;
  for (auto now = Clock::now(); now < end;) {
    const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 100);
    now = Clock::now();
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t n = ::recv(connection.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (n <= 0) fail("recv");
      connection.received += static_cast<std::size_t>(n);
      if (connection.received < message_size) continue;
      const auto taken = Clock::now() - connection.sent;
      latencies.push_back(static_cast<std::uint32_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(taken).count()));
      send_request(connection);
    }
  }
  return latencies;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: echo_load PORT CONNECTIONS SECONDS\n", stderr);
    return 2;
  }
  const auto port = static_cast<std::uint16_t>(std::strtoul(argv[1], nullptr, 10));
  std::vector<Connection> connections(std::strtoul(argv[2], nullptr, 10));
  const std::chrono::duration<double> time(std::strtod(argv[3], nullptr));
  const int epoll = ::epoll_create1(0);
  for (Connection& connection : connections) {
    connection.fd = connect_to(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, connection.fd, &event) != 0) fail("epoll_ctl");
  }
  for (Connection& connection : connections) send_request(connection);
  run(epoll, Clock::now() + std::chrono::milliseconds(500));
  std::puts("ready");
  std::fflush(stdout);
  if (std::getchar() == EOF) return 1;
  const auto begin = Clock::now();
  auto latencies = run(epoll, begin + std::chrono::duration_cast<Clock::duration>(time));
  const std::chrono::duration<double> taken = Clock::now() - begin;
  std::sort(latencies.begin(), latencies.end());
  if (latencies.empty()) return 1;
  std::printf("%zu %.3f %u %u\n", latencies.size(), taken.count(), latencies[latencies.size() / 2],
              latencies[latencies.size() * 99 / 100]);
}
