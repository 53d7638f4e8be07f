// SiteTable: what was polled, by the place where it was spawned: so its size is bounded by the text
// of the program, not by its load. One thread at a time adds, any may read.
//
// An entry is found by open addressing. It is published with its place, and never moves or goes
// away. What finds no room counts as one of the `others`.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "rouse/exec/internal/spawn_place.hpp"

#include "exec/task/counter.hpp"

namespace rouse::internal {

class Site {
 public:
  static constexpr std::size_t longest_name = 47;

  /// A poll of a task from here. `ended`: it was the last one.
  void add(std::uint64_t ns, bool ended) noexcept {
    polls_.add();
    busy_ns_.add(ns);
    if (ended) tasks_.add();
  }
  [[nodiscard]] bool is_longest(std::uint64_t ns) const noexcept { return ns > longest_ns_.get(); }
  /// `last_await`: where it stopped.
  void set_longest(std::uint64_t ns, std::source_location last_await) noexcept {
    longest_ns_.set(ns);
    longest_at_.set(std::bit_cast<std::uintptr_t>(last_await));
  }

  // --- Any thread. ---

  [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_.get(); }
  [[nodiscard]] std::uint64_t polls() const noexcept { return polls_.get(); }
  [[nodiscard]] std::uint64_t busy_ns() const noexcept { return busy_ns_.get(); }
  [[nodiscard]] std::uint64_t longest_ns() const noexcept { return longest_ns_.get(); }
  /// Line 0: nowhere; the task ended, or is no coroutine.
  [[nodiscard]] std::source_location longest_at() const noexcept {
    return std::bit_cast<std::source_location>(static_cast<std::uintptr_t>(longest_at_.get()));
  }
  /// Of the first task from here; empty if it had none.
  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  friend class SiteTable;
  // A SpawnPlace's word, and one more: 0 is none.
  atomic<std::uintptr_t> place_{0};
  Counter polls_;
  Counter busy_ns_;
  Counter longest_ns_;
  Counter tasks_;  // that ended
  Counter longest_at_;
  char name_[longest_name + 1] = {};
};

class SiteTable {
 public:
  static constexpr std::size_t size = 1024;
  static_assert(model_checker || sizeof(Site) <= 128);

  /// The entry of a place. `name` gives, of its first task, what that is called, or null.
  template <class Name>
  Site& find(SpawnPlace place, Name&& name) noexcept {
    const std::uintptr_t key = place.word() + 1;
    std::size_t at = (key * 0x9e3779b97f4a7c15U) >> (64 - size_bits);
    for (std::size_t i = 0; i < most_probes; ++i, at = (at + 1) % size) {
      Site& site = sites_[at];
      const std::uintptr_t here = site.place_.load(memory_order_relaxed);
      if (here == key) [[likely]]
        return site;
      if (here == 0) return begin(site, key, name());
    }
    return others_;
  }

  // --- Any thread. ---

  /// Calls fn(place, site) for each entry.
  template <class Fn>
  void for_each(Fn&& fn) const {
    for (const Site& site : sites_) {
      // ORDER: acquire; sees the name.
      const std::uintptr_t key = site.place_.load(memory_order_acquire);
      if (key != 0) fn(SpawnPlace::of_word(key - 1), site);
    }
  }
  /// Of all that found no room.
  [[nodiscard]] const Site& others() const noexcept { return others_; }

 private:
  static constexpr unsigned size_bits = 10;
  static_assert(size == 1U << size_bits);
  static constexpr std::size_t most_probes = 16;

  [[gnu::noinline, gnu::cold]] static Site& begin(Site& site, std::uintptr_t key,
                                                  const char* name) noexcept {
    if (name != nullptr) {
      std::memcpy(site.name_, name, std::min(std::strlen(name), Site::longest_name));
    }
    // ORDER: release; publishes the name.
    site.place_.store(key, memory_order_release);
    return site;
  }

  std::array<Site, size> sites_;
  Site others_;
};

}  // namespace rouse::internal
