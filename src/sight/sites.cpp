#include "sight/sites.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "exec/task/examinable.hpp"

namespace rouse::sight {

using rouse::internal::Examinable;
using rouse::internal::Site;
using rouse::internal::SpawnPlace;
using rouse::internal::WorkerWatch;

namespace {

/// A compiler may make several locations of one place.
bool is_same(const std::source_location& a, const std::source_location& b) noexcept {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0 &&
         std::strcmp(a.function_name(), b.function_name()) == 0;
}
bool is_same(SpawnPlace a, SpawnPlace b) noexcept {
  return a.word() == b.word() ||
         (a.code() == 0 && b.code() == 0 && is_same(a.source(), b.source()));
}

std::size_t hash_of(SpawnPlace place) noexcept {
  std::uint64_t hash = place.code();
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
  };
  const std::source_location source = place.source();
  for (const char c : std::string_view(source.file_name())) mix(static_cast<unsigned char>(c));
  mix(source.line());
  mix(source.column());
  return hash;
}

void add_to(MergedSite& to, std::uint64_t tasks, std::uint64_t polls, std::uint64_t busy_ns,
            std::uint64_t longest_ns, std::source_location longest_at) noexcept {
  to.tasks += tasks;
  to.polls += polls;
  to.busy_ns += busy_ns;
  if (longest_ns <= to.longest_ns) return;
  to.longest_ns = longest_ns;
  to.longest_at = longest_at;
}
void add_to(MergedSite& to, const Site& site) noexcept {
  add_to(to, site.tasks(), site.polls(), site.busy_ns(), site.longest_ns(), site.longest_at());
}

}  // namespace

MergedSites::MergedSites() {
  rouse::internal::EveryScheduler schedulers;
  while (const Examinable* const scheduler = schedulers.next()) {
    const WorkerWatch* watch = nullptr;
    for (std::size_t i = 0; scheduler->find_watch(i, watch); ++i) {
      if (watch != nullptr) add(*watch);
    }
  }
  std::sort(sites_, sites_ + count_, [](const MergedSite& a, const MergedSite& b) {
    return a.busy_ns != b.busy_ns ? a.busy_ns > b.busy_ns : a.place.word() < b.place.word();
  });
}

void MergedSites::add(const WorkerWatch& watch) {
  watch.sites.for_each([this](SpawnPlace place, const Site& site) {
    MergedSite& merged = find(place);
    if (merged.name == nullptr && *site.name() != 0 && &merged != &others_) {
      merged.name = arena_.copy(site.name(), Site::longest_name);
    }
    add_to(merged, site);
  });
  add_to(others_, watch.sites.others());
}

MergedSite& MergedSites::find(SpawnPlace place) {
  if (sites_ == nullptr || table_ == nullptr) return others_;
  for (std::size_t at = hash_of(place);; ++at) {
    std::uint16_t& entry = table_[at % (2 * most)];
    if (entry != 0) {
      if (is_same(sites_[entry - 1].place, place)) return sites_[entry - 1];
      continue;
    }
    if (count_ == most) return others_;
    sites_[count_] = MergedSite();
    sites_[count_].place = place;
    entry = static_cast<std::uint16_t>(++count_);
    return sites_[count_ - 1];
  }
}

MergedSite MergedSites::others_from(std::size_t first) const noexcept {
  MergedSite rest = others_;
  for (std::size_t i = first; i < count_; ++i) {
    const MergedSite& site = sites_[i];
    add_to(rest, site.tasks, site.polls, site.busy_ns, site.longest_ns, site.longest_at);
  }
  return rest;
}

}  // namespace rouse::sight
