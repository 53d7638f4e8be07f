#include <array>
#include <boost/asio.hpp>

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> echo(tcp::socket peer) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto n = co_await peer.async_read_some(asio::buffer(buffer), asio::use_awaitable);
    co_await asio::async_write(peer, asio::buffer(buffer, n), asio::use_awaitable);
  }
}

asio::awaitable<void> serve() {
  const auto executor = co_await asio::this_coro::executor;
  tcp::acceptor acceptor(executor, {asio::ip::make_address("127.0.0.1"), 8080});
  for (;;) {
    auto peer = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(executor, echo(std::move(peer)), asio::detached);
  }
}

int main() {
  asio::io_context context;
  asio::co_spawn(context, serve(), asio::detached);
  context.run();
}
