// The accept loop of chapters 2 to 9. Chapter 10 replaces it.
#pragma once

#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include <rouse/rouse.hpp>

namespace mini {

// [guarded]
/// Runs fn(client, args...). A client that goes away in the middle is no error of the server.
template <class Fn, class... Args>
rouse::Async<void> guarded(Fn fn, rouse::net::TcpStream client, Args... args) {
  try {
    co_await fn(std::move(client), std::move(args)...);
  } catch (const std::system_error& error) {
    std::cerr << std::string("a client: ") + error.what() + "\n";
  }
}
// [/guarded]

// [listen]
/// A task that runs fn(client, args...) for each client.
template <class Fn, class... Args>
rouse::Async<void> listen(std::string address, Fn fn, Args... args) {
  auto listener = co_await rouse::net::TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  for (;;) {
    auto [client, peer] = co_await listener.accept();
    client.set_nodelay(true);
    rouse::spawn(guarded<Fn, Args...>, fn, std::move(client), args...).detach();
  }
}
// [/listen]

}  // namespace mini
