// Commands of keys, whatever they hold: DEL, EXPIRE, TTL and so on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "mini/resp.hpp"
#include "mini/store.hpp"
#include "mini/values.hpp"

namespace mini {

inline void del(Store& store, Args args, std::string& out) {
  std::int64_t erased = 0;
  for (const std::string_view word : args.subspan(1)) {
    erased += store.with(word, [&](Shard& shard, Name key) { return shard.erase(key) ? 1 : 0; });
  }
  add_integer(out, erased);
}
inline void exists(Store& store, Args args, std::string& out) {
  std::int64_t found = 0;
  for (const std::string_view word : args.subspan(1)) {
    found += store.with(word,
                        [&](Shard& shard, Name key) { return shard.find(key) != nullptr ? 1 : 0; });
  }
  add_integer(out, found);
}
// [expire]
inline void expire_in(Store& store, Args args, std::int64_t unit, std::string& out) {
  const auto count = number(args[2]);
  const auto dies = count ? after(*count, unit) : std::nullopt;
  if (!dies) return add_error(out, not_a_number);
  store.with(args[1], [&](Shard& shard, Name key) {
    Entry* entry = shard.find(key);
    if (entry != nullptr) shard.let_die(key, *entry, *dies);
    add_integer(out, entry != nullptr ? 1 : 0);
  });
}
inline void expire(Store& store, Args args, std::string& out) { expire_in(store, args, 1000, out); }
inline void pexpire(Store& store, Args args, std::string& out) { expire_in(store, args, 1, out); }

/// -2: no such key. -1: it stays.
inline void time_left(Store& store, Args args, std::int64_t unit, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    const Entry* entry = shard.find(key);
    if (entry == nullptr) return add_integer(out, -2);
    if (entry->dies == Instant::max()) return add_integer(out, -1);
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(entry->dies - rouse::time::now());
    add_integer(out, (left.count() + unit - 1) / unit);
  });
}
inline void ttl(Store& store, Args args, std::string& out) { time_left(store, args, 1000, out); }
inline void pttl(Store& store, Args args, std::string& out) { time_left(store, args, 1, out); }
// [/expire]
inline void persist(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    Entry* entry = shard.find(key);
    const bool was_mortal = entry != nullptr && entry->dies != Instant::max();
    if (was_mortal) entry->dies = Instant::max();
    add_integer(out, was_mortal ? 1 : 0);
  });
}
inline void dbsize(Store& store, Args, std::string& out) {
  add_integer(out, static_cast<std::int64_t>(store.size()));
}
inline void flushall(Store& store, Args, std::string& out) {
  store.with_each([](Shard& shard) { shard.clear(); });
  add_ok(out);
}

}  // namespace mini
