// echo_load PORT CONNECTIONS SECONDS [RATE]: sends requests of 64 bytes to an echo server on
// loopback and prints, as one line: requests, seconds, p50, p99 and p99.9 in us. Without RATE one
// request is always under way on each connection. With it so many a second are sent, on one
// connection after the other, whether or not the answers to earlier ones have come; a latency
// counts from when its request was due, so that a stall shows in all requests that it delayed (no
// coordinated omission). Prints "ready" when all are connected and warm, and waits for a line on
// stdin before it measures.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "support/measure.hpp"

namespace {

using bench::Clock;
constexpr std::size_t message_size = 64;

struct Connection {
  int fd = -1;
  std::size_t received = 0;  // of the answer that is not whole yet
  Clock::time_point due;     // the request that is answered next
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void send_request(const Connection& connection) {
  static const std::array<char, message_size> message{};
  // If it had to wait, the server would be behind by all that a socket can hold.
  if (::send(connection.fd, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
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

class Load {
 public:
  Load(std::uint16_t port, std::size_t connections) : connections_(connections) {
    for (Connection& connection : connections_) {
      connection.fd = connect_to(port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &connection;
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event) != 0) fail("epoll_ctl");
    }
  }

  /// Each answer is followed by the next request. The latencies in us.
  std::vector<double> run_closed(Clock::duration time) {
    latencies_.clear();
    const auto end = Clock::now() + time;
    for (Connection& connection : connections_) {
      if (connection.due == Clock::time_point()) send_now(connection);  // its first
    }
    while (Clock::now() < end) {
      receive(std::chrono::milliseconds(100), [](Connection& connection) { send_now(connection); });
    }
    return latencies_;
  }

  /// A request every `interval`, each connection in turn; ends with the last answer.
  std::vector<double> run_open(Clock::duration time, Clock::duration interval) {
    latencies_.clear();
    const auto begin = Clock::now();
    const auto requests = static_cast<std::size_t>(time / interval);
    const auto due = [&](std::size_t request) {
      return begin + static_cast<Clock::rep>(request) * interval;
    };
    for (std::size_t i = 0; i < connections_.size(); ++i) connections_[i].due = due(i);
    const auto turn = static_cast<Clock::rep>(connections_.size()) * interval;
    for (std::size_t sent = 0; latencies_.size() < requests;) {
      const auto now = Clock::now();
      for (; sent < requests && due(sent) <= now; ++sent)
        send_request(connections_[sent % connections_.size()]);
      const auto pause = sent < requests ? due(sent) - now : std::chrono::milliseconds(100);
      receive(pause, [&](Connection& connection) { connection.due += turn; });
    }
    return latencies_;
  }

 private:
  static void send_now(Connection& connection) {
    connection.due = Clock::now();
    send_request(connection);
  }

  /// Takes what comes within `timeout`; on_answer(connection) after each whole answer.
  template <class OnAnswer>
  void receive(Clock::duration timeout, OnAnswer on_answer) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
    const std::timespec wait{seconds.count(), std::chrono::nanoseconds(timeout - seconds).count()};
    std::array<epoll_event, 512> events;
    std::array<char, 4096> buffer;
    const int count =
        ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &wait, nullptr);
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      const ssize_t n = ::recv(connection.fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (n <= 0) fail("recv");
      connection.received += static_cast<std::size_t>(n);
      for (; connection.received >= message_size; connection.received -= message_size) {
        latencies_.push_back(bench::ns_between(connection.due, Clock::now()) / 1e3);
        on_answer(connection);
      }
    }
  }

  int epoll_ = ::epoll_create1(0);
  std::vector<Connection> connections_;
  std::vector<double> latencies_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("usage: echo_load PORT CONNECTIONS SECONDS [RATE]\n", stderr);
    return 2;
  }
  using Seconds = std::chrono::duration<double>;
  const auto in_clock = [](Seconds time) {
    return std::chrono::duration_cast<Clock::duration>(time);
  };
  const double rate = argc == 5 ? std::strtod(argv[4], nullptr) : 0;
  ::prctl(PR_SET_TIMERSLACK, 1);  // or the kernel adds 50 us to a pause
  Load load(static_cast<std::uint16_t>(std::strtoul(argv[1], nullptr, 10)),
            std::strtoul(argv[2], nullptr, 10));
  const auto run = [&](Seconds time) {
    return rate > 0 ? load.run_open(in_clock(time), in_clock(Seconds(1 / rate)))
                    : load.run_closed(in_clock(time));
  };
  run(Seconds(0.5));
  std::puts("ready");
  std::fflush(stdout);
  if (std::getchar() == EOF) return 1;
  const auto begin = Clock::now();
  const auto latencies = run(Seconds(std::strtod(argv[3], nullptr)));
  const double taken = bench::ns_between(begin, Clock::now()) / 1e9;
  if (latencies.empty()) return 1;
  const auto shown = bench::percentiles(latencies, {0.5, 0.99, 0.999});
  std::printf("%zu %.3f %.1f %.1f %.1f\n", latencies.size(), taken, shown[0], shown[1], shown[2]);
}
