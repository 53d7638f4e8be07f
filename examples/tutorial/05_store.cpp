// Tutorial, chapter 5: GET, SET and DEL, from a store that all tasks share.
// usage: 05_store [ADDRESS]
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <rouse/rouse.hpp>

#include "mini/each_command.hpp"
#include "mini/listen.hpp"
#include "mini/resp.hpp"
#include "mini/store.hpp"

// [answer]
std::string answer(mini::Store& store, mini::Args args) {
  std::string reply;
  if (args[0] == "GET" && args.size() == 2) {
    store.with(args[1], [&](mini::Shard& shard, mini::Name key) {
      const mini::Entry* entry = shard.find(key);
      entry != nullptr ? mini::add_bulk(reply, std::get<std::string>(entry->value))
                       : mini::add_nil(reply);
    });
  } else if (args[0] == "SET" && args.size() == 3) {
    store.with(args[1], [&](mini::Shard& shard, mini::Name key) {
      shard.find_or_make(key).value.emplace<std::string>(args[2]);
    });
    mini::add_simple(reply, "OK");
  } else if (args[0] == "DEL" && args.size() == 2) {
    const bool erased =
        store.with(args[1], [](mini::Shard& shard, mini::Name key) { return shard.erase(key); });
    mini::add_integer(reply, erased ? 1 : 0);
  } else {
    mini::add_error(reply, "ERR unknown command");
  }
  return reply;
}
// [/answer]

// [serve]
rouse::Async<void> serve(rouse::net::TcpStream client, std::shared_ptr<mini::Store> store) {
  const auto run = [&store](mini::Args args) { return answer(*store, args); };
  co_await mini::each_command(std::move(client), run);
}

rouse::Async<void> async_main(std::string address) {
  co_await mini::listen(address, serve, std::make_shared<mini::Store>());
}
// [/serve]

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:6379");
}
