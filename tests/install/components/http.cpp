// A request and its answer in memory: it needs rouse, its components, and llhttp.
#include <rouse/http.hpp>

#include <rouse/rouse.hpp>

rouse::Async<rouse::http::Response> hello(rouse::http::Request&) {
  co_return rouse::http::Response::text("hello");
}

rouse::Async<int> async_main() {
  auto [client, server] = rouse::io::duplex(4096);
  auto serving = rouse::spawn(rouse::http::serve_connection(std::move(server), hello));
  co_await client.write_all("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = co_await client.read_to_string();
  co_await std::move(serving);
  co_return answer.ends_with("\r\n\r\nhello") ? 0 : 1;
}

int main() { return rouse::run(async_main); }
