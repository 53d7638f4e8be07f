// The loop of chapter 4 as a function, for chapters 5 and 6: each command is answered by a write of
// its own. Chapter 7 replaces it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/resp.hpp"

namespace mini {

/// Calls answer(args), which gives the reply, for each command of a client, until QUIT.
template <class Answer>
rouse::Async<void> each_command(rouse::net::TcpStream client, Answer answer) {
  rouse::io::FrameBuffer input;
  Parser parser;
  for (;;) {
    const auto bytes = input.bytes();
    const auto found =
        parser.next(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (found == Parser::Found::nothing_yet) {
      const std::size_t n = co_await client.read(input.room());
      if (n == 0) co_return;
      input.add(n);
    } else if (found == Parser::Found::mistake) {
      co_await client.write_all("-ERR " + parser.mistake() + "\r\n");
      co_return;
    } else {
      const Args args = parser.args();
      const bool quits = !args.empty() && args[0] == "QUIT";
      const std::string reply = args.empty() ? "" : quits ? "+OK\r\n" : answer(args);
      input.consume(parser.consumed());
      co_await client.write_all(reply);
      if (quits) co_return;
    }
  }
}

}  // namespace mini
