// Tutorial, chapter 6: a table of commands. redis-cli works with this server.
// usage: 06_commands [ADDRESS]
#include <memory>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/commands.hpp"
#include "mini/each_command.hpp"
#include "mini/listen.hpp"
#include "mini/store.hpp"

// [serve]
rouse::Async<void> serve(rouse::net::TcpStream client, std::shared_ptr<mini::Store> store) {
  const auto run = [&store](mini::Args args) {
    std::string reply;
    if (!mini::execute(*store, args, reply)) mini::add_unknown(reply, args[0]);
    return reply;
  };
  co_await mini::each_command(std::move(client), run);
}
// [/serve]

rouse::Async<void> async_main(std::string address) {
  co_await mini::listen(address, serve, std::make_shared<mini::Store>());
}

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
