// Memory: the C++20 memory model, as far as it can be executed step by step.
//
// Each location has a modification order: a list of messages (a value, and what an acquire of it
// makes known). A thread has a view: for each location the newest message it may not go behind.
//  - A load may read any message that is not older than the thread's view of the location, and
//    raises the view to it: the four coherence rules.
//  - A store may go into the order anywhere after the thread's view, also before messages that are
//    there already (needed for 2+2W), but never between an update and what it read.
//  - An update (read-modify-write) goes directly behind the message it reads.
//  - A release store's message carries all the thread knows; a relaxed one what it knew at its last
//    release fence; an update's also what the message it read carries: the release sequence of
//    C++20. An acquire load joins what the message carries; a relaxed load keeps it for the next
//    acquire fence.
//  - The order S of sequentially consistent operations is the order they are executed in. `strong`
//    of a location is the newest message that such an operation has read or written, or that was in
//    the view of a thread at a seq_cst fence. A seq_cst access does not go behind it, and a seq_cst
//    fence raises the thread's view to it everywhere. These are the four rules of [atomics.order]
//    about S, read backwards: were A before B in coherence, B would not come before A in S.
// So every execution found is one that C++20 allows. Not found are those with a cycle of
// "sequenced before", "reads from" and S: load buffering, which C++ allows in theory and no rouse
// code may rely on, and its kin.
//
// Hashes: a message has the hash of the event that made it; a location's hash is that of its
// messages in modification order. They do not depend on the order in which independent events were
// executed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/hash.hpp"
#include "model/knowledge.hpp"

namespace rouse::model {

/// What a thread knows, will know after an acquire fence, and knew at its last release fence.
struct Mind {
  Knowledge now;
  Knowledge acquirable;
  Knowledge released;
};

struct Message {
  Place place;
  std::uint64_t value;
  Hash hash;
  bool is_update;  // nothing may come between it and the one before
  Knowledge carried;
};

struct Location {
  std::uint32_t index;
  Hash name_hash;  // of its address
  std::vector<Message> order;
  Place strong = 0;
  Hash hash = 0;         // of the order, and its part of Memory::hash
  Hash strong_hash = 0;  // of the message at `strong`

  [[nodiscard]] const Message& newest() const noexcept { return order.back(); }
};

class Memory {
 public:
  using Order = std::memory_order;

  void clear();
  /// A location with its first message, which a thread made at some time (0: before all).
  Location& add(Hash name_hash, std::uint64_t value, ThreadIndex creator, std::uint32_t made_at);
  [[nodiscard]] Location& operator[](std::size_t index) { return locations_[index]; }

  // Which messages an operation may take, as positions in the order, newest first.
  using Positions = std::vector<std::uint32_t>;
  void readable(const Location& location, const Mind& mind, Order order, Place at_least,
                Positions& out) const;
  /// Those that a store or an update may directly follow.
  void followable(const Location& location, const Mind& mind, Order order, Positions& out) const;

  // The operations. `event` is the hash of the event.
  std::uint64_t load(Location& location, std::uint32_t position, Mind& mind, Order order);
  /// Behind `position`; an update has read it.
  void store(Location& location, std::uint32_t position, Mind& mind, Order order,
             std::uint64_t value, bool is_update, Hash event);
  void fence(Mind& mind, Order order);

  /// Of all that is in memory.
  [[nodiscard]] Hash hash() const noexcept { return hash_; }
  /// Of what a seq_cst fence sees.
  [[nodiscard]] Hash strong_hash() const noexcept { return strong_hash_; }

 private:
  void set_hash(Location& location) noexcept;
  void raise_strong(Location& location, Place place) noexcept;

  std::deque<Location> locations_;
  Hash hash_ = 0;
  Hash strong_hash_ = 0;
};

}  // namespace rouse::model
