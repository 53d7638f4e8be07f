// Tutorial, chapter 10: a server with limits so small that one runs into them.
// usage: 10_limits [ADDRESS]
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/server.hpp"

// [limits]
mini::Limits small_limits() {
  mini::Limits limits;
  limits.clients = 2;
  limits.subscriptions = 1;
  limits.parser.args = 100;
  limits.parser.bulk = 1000;
  limits.parser.inline_line = 100;
  limits.idle = std::chrono::seconds(3);
  return limits;
}
// [/limits]

rouse::Async<void> async_main(std::string address) {
  auto listener = co_await rouse::net::TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  co_await mini::run_server(std::move(listener), std::make_shared<mini::Shared>(small_limits()));
}

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
