// An io_context for each thread; the first accepts and gives the connections out in turn.
#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <utility>

#include "rows.hpp"
#include "runtime.hpp"
#include "support/http.hpp"

namespace {

using asio::ip::tcp;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
constexpr auto as_tuple = asio::as_tuple(deferred);

Awaitable<> echo(Socket peer) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto [failed, n] = co_await peer.async_read_some(asio::buffer(buffer), as_tuple);
    if (failed) co_return;
    const auto [unsent, sent] = co_await asio::async_write(peer, asio::buffer(buffer, n), as_tuple);
    if (unsent) co_return;
  }
}

Awaitable<> http(Socket peer) {
  std::array<char, 4096> buffer;
  std::size_t size = 0;
  for (;;) {
    const auto [failed, n] = co_await peer.async_read_some(asio::buffer(buffer) + size, as_tuple);
    if (failed) co_return;
    size += n;
    const bench::Requests found = bench::find_requests({buffer.data(), size});
    for (std::size_t left = found.count; left > 0;) {
      const std::size_t now = std::min(left, bench::max_answers);
      const auto answers = asio::buffer(bench::http_answers(), now * bench::http_answer.size());
      const auto [unsent, sent] = co_await asio::async_write(peer, answers, as_tuple);
      if (unsent) co_return;
      left -= now;
    }
    size -= found.size;
    std::memmove(buffer.data(), buffer.data() + found.size, size);
  }
}

Awaitable<> accept_all(bool with_http, std::deque<Runtime>& runtimes) {
  Acceptor acceptor(co_await asio::this_coro::executor, {asio::ip::address_v4::loopback(), 0});
  acceptor.listen(1024);
  std::printf("%u\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  for (std::size_t next = 0;; next = (next + 1) % runtimes.size()) {
    const Executor executor = runtimes[next].executor();
    Socket peer = co_await acceptor.async_accept(executor, deferred);
    asio::co_spawn(executor, with_http ? http(std::move(peer)) : echo(std::move(peer)),
                   asio::detached);
  }
}

}  // namespace

void serve(bool http, unsigned workers) {
  if (workers == 0) return;
  std::deque<Runtime> runtimes;
  for (unsigned i = 0; i < workers; ++i) runtimes.emplace_back(1U);
  runtimes.front().block_on(accept_all(http, runtimes));
}
