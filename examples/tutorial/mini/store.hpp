// The data: keys and values in shards, each behind a lock of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include <rouse/rouse.hpp>

#include "mini/table.hpp"

namespace mini {

// [values]
/// Lets a set of strings be searched by a string_view, without a copy.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
template <class T>
using Fields = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

using List = std::deque<std::string>;
using Hash = Fields<std::string>;
using Set = std::unordered_set<std::string, TextHash, std::equal_to<>>;
struct Ranking {  // a sorted set
  Fields<double> scores;
  std::set<std::pair<double, std::string>> order;
};
/// Strings are what most keys hold: the others are elsewhere, so that a value is small.
template <class T>
using Boxed = std::unique_ptr<T>;
using Value = std::variant<std::string, Boxed<List>, Boxed<Hash>, Boxed<Set>, Boxed<Ranking>>;
// [/values]

using rouse::time::Instant;

struct Entry {
  Value value;
  Instant dies = Instant::max();  // max: never
};

// [shard]
/// A part of the keys. Whoever has it from Store::with has it alone.
class Shard {
 public:
  /// The entry of a key; null if there is none, or if its time is up.
  Entry* find(Name key) {
    Entry* entry = entries_.find(key);
    if (entry == nullptr || entry->dies == Instant::max()) return entry;
    if (entry->dies > rouse::time::now()) return entry;
    entries_.erase(key);
    return nullptr;
  }
  /// The entry of a key, new if there was none.
  Entry& find_or_make(Name key) {
    Entry* entry = find(key);
    return entry != nullptr ? *entry : entries_.find_or_make(key);
  }
  bool erase(Name key) { return find(key) != nullptr && entries_.erase(key); }
  // [/shard]
  // [deadlines]
  /// Gives an entry an end. The sweep finds it by the list of deadlines, which may hold old ones:
  /// those are recognised when their time comes.
  void let_die(Name key, Entry& entry, Instant when) {
    entry.dies = when;
    if (when != Instant::max()) deadlines_.emplace(when, key.text);
  }
  /// Removes what is due, at most `limit` at a time: others wait for the lock meanwhile. Gives how
  /// many deadlines it has seen.
  std::size_t sweep(Instant now, std::size_t limit) {
    std::size_t seen = 0;
    for (; seen < limit && !deadlines_.empty() && deadlines_.begin()->first <= now; ++seen) {
      const auto due = deadlines_.extract(deadlines_.begin());
      const Name key(due.mapped());
      const Entry* entry = entries_.find(key);
      if (entry != nullptr && entry->dies <= now) entries_.erase(key);
    }
    return seen;
  }
  // [/deadlines]
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  void clear() {
    entries_.clear();
    deadlines_.clear();
  }

 private:
  Table<Entry> entries_;
  std::multimap<Instant, std::string> deadlines_;
};

// [store]
class Store {
 public:
  /// Calls fn(shard, key) with the shard of a key, under its lock. `fn` must not wait: a std::mutex
  /// is held, and with it this thread.
  template <class Fn>
  auto with(Name key, Fn fn) {
    Locked& locked = shards_[key.hash >> shift];
    const std::lock_guard lock(locked.mutex);
    return fn(locked.shard, key);
  }
  // [/store]
  /// The same with every shard, one after another.
  template <class Fn>
  void with_each(Fn fn) {
    for (Locked& locked : shards_) {
      const std::lock_guard lock(locked.mutex);
      fn(locked.shard);
    }
  }
  [[nodiscard]] std::size_t size() {
    std::size_t total = 0;
    with_each([&](const Shard& shard) { total += shard.size(); });
    return total;
  }
  // [private]
 private:
  static constexpr std::size_t count = 64;
  // The table inside a shard uses the low bits of the same hash: these are the high ones.
  static constexpr int shift = std::numeric_limits<std::size_t>::digits - 6;

  struct alignas(64) Locked {  // each on cache lines of its own
    std::mutex mutex;
    Shard shard;
  };
  std::array<Locked, count> shards_;
};
// [/private]

}  // namespace mini
