// Commands of lists, sets, hashes and sorted sets.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mini/resp.hpp"
#include "mini/store.hpp"
#include "mini/values.hpp"

namespace mini {

// --- Lists. ---

// [lists]
enum class End : bool { left, right };

template <End end>
void push(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    List* list = make_as<List>(shard, key, out);
    if (list == nullptr) return;
    for (const std::string_view item : args.subspan(2)) {
      end == End::left ? list->emplace_front(item) : list->emplace_back(item);
    }
    add_integer(out, static_cast<std::int64_t>(list->size()));
  });
}

template <End end>
void pop(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    List* list = find_as<List>(shard, key, out, [&] { add_nil(out); });
    if (list == nullptr) return;
    add_bulk(out, end == End::left ? list->front() : list->back());
    end == End::left ? list->pop_front() : list->pop_back();
    if (list->empty()) shard.erase(key);  // a key without a value is no key
  });
}
// [/lists]

inline void llen(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    const List* list = find_as<List>(shard, key, out, [&] { add_integer(out, 0); });
    if (list != nullptr) add_integer(out, static_cast<std::int64_t>(list->size()));
  });
}
inline void lrange(Store& store, Args args, std::string& out) {
  auto first = number(args[2]);
  auto last = number(args[3]);
  if (!first || !last) return add_error(out, not_a_number);
  store.with(args[1], [&](Shard& shard, Name key) {
    const List* list = find_as<List>(shard, key, out, [&] { add_array(out, 0); });
    if (list == nullptr) return;
    const auto size = static_cast<std::int64_t>(list->size());
    std::int64_t from = std::clamp<std::int64_t>(*first < 0 ? *first + size : *first, 0, size);
    const std::int64_t to = std::min(*last < 0 ? *last + size : *last, size - 1);
    add_array(out, static_cast<std::size_t>(std::max<std::int64_t>(to - from + 1, 0)));
    for (; from <= to; ++from) add_bulk(out, (*list)[static_cast<std::size_t>(from)]);
  });
}

// --- Sets, hashes, rankings. ---

inline void sadd(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    Set* members = make_as<Set>(shard, key, out);
    if (members == nullptr) return;
    std::int64_t added = 0;
    for (const std::string_view member : args.subspan(2)) {
      if (members->contains(member)) continue;
      members->emplace(member);
      ++added;
    }
    add_integer(out, added);
  });
}
inline void spop(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    Set* members = find_as<Set>(shard, key, out, [&] { add_nil(out); });
    if (members == nullptr) return;
    add_bulk(out, *members->begin());
    members->erase(members->begin());
    if (members->empty()) shard.erase(key);
  });
}
inline void smembers(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    const Set* members = find_as<Set>(shard, key, out, [&] { add_array(out, 0); });
    if (members == nullptr) return;
    add_array(out, members->size());
    for (const std::string& member : *members) add_bulk(out, member);
  });
}
inline void hset(Store& store, Args args, std::string& out) {
  if (args.size() % 2 != 0) return add_wrong_number(out, "HSET");
  store.with(args[1], [&](Shard& shard, Name key) {
    Hash* fields = make_as<Hash>(shard, key, out);
    if (fields == nullptr) return;
    std::int64_t added = 0;
    for (std::size_t i = 2; i < args.size(); i += 2) {
      const auto it = fields->find(args[i]);
      if (it != fields->end()) {
        it->second.assign(args[i + 1]);
      } else {
        fields->emplace(args[i], args[i + 1]);
        ++added;
      }
    }
    add_integer(out, added);
  });
}
inline void hget(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    const Hash* fields = find_as<Hash>(shard, key, out, [&] { add_nil(out); });
    if (fields == nullptr) return;
    const auto it = fields->find(args[2]);
    it != fields->end() ? add_bulk(out, it->second) : add_nil(out);
  });
}
inline void hgetall(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    const Hash* fields = find_as<Hash>(shard, key, out, [&] { add_array(out, 0); });
    if (fields == nullptr) return;
    add_array(out, 2 * fields->size());
    for (const auto& [name, value] : *fields) {
      add_bulk(out, name);
      add_bulk(out, value);
    }
  });
}
inline void zadd(Store& store, Args args, std::string& out) {
  if (args.size() % 2 != 0) return add_error(out, syntax_error);
  for (std::size_t i = 2; i < args.size(); i += 2) {
    if (!number<double>(args[i])) return add_error(out, "ERR value is not a valid float");
  }
  store.with(args[1], [&](Shard& shard, Name key) {
    Ranking* ranking = make_as<Ranking>(shard, key, out);
    if (ranking == nullptr) return;
    std::int64_t added = 0;
    for (std::size_t i = 2; i < args.size(); i += 2) {
      const double score = *number<double>(args[i]);
      const auto [it, is_new] = ranking->scores.try_emplace(std::string(args[i + 1]), score);
      if (!is_new) ranking->order.erase({it->second, it->first});
      it->second = score;
      ranking->order.emplace(score, it->first);
      added += is_new ? 1 : 0;
    }
    add_integer(out, added);
  });
}
inline void zpopmin(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    Ranking* ranking = find_as<Ranking>(shard, key, out, [&] { add_array(out, 0); });
    if (ranking == nullptr) return;
    const auto lowest = ranking->order.extract(ranking->order.begin());
    ranking->scores.erase(lowest.value().second);
    std::array<char, 32> score;
    char* end = std::to_chars(score.data(), score.data() + score.size(), lowest.value().first).ptr;
    add_array(out, 2);
    add_bulk(out, lowest.value().second);
    add_bulk(out, {score.data(), static_cast<std::size_t>(end - score.data())});
    if (ranking->order.empty()) shard.erase(key);
  });
}

}  // namespace mini
