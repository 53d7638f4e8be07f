// Which of these addresses accept a connection within a second? All are tried at once.
// usage: reachable ADDRESS...
// [reachable]
#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <rouse/rouse.hpp>

using namespace std::chrono_literals;

rouse::Async<void> probe(std::string address, rouse::sync::Sender<std::string> report) {
  auto connecting = rouse::net::TcpStream::connect(address);
  // After one second the connect is dropped, which cancels it and closes its socket.
  auto peer = co_await rouse::timeout(1s, std::move(connecting)).result();
  auto line = address + ": " + (peer ? "open" : peer.error().message());
  (void)co_await report.send(std::move(line));  // waits for room: back-pressure
}

rouse::Async<void> async_main(std::vector<std::string> addresses) {
  auto [tx, rx] = rouse::sync::channel<std::string>(16);
  for (const auto& address : addresses) rouse::spawn(probe, address, tx).detach();

  auto interrupts = rouse::signal::Signal(rouse::signal::Kind::interrupt());
  for (auto left = addresses.size(); left > 0; --left) {
    auto first = co_await rouse::select(interrupts.recv(), rx.recv());  // the other is dropped
    if (first.index() == 0) co_return;                                  // Ctrl-C
    std::cout << *std::get<1>(first) << '\n';
  }
}

int main(int argc, char** argv) {
  return rouse::run(async_main, std::vector<std::string>(argv + 1, argv + argc));
}
// [/reachable]
