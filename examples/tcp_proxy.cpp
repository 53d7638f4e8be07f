// Forwards TCP connections to another server. On Ctrl-C it accepts no more, gives the open ones
// five seconds, then ends. usage: tcp_proxy LISTEN TARGET
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

namespace {

using namespace std::chrono_literals;
using rouse::net::TcpListener;
using rouse::net::TcpStream;

// [proxy]
rouse::Async<void> relay(TcpStream client, std::string target) {
  auto server = co_await TcpStream::connect(target).result();
  if (!server) {
    std::cerr << target + ": " + server.error().message() + "\n";
    co_return;
  }
  // Either side may disconnect: that ends this connection, and is no error for us.
  (void)co_await rouse::io::copy_bidirectional(client, *server).result();
}

rouse::Async<void> accept_all(TcpListener listener, std::string target,
                              rouse::sync::TaskTracker connections, std::size_t* count) {
  for (;;) {
    auto [client, addr] = co_await listener.accept();
    rouse::spawn(connections.track_future(relay(std::move(client), target))).detach();
    ++*count;
  }
}

rouse::Async<void> proxy(std::string at, std::string target) {
  auto stop = rouse::signal::ctrl_c();
  rouse::sync::TaskTracker connections;
  std::size_t count = 0;
  auto listener = co_await TcpListener::bind(at);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  co_await rouse::select(std::move(stop),
                         accept_all(std::move(listener), target, connections, &count));
  // The listener was destroyed with accept_all: new connections are refused.

  std::cout << "stopping: " << connections.size() << " connections are open\n" << std::flush;
  connections.close();
  (void)co_await rouse::timeout(5s, connections.wait()).result();
  std::cout << "passed on " << count << " connections, cut off " << connections.size() << '\n';
}
// [/proxy]

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: tcp_proxy LISTEN TARGET, for example 127.0.0.1:8080 example.org:80\n",
               stderr);
    return 2;
  }
  return rouse::run(proxy, argv[1], argv[2]);
}
