// How fast the server of echo_server.cpp is: clients send 64 bytes and wait for them to come back,
// again and again; all of them and the server are tasks of one process.
// usage: echo_load [CLIENTS [SECONDS]]
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>

namespace {

using namespace std::chrono_literals;
using Microseconds = std::chrono::duration<float, std::micro>;
using rouse::time::Instant;

rouse::Async<void> serve(rouse::net::TcpStream peer) {
  std::array<char, 4096> buf;
  while (auto n = co_await peer.read(buf)) co_await peer.write_all({buf.data(), n});
}

rouse::Async<void> listen(rouse::net::TcpListener listener) {
  for (;;) {
    auto [peer, addr] = co_await listener.accept();
    rouse::spawn(serve, std::move(peer)).detach();
  }
}

// [client]
/// How long each request took.
rouse::Async<std::vector<float>> ask(rouse::net::SocketAddr server, Instant end) {
  auto stream = co_await rouse::net::TcpStream::connect(server);
  stream.set_nodelay(true);
  std::array<char, 64> sent{};
  std::array<char, 64> got{};
  std::vector<float> taken;
  for (Instant start = rouse::time::now(); start < end;) {
    sent.fill(static_cast<char>(taken.size()));
    co_await stream.write_all(sent);
    co_await stream.read_exact(got);
    if (sent != got) throw std::runtime_error("the echo differs from what was sent");
    const Instant now = rouse::time::now();
    taken.push_back(Microseconds(now - std::exchange(start, now)).count());
  }
  co_return taken;
}
// [/client]

float percentile(std::vector<float>& values, double part) {
  if (values.empty()) return 0;
  const auto index = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + index);
  return values[static_cast<std::size_t>(index)];
}

rouse::Async<void> async_main(int clients, std::chrono::milliseconds time) {
  auto listener = co_await rouse::net::TcpListener::bind("127.0.0.1:0");
  const auto address = listener.local_addr();
  auto server = rouse::spawn(listen, std::move(listener));

  rouse::JoinSet<std::vector<float>> load;
  const Instant end = rouse::time::now() + time;
  for (int i = 0; i < clients; ++i) load.spawn(ask, address, end);
  std::vector<float> all;
  while (auto taken = co_await load.join_next())
    all.insert(all.end(), taken->begin(), taken->end());
  server.abort();

  const double seconds = std::chrono::duration<double>(time).count();
  std::printf("%d clients, %.1f s: %.0f requests a second\n", clients, seconds,
              static_cast<double>(all.size()) / seconds);
  std::printf("latency: p50 %.0f us, p99 %.0f us\n", percentile(all, 0.5), percentile(all, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  const int clients = argc > 1 ? std::atoi(argv[1]) : 200;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3;
  return rouse::run(async_main, std::max(clients, 1),
                    std::chrono::milliseconds(static_cast<long>(seconds * 1000)));
}
