// MergedSites: the tables by spawn site of all threads as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include "rouse/exec/internal/spawn_place.hpp"

#include "exec/task/worker_watch.hpp"
#include "sight/arena.hpp"

namespace rouse::sight {

/// What there is to say of one place.
struct MergedSite {
  rouse::internal::SpawnPlace place;
  const char* name = nullptr;  // null: it has none
  std::uint64_t tasks = 0;
  std::uint64_t polls = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t longest_ns = 0;
  std::source_location longest_at;
};

class MergedSites {
 public:
  MergedSites();

  /// The busiest first.
  [[nodiscard]] std::span<const MergedSite> sites() const noexcept { return {sites_, count_}; }
  /// All for which there was no room.
  [[nodiscard]] const MergedSite& others() const noexcept { return others_; }
  /// The same with all sites from there on.
  [[nodiscard]] MergedSite others_from(std::size_t first) const noexcept;

 private:
  static constexpr std::size_t most = 4096;

  void add(const rouse::internal::WorkerWatch& watch);
  MergedSite& find(rouse::internal::SpawnPlace place);

  Arena arena_;
  MergedSite* const sites_ = arena_.make<MergedSite>(most);
  std::size_t count_ = 0;
  std::uint16_t* const table_ =
      arena_.make<std::uint16_t>(2 * most);  // a site's number and one more
  MergedSite others_;
};

}  // namespace rouse::sight
