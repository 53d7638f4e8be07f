// Tutorial, chapter 4: commands in RESP, the protocol of Redis. PING, ECHO and QUIT.
// usage: 04_resp [ADDRESS]
#include <cstddef>
#include <string>
#include <string_view>

#include <rouse/rouse.hpp>

#include "mini/listen.hpp"
#include "mini/resp.hpp"

std::string answer(mini::Args args) {
  std::string reply;
  if (args[0] == "PING") {
    mini::add_simple(reply, "PONG");
  } else if (args[0] == "ECHO" && args.size() == 2) {
    mini::add_bulk(reply, args[1]);
  } else if (args[0] == "QUIT") {
    mini::add_simple(reply, "OK");
  } else {
    mini::add_error(reply, "ERR unknown command");
  }
  return reply;
}

// [serve]
rouse::Async<void> serve(rouse::net::TcpStream client) {
  rouse::io::FrameBuffer input;  // what was read and is not yet a command
  mini::Parser parser;
  for (;;) {
    const auto bytes = input.bytes();
    const auto found =
        parser.next(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (found == mini::Parser::Found::nothing_yet) {
      const std::size_t n = co_await client.read(input.room());
      if (n == 0) co_return;
      input.add(n);
    } else if (found == mini::Parser::Found::mistake) {
      co_await client.write_all("-ERR " + parser.mistake() + "\r\n");
      co_return;
    } else {
      const mini::Args args = parser.args();
      const bool quits = !args.empty() && args[0] == "QUIT";
      const std::string reply = args.empty() ? "" : answer(args);
      input.consume(parser.consumed());
      co_await client.write_all(reply);
      if (quits) co_return;
    }
  }
}
// [/serve]

rouse::Async<void> async_main(std::string address) { co_await mini::listen(address, serve); }

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
