// The servers of the rows echo and http.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "rouse/core/async.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"

#include "rows.hpp"
#include "support/http.hpp"

namespace bench {
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
    const Requests found = find_requests({buf.data(), size});
    for (std::size_t left = found.count; left > 0;) {
      const std::size_t now = std::min(left, max_answers);
      const auto written =
          co_await peer.write_all({http_answers().data(), now * http_answer.size()}).result();
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

Async<void> accept_all(bool with_http) {
  auto listener = co_await TcpListener::bind("127.0.0.1:0");
  tell_port(listener);
  for (;;) {
    auto [peer, addr] = co_await listener.accept();
    rouse::spawn(with_http ? http : echo, std::move(peer)).detach();
  }
}

}  // namespace

void serve(bool with_http, unsigned workers) {
  rouse::Runtime rt = make_runtime(workers);
  rt.block_on(accept_all(with_http));
  std::abort();  // it accepts for ever
}

}  // namespace bench
