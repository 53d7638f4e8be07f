// A request and its answer in memory, and a WebSocket: it needs rouse, its components, llhttp, and
// wslay.
#include <rouse/http.hpp>

#include <rouse/rouse.hpp>

rouse::Async<rouse::http::Response> hello(rouse::http::Request&) {
  co_return rouse::http::Response::text("hello");
}

rouse::Async<void> echo(rouse::ws::Socket peer) {
  while (auto message = co_await peer.recv()) co_await peer.send(*std::move(message));
}
rouse::Async<rouse::http::Response> chat(rouse::http::Request& request) {
  co_return rouse::http::upgrade(request, echo);
}

rouse::Async<bool> is_greeted() {
  auto [client, server] = rouse::io::duplex(4096);
  auto serving = rouse::spawn(rouse::http::serve_connection(std::move(server), hello));
  co_await client.write_all("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = co_await client.read_to_string();
  co_await std::move(serving);
  co_return answer.ends_with("\r\n\r\nhello");
}

rouse::Async<bool> is_echoed() {
  auto [client, server] = rouse::io::duplex(4096);
  auto serving = rouse::spawn(rouse::http::serve_connection(std::move(server), chat));
  auto peer = co_await rouse::ws::connect(std::move(client), "localhost", "/");
  co_await peer.send("hello");
  const auto answer = co_await peer.recv();
  co_await peer.close();
  co_await std::move(serving);
  co_return answer && answer->text() == "hello";
}

rouse::Async<int> async_main() {
  const bool greeted = co_await is_greeted();
  const bool echoed = co_await is_echoed();
  co_return greeted&& echoed ? 0 : 1;
}

int main() { return rouse::run(async_main); }
