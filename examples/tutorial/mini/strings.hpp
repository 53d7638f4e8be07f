// Commands of strings: GET, SET, INCR and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mini/resp.hpp"
#include "mini/store.hpp"
#include "mini/values.hpp"

namespace mini {

// [get]
inline void get(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    const auto* text = find_as<std::string>(shard, key, out, [&] { add_nil(out); });
    if (text != nullptr) add_bulk(out, *text);
  });
}
// [/get]

// [set]
struct SetOptions {
  Instant dies = Instant::max();
  bool only_new = false;
  bool only_old = false;
};

/// EX seconds, PX milliseconds, NX, XX. Empty, with the error in `out`, if they make no sense.
inline std::optional<SetOptions> set_options(Args args, std::string& out) {
  SetOptions options;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool seconds = is_word(args[i], "EX");
    if ((seconds || is_word(args[i], "PX")) && i + 1 < args.size()) {
      const auto count = number(args[++i]);
      const auto dies = count ? after(*count, seconds ? 1000 : 1) : std::nullopt;
      if (!dies || *count <= 0) {
        add_error(out, count ? "ERR invalid expire time in 'set' command" : not_a_number);
        return std::nullopt;
      }
      options.dies = *dies;
    } else if (is_word(args[i], "NX")) {
      options.only_new = true;
    } else if (is_word(args[i], "XX")) {
      options.only_old = true;
    } else {
      add_error(out, syntax_error);
      return std::nullopt;
    }
  }
  return options;
}

inline void set(Store& store, Args args, std::string& out) {
  const auto options = set_options(args.subspan(3), out);
  if (!options) return;
  store.with(args[1], [&](Shard& shard, Name key) {
    Entry* entry = shard.find(key);
    if (entry != nullptr ? options->only_new : options->only_old) return add_nil(out);
    if (entry == nullptr) entry = &shard.find_or_make(key);
    if (auto* text = std::get_if<std::string>(&entry->value)) {
      text->assign(args[2]);  // into the memory that it has
    } else {
      entry->value.emplace<std::string>(args[2]);
    }
    shard.let_die(key, *entry, options->dies);
    add_ok(out);
  });
}
// [/set]

inline void mset(Store& store, Args args, std::string& out) {
  if (args.size() % 2 == 0) return add_wrong_number(out, "MSET");
  for (std::size_t i = 1; i < args.size(); i += 2) {
    store.with(args[i], [&](Shard& shard, Name key) {
      Entry& entry = shard.find_or_make(key);
      entry.value.emplace<std::string>(args[i + 1]);
      entry.dies = Instant::max();
    });
  }
  add_ok(out);
}
inline void mget(Store& store, Args args, std::string& out) {
  add_array(out, args.size() - 1);
  for (const std::string_view word : args.subspan(1)) {
    store.with(word, [&](Shard& shard, Name key) {
      const Entry* entry = shard.find(key);
      const auto* text = entry != nullptr ? std::get_if<std::string>(&entry->value) : nullptr;
      text != nullptr ? add_bulk(out, *text) : add_nil(out);
    });
  }
}

// [incr]
inline void add_to(Store& store, std::string_view word, std::int64_t step, std::string& out) {
  store.with(word, [&](Shard& shard, Name key) {
    auto* text = make_as<std::string>(shard, key, out);
    if (text == nullptr) return;
    const auto before = text->empty() ? 0 : number(*text);
    std::int64_t after = 0;
    if (!before) return add_error(out, not_a_number);
    if (__builtin_add_overflow(*before, step, &after)) {
      return add_error(out, "ERR increment or decrement would overflow");
    }
    *text = std::to_string(after);
    add_integer(out, after);
  });
}
inline void incr(Store& store, Args args, std::string& out) { add_to(store, args[1], 1, out); }
inline void decr(Store& store, Args args, std::string& out) { add_to(store, args[1], -1, out); }
inline void incrby(Store& store, Args args, std::string& out) {
  const auto step = number(args[2]);
  step ? add_to(store, args[1], *step, out) : add_error(out, not_a_number);
}
// [/incr]
inline void append(Store& store, Args args, std::string& out) {
  store.with(args[1], [&](Shard& shard, Name key) {
    auto* text = make_as<std::string>(shard, key, out);
    if (text == nullptr) return;
    text->append(args[2]);
    add_integer(out, static_cast<std::int64_t>(text->size()));
  });
}

}  // namespace mini
