// Which TCP ports of a host accept connections: tries 100 at a time, each for half a second.
// usage: port_scan [HOST [FIRST LAST]]
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <rouse/rouse.hpp>

namespace {

using namespace std::chrono_literals;

struct Probed {
  Probed(int number, bool takes_connections) : port(number), is_open(takes_connections) {}
  int port;
  bool is_open;
};

// [scan]
rouse::Async<Probed> probe(rouse::net::IpAddr host, int port) {
  auto connecting = rouse::net::TcpStream::connect({host, static_cast<std::uint16_t>(port)});
  const auto stream = co_await rouse::timeout(500ms, connecting.result()).result();
  co_return Probed(port, stream && *stream);  // neither late nor refused
}

rouse::Async<std::vector<int>> scan(rouse::net::IpAddr host, int first, int last) {
  auto ports = rouse::stream::iter(std::views::iota(first, last + 1));
  auto probes =
      rouse::stream::map(std::move(ports), [host](int port) { return probe(host, port); });
  auto results = rouse::stream::buffer_unordered(std::move(probes), 100);

  std::vector<int> open;
  while (auto probed = co_await rouse::stream::next(results)) {
    if (probed->is_open) open.push_back(probed->port);
  }
  std::ranges::sort(open);
  co_return open;
}
// [/scan]

rouse::Async<void> async_main(std::string host, int first, int last) {
  const auto addresses = co_await rouse::net::lookup_host({host, 0});
  const auto open = co_await scan(addresses.front().ip(), first, last);
  for (const int port : open) std::printf("%d\n", port);
  std::printf("%zu of %d ports of %s are open\n", open.size(), last - first + 1, host.c_str());
}

int to_port(const char* text) {
  const int port = std::stoi(text);
  if (port < 1 || port > 65535) throw std::out_of_range("ports are 1 to 65535");
  return port;
}

}  // namespace

int main(int argc, char** argv) try {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1", argc > 3 ? to_port(argv[2]) : 1,
                    argc > 3 ? to_port(argv[3]) : 1024);
} catch (const std::logic_error& error) {
  std::fprintf(stderr, "usage: port_scan [HOST [FIRST LAST]] (%s)\n", error.what());
  return 2;
}
