// What ./dev bench --service measures on Boost.Beast: an HTTP/1.1 server that answers every request
// with the same text. An io_context for each thread, as in server.cpp.
//
//   asio_service WORKERS      prints its port, serves until it is killed
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <utility>

#include "runtime.hpp"

namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
constexpr auto as_tuple = asio::as_tuple(deferred);

Awaitable<> answer_all(Socket peer) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> request;
    const auto [failed, size] = co_await http::async_read(peer, buffer, request, as_tuple);
    if (failed) co_return;
    http::response<http::string_body> response(http::status::ok, request.version());
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    response.keep_alive(request.keep_alive());
    response.body() = "Hello, World!";
    response.prepare_payload();
    const auto [unsent, sent] = co_await http::async_write(peer, response, as_tuple);
    if (unsent || !request.keep_alive()) co_return;
  }
}

Awaitable<> accept_all(std::deque<Runtime>& runtimes) {
  Acceptor acceptor(co_await asio::this_coro::executor, {asio::ip::address_v4::loopback(), 0});
  acceptor.listen(1024);
  std::printf("%u\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  for (std::size_t next = 0;; next = (next + 1) % runtimes.size()) {
    const Executor executor = runtimes[next].executor();
    Socket peer = co_await acceptor.async_accept(executor, deferred);
    peer.set_option(tcp::no_delay(true));
    asio::co_spawn(executor, answer_all(std::move(peer)), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc == 2 ? std::atoi(argv[1]) : 0;
  if (workers < 1) {
    std::fputs("usage: asio_service WORKERS\n", stderr);
    return 2;
  }
  std::deque<Runtime> runtimes;
  for (int i = 0; i < workers; ++i) runtimes.emplace_back(1U);
  runtimes.front().block_on(accept_all(runtimes));
}
