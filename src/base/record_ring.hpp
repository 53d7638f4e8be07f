// RecordRing: the last records of one thread, its writer. It overwrites the oldest; any thread may
// copy what is there meanwhile, and discards what may have been overwritten.
//
// The record of position p is in slot p mod N, and `end_` is the number of records written. To
// write p: the words of its slot, then end_ = p + 1.
//
// A reader loads end_ (e), copies the slots of [e - (N - 1), e), loads end_ again (n), and keeps
// those from n - (N - 1) on. Why what it keeps is whole:
//  - All words of a p < e were written: the writer stored them before end_ = p + 1, with release,
//    which the reader's first load acquires.
//  - None is newer: a word of p + N is stored after end_ = p + N. If the reader loads that word,
//    its acquire sees the release, so its second load gives n >= p + N, and p < n - (N - 1): it
//    does not keep p.
// So of N slots N - 1 can be read: the writer may be in the midst of the other one. No record needs
// a number of its own. tests/model/record_ring_test.cpp has the models.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/atomic.hpp"

namespace rouse::internal {

/// Models have small records.
template <std::size_t words>
class RecordRing {
 public:
  using Record = std::array<std::uint64_t, words>;
  using Slot = std::array<atomic<std::uint64_t>, words>;

  /// A power of two of slots, all zero, which live as long.
  explicit RecordRing(std::span<Slot> slots) noexcept
      : slots_(slots.data()), mask_(slots.size() - 1) {}
  RecordRing(const RecordRing&) = delete;
  RecordRing& operator=(const RecordRing&) = delete;

  /// The writer's.
  void push(const Record& record) noexcept {
    const std::uint64_t position = end_.load(memory_order_relaxed);
    Slot& slot = slots_[position & mask_];
    // ORDER: release; publishes `end_`, to who sees this instead of an older record.
    for (std::size_t i = 0; i < words; ++i) slot[i].store(record[i], memory_order_release);
    // ORDER: release; publishes the record.
    end_.store(position + 1, memory_order_release);
  }

  // --- Any thread's. ---

  /// How many records were written. ORDER: acquire; sees them.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_.load(memory_order_acquire); }
  /// The oldest that can't have been overwritten once `end` were written.
  [[nodiscard]] std::uint64_t oldest(std::uint64_t end) const noexcept {
    return end > mask_ ? end - mask_ : 0;
  }
  /// What is in the slot of this position: maybe not all of the same record.
  [[nodiscard]] Record guess(std::uint64_t position) const noexcept {
    const Slot& slot = slots_[position & mask_];
    Record record;
    // ORDER: acquire; sees what `end_` was when this was written.
    for (std::size_t i = 0; i < words; ++i) record[i] = slot[i].load(memory_order_acquire);
    return record;
  }
  /// How many records can be read at most.
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_; }
  /// Copies the newest that `out` has room for; gives those that are whole, the oldest first.
  [[nodiscard]] std::span<Record> copy(std::span<Record> out) const noexcept {
    const std::uint64_t end = this->end();
    const std::uint64_t room = out.size();
    const std::uint64_t first = std::max(oldest(end), end > room ? end - room : 0);
    for (std::uint64_t i = first; i < end; ++i) out[i - first] = guess(i);
    const std::uint64_t whole = oldest(end_.load(memory_order_relaxed));
    if (whole >= end) return {};
    out = out.first(end - first);
    return whole > first ? out.subspan(whole - first) : out;
  }

 private:
  Slot* const slots_;
  const std::uint64_t mask_;
  atomic<std::uint64_t> end_{0};
};

}  // namespace rouse::internal
