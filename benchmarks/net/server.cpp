// net_server RUNTIME KIND WORKERS: serves on a port of loopback, which it prints, until it is
// ended. RUNTIME: rouse, epoll (the hand-written loop). KIND: echo, http. WORKERS: 0 is
// current_thread.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "rouse/rouse.hpp"

#include "epoll_loop.hpp"
#include "http.hpp"

namespace {

using rouse::Async;
using rouse::net::TcpListener;
using rouse::net::TcpStream;

Async<void> echo(TcpStream peer) {
  std::array<char, 4096> buf;
  for (;;) {
    const auto n = co_await peer.read(buf).result();
    if (!n || *n == 0) co_return;
    const auto written = co_await peer.write_all({buf.data(), *n}).result();
    if (!written) co_return;
  }
}

Async<void> http(TcpStream peer) {
  std::array<char, 4096> buf;
  std::size_t size = 0;
  for (;;) {
    const auto n = co_await peer.read({buf.data() + size, buf.size() - size}).result();
    if (!n || *n == 0) co_return;
    size += *n;
    const bench::Requests found = bench::find_requests({buf.data(), size});
    for (std::size_t left = found.count; left > 0;) {
      const std::size_t now = std::min(left, bench::max_answers);
      const auto written =
          co_await peer.write_all({bench::http_answers().data(), now * bench::http_answer.size()})
              .result();
      if (!written) co_return;
      left -= now;
    }
    size -= found.size;
    std::memmove(buf.data(), buf.data() + found.size, size);
  }
}

void tell_port(const TcpListener& listener) {
  std::printf("%u\n", listener.local_addr().port());
  std::fflush(stdout);
}

Async<void> serve(bool with_http) {
  auto listener = co_await TcpListener::bind("127.0.0.1:0");
  tell_port(listener);
  for (;;) {
    auto [peer, addr] = co_await listener.accept();
    rouse::spawn(with_http ? http : echo, std::move(peer)).detach();
  }
}

rouse::Runtime runtime(std::size_t workers) {
  if (workers == 0) return rouse::Runtime::builder().current_thread().build();
  return rouse::Runtime::builder().worker_threads(workers).build();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: net_server rouse|epoll echo|http WORKERS\n", stderr);
    return 2;
  }
  const bool with_http = std::string_view(argv[2]) == "http";
  if (std::string_view(argv[1]) == "epoll") bench::serve_with_epoll(with_http);
  rouse::Runtime rt = runtime(std::strtoul(argv[3], nullptr, 10));
  rt.block_on(serve(with_http));
}
