// The commands that need only the store: a table from a name to a function.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "mini/collections.hpp"
#include "mini/keys.hpp"
#include "mini/resp.hpp"
#include "mini/store.hpp"
#include "mini/strings.hpp"
#include "mini/values.hpp"

namespace mini {

inline void ping(Store&, Args args, std::string& out) {
  args.size() > 1 ? add_bulk(out, args[1]) : add_simple(out, "PONG");
}
inline void echo(Store&, Args args, std::string& out) { add_bulk(out, args[1]); }
/// redis-benchmark asks for the settings of persistence. There is none.
inline void config(Store&, Args args, std::string& out) {
  if (!is_word(args[1], "GET") || args.size() != 3) return add_error(out, "ERR unknown subcommand");
  if (args[2] != "save" && args[2] != "appendonly") return add_array(out, 0);
  add_array(out, 2);
  add_bulk(out, args[2]);
  add_bulk(out, args[2] == "save" ? "" : "no");
}
/// redis-cli asks what commands there are, for its hints. It does without.
inline void command(Store&, Args, std::string& out) { add_array(out, 0); }
inline void info(Store& store, Args, std::string& out) {
  add_bulk(out,
           "# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n# Keyspace\r\ndb0:keys=" +
               std::to_string(store.size()) + "\r\n");
}

// [table]
/// What a command is called, how many words it has with its name, and what it does.
struct Command {
  std::string_view name;
  std::size_t least;
  std::size_t most;
  void (*run)(Store&, Args, std::string& out);
};

inline constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
inline constexpr Command commands[] = {
    {"GET", 2, 2, get},
    {"SET", 3, 7, set},
    {"DEL", 2, any, del},
    {"INCR", 2, 2, incr},
    {"LPUSH", 3, any, push<End::left>},
    {"RPUSH", 3, any, push<End::right>},
    {"LPOP", 2, 2, pop<End::left>},
    {"RPOP", 2, 2, pop<End::right>},
    // [/table]
    {"LRANGE", 4, 4, lrange},
    {"LLEN", 2, 2, llen},
    {"DECR", 2, 2, decr},
    {"INCRBY", 3, 3, incrby},
    {"APPEND", 3, 3, append},
    {"MSET", 3, any, mset},
    {"MGET", 2, any, mget},
    {"SADD", 3, any, sadd},
    {"SPOP", 2, 2, spop},
    {"SMEMBERS", 2, 2, smembers},
    {"HSET", 4, any, hset},
    {"HGET", 3, 3, hget},
    {"HGETALL", 2, 2, hgetall},
    {"ZADD", 4, any, zadd},
    {"ZPOPMIN", 2, 2, zpopmin},
    {"EXISTS", 2, any, exists},
    {"EXPIRE", 3, 3, expire},
    {"PEXPIRE", 3, 3, pexpire},
    {"TTL", 2, 2, ttl},
    {"PTTL", 2, 2, pttl},
    {"PERSIST", 2, 2, persist},
    {"DBSIZE", 1, 1, dbsize},
    {"FLUSHALL", 1, 2, flushall},
    {"PING", 1, 2, ping},
    {"ECHO", 2, 2, echo},
    {"CONFIG", 2, any, config},
    {"COMMAND", 1, any, command},
    {"INFO", 1, any, info},
};

// [find_command]
/// A name of up to eight letters as a number, in capitals: one comparison for a command. 0: it is
/// longer.
constexpr std::uint64_t packed(std::string_view name) {
  std::uint64_t word = 0;
  for (const char letter : name.size() <= 8 ? name : std::string_view()) {
    const char capital =
        letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    word = word << 8 | static_cast<unsigned char>(capital);
  }
  return word;
}

/// The command of that name; null if there is none. Those that are called most stand first.
inline const Command* find_command(std::string_view name) {
  static constexpr auto names = [] {
    std::array<std::uint64_t, std::size(commands)> all{};
    std::ranges::transform(commands, all.begin(), packed, &Command::name);
    return all;
  }();
  const auto* const found = std::ranges::find(names, packed(name));
  return found != names.end() && *found != 0 ? &commands[found - names.begin()] : nullptr;
}

/// Runs a command; its reply is added to `out`. False: there is no such command.
inline bool execute(Store& store, Args args, std::string& out) {
  const Command* found = find_command(args[0]);
  if (found == nullptr) return false;
  if (args.size() < found->least || args.size() > found->most) {
    add_wrong_number(out, found->name);
  } else {
    found->run(store, args, out);
  }
  return true;
}
// [/find_command]

}  // namespace mini
