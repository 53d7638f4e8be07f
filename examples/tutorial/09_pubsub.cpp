// Tutorial, chapter 9: PUBLISH and SUBSCRIBE, with small queues: a slow subscriber is sent away.
// usage: 09_pubsub [ADDRESS]
#include <memory>
#include <string>

#include <rouse/rouse.hpp>

#include "mini/listen.hpp"
#include "mini/server.hpp"

// [main]
rouse::Async<void> async_main(std::string address) {
  mini::Limits limits;
  limits.backlog = 16;
  auto shared = std::make_shared<mini::Shared>(limits);
  co_await mini::listen(address, mini::serve<rouse::net::TcpStream>, shared);
}
// [/main]

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
