// Tutorial, chapter 7: the replies to all commands that have come are one write.
// usage: 07_pipelining [ADDRESS]
#include <cstddef>
#include <memory>
#include <string>

#include <rouse/rouse.hpp>

#include "mini/listen.hpp"
#include "mini/session.hpp"

// [serve]
rouse::Async<void> serve(rouse::net::TcpStream client, std::shared_ptr<mini::Shared> shared) {
  mini::Session session(*shared);
  for (;;) {
    const bool has_more = session.run();  // all commands that have come
    co_await client.write_all(session.replies());
    session.replies().clear();
    if (session.is_over()) co_return;
    if (has_more) continue;  // the replies were enough for a write
    const std::size_t n = co_await client.read(session.room());
    if (n == 0) co_return;
    session.add(n);
  }
}
// [/serve]

rouse::Async<void> async_main(std::string address) {
  co_await mini::listen(address, serve, std::make_shared<mini::Shared>(mini::Limits()));
}

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
