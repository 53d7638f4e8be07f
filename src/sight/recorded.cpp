#include "sight/recorded.hpp"

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>

#include "sys/memory.hpp"

namespace rouse::sight {

using rouse::internal::recorder::Record;
using rouse::internal::recorder::Seen;
using rouse::internal::recorder::What;
namespace {

constexpr std::size_t record_page = 4096;

std::size_t in_pages(std::size_t bytes) noexcept {
  return (bytes + record_page - 1) & ~(record_page - 1);
}

Track* make_track(std::size_t records) noexcept {
  const std::size_t bytes = in_pages(sizeof(Track) + records * (sizeof(Record) + sizeof(Note)));
  auto* const place = static_cast<char*>(sys::map_pages(bytes, record_page));
  if (place == nullptr) return nullptr;
  auto* const first = reinterpret_cast<Record*>(place + sizeof(Track));
  auto* const notes = reinterpret_cast<Note*>(first + records);
  return new (place) Track{nullptr, bytes, {}, {first, records}, {notes, records}};
}

/// A record that has to do with others: those of one task, or one span, in the order of time.
struct Entry {
  std::uint64_t about;
  std::uint64_t ticks;
  Record* record;
  Note* note;

  What what() const noexcept { return Seen(*record).what(); }
  bool operator<(const Entry& other) const noexcept {
    // A wake led to a poll at the same tick.
    const auto key = [](const Entry& entry) {
      return std::tuple(entry.about, entry.ticks, entry.what() == What::poll);
    };
    return key(*this) < key(other);
  }
};

/// What an entry is about; false: nothing that others are about.
bool find_subject(const Seen& seen, std::uint64_t& about) noexcept {
  constexpr std::uint64_t of_span = std::uint64_t{1} << 63;
  switch (seen.what()) {
    case What::spawn:
    case What::task_name:
    case What::wake:
    case What::poll:
    case What::call:
      about = seen.tag();
      return true;
    case What::span:
    case What::span_end:
      about = of_span | seen.first();
      return true;
    default:
      return false;
  }
}

/// Calls `fn(entry)` for each that has to do with others.
template <class Fn>
void for_each_entry(Track* first, std::uint64_t began, Fn fn) {
  for (Track* track = first; track != nullptr; track = track->next) {
    for (std::size_t i = 0; i < track->records.size(); ++i) {
      Record& record = track->records[i];
      const Seen seen(record);
      std::uint64_t about = 0;
      if (seen.what() == What::text || seen.ticks() < began) continue;
      if (find_subject(seen, about)) fn(Entry{about, seen.ticks(), &record, &track->notes[i]});
    }
  }
}

/// The entries of one task or span.
void match_entries(std::span<Entry> entries, std::uint32_t& last_arrow) noexcept {
  const Record* name = nullptr;
  const Entry* cause = nullptr;  // why it will be polled
  const Entry* span = nullptr;
  std::uint64_t root = 0;
  for (const Entry& entry : entries) {
    const Seen seen(*entry.record);
    if (seen.what() == What::task_name) name = entry.record;
    if (seen.what() == What::poll && root == 0) root = seen.first();
  }
  for (const Entry& entry : entries) {
    switch (entry.what()) {
      case What::spawn:
      case What::wake:
        cause = &entry;
        break;
      case What::poll:
        if ((*entry.record)[2] == 0) (*entry.record)[2] = root;
        [[fallthrough]];
      case What::call:
        entry.note->other = name;
        if (cause != nullptr) entry.note->arrow = cause->note->arrow = ++last_arrow;
        cause = nullptr;
        break;
      case What::span:
        span = &entry;
        break;
      case What::span_end:
        if (span != nullptr) entry.note->other = span->record;
        break;
      default:
        break;
    }
  }
}

}  // namespace

Recorded::Recorded() noexcept : began_(rouse::internal::recorder::began_at()) {
  copy();
  match();
}

Recorded::~Recorded() {
  while (Track* const track = first_) {
    first_ = track->next;
    sys::unmap_pages(track, track->bytes);
  }
}

void Recorded::copy() noexcept {
  Track* track = nullptr;
  Track** end = &first_;
  rouse::internal::recorder::read_all(
      [&](std::size_t records) {
        track = make_track(records);
        return track == nullptr ? std::span<Record>() : track->records;
      },
      [&](const sys::ThreadName& thread, std::span<Record> copied) {
        if (track == nullptr) return;
        track->thread = thread;
        track->records = copied;
        *end = track;
        end = &track->next;
      });
}

void Recorded::match() noexcept {
  std::size_t count = 0;
  for_each_entry(first_, began_, [&](const Entry&) { ++count; });
  const std::size_t bytes = in_pages(count * sizeof(Entry) + 1);
  auto* const place = static_cast<Entry*>(sys::map_pages(bytes, record_page));
  if (place == nullptr) return;
  const std::span<Entry> entries(place, count);
  Entry* next = place;
  for_each_entry(first_, began_, [&](const Entry& entry) { *next++ = entry; });
  std::sort(entries.begin(), entries.end());
  std::uint32_t last_arrow = 0;
  for (std::size_t begin = 0, end = 0; begin != count; begin = end) {
    while (end != count && entries[end].about == entries[begin].about) ++end;
    match_entries(entries.subspan(begin, end - begin), last_arrow);
  }
  sys::unmap_pages(place, bytes);
}

}  // namespace rouse::sight
