// The server that the tutorial (docs/tutorial) builds: it speaks the protocol of Redis, and passes
// redis-cli and redis-benchmark. Runs until Ctrl-C, SIGTERM or SHUTDOWN.
// usage: mini_redis [ADDRESS [WORKERS]]
#include <charconv>
#include <cstddef>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/server.hpp"

// [main]
rouse::Async<void> stop_at_signal(std::shared_ptr<mini::Shared> shared) {
  auto terminate = rouse::signal::Signal(rouse::signal::Kind::terminate());
  co_await rouse::select(rouse::signal::ctrl_c(), terminate.recv());
  shared->stop.cancel();
}

rouse::Async<void> async_main(std::string address) {
  auto shared = std::make_shared<mini::Shared>(mini::Limits());
  auto listener = co_await rouse::net::TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  rouse::spawn(stop_at_signal, shared).detach();
  co_await mini::run_server(std::move(listener), shared);
  std::cout << "bye\n";
}

int main(int argc, char** argv) {
  try {
    auto builder = rouse::Runtime::builder();
    if (argc > 2) builder.worker_threads(std::stoul(argv[2]));
    auto runtime = builder.build();
    runtime.block_on(async_main(argc > 1 ? argv[1] : "127.0.0.1:6379"));
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
// [/main]
