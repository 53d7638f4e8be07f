// Tutorial, chapter 3: commands that are lines of text: PING, ECHO words, QUIT.
// usage: 03_lines [ADDRESS]
#include <string>
#include <string_view>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/listen.hpp"

// [answer]
std::string answer(std::string_view line) {
  if (line == "PING") return "+PONG\r\n";
  if (line.starts_with("ECHO ")) return "+" + std::string(line.substr(5)) + "\r\n";
  if (line == "QUIT") return "+OK\r\n";
  return "-ERR unknown command\r\n";
}
// [/answer]

// [serve]
rouse::Async<void> serve(rouse::net::TcpStream client) {
  auto [reader, writer] = std::move(client).split();
  auto lines = rouse::io::BufReader(std::move(reader)).lines(64 * 1024);  // none is longer
  while (const auto line = co_await lines.next_line()) {
    const std::string reply = answer(*line);
    co_await writer.write_all(reply);
    if (*line == "QUIT") co_return;
  }
}
// [/serve]

rouse::Async<void> async_main(std::string address) { co_await mini::listen(address, serve); }

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
