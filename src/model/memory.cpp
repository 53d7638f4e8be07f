#include "model/memory.hpp"

#include <algorithm>
#include <atomic>

namespace rouse::model {
namespace {

using Order = Memory::Order;

constexpr Place first_place = Place{1} << 32U;
constexpr Place distance = Place{1} << 32U;  // so 32 messages may be put into one gap

bool is_strong(Order order) noexcept { return order == std::memory_order_seq_cst; }
bool acquires(Order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || is_strong(order);
}
bool releases(Order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         is_strong(order);
}

/// Messages that are older must not be taken.
Place oldest_allowed(const Location& location, const Mind& mind, Order order) noexcept {
  const Place seen = mind.now.view[location.index];
  return is_strong(order) ? std::max(seen, location.strong) : seen;
}

}  // namespace

void Memory::clear() {
  locations_.clear();
  hash_ = 0;
  strong_hash_ = 0;
}

Location& Memory::add(Hash name_hash, std::uint64_t value, ThreadIndex creator,
                      std::uint32_t made_at) {
  Location& location = locations_.emplace_back();
  location.index = static_cast<std::uint32_t>(locations_.size() - 1);
  location.name_hash = name_hash;
  location.order.push_back({first_place, value, mix(name_hash, made_at, creator), false, {}});
  set_hash(location);
  return location;
}

void Memory::readable(const Location& location, const Mind& mind, Order order, Place at_least,
                      Positions& out) const {
  out.clear();
  const Place oldest = std::max(oldest_allowed(location, mind, order), at_least);
  for (std::size_t i = location.order.size(); i-- > 0;) {
    if (location.order[i].place < oldest) break;
    out.push_back(static_cast<std::uint32_t>(i));
  }
}

void Memory::followable(const Location& location, const Mind& mind, Order order,
                        Positions& out) const {
  out.clear();
  const Place oldest = oldest_allowed(location, mind, order);
  for (std::size_t i = location.order.size(); i-- > 0;) {
    if (location.order[i].place < oldest) break;
    const bool is_read_by_update = i + 1 < location.order.size() && location.order[i + 1].is_update;
    if (!is_read_by_update) out.push_back(static_cast<std::uint32_t>(i));
  }
}

std::uint64_t Memory::load(Location& location, std::uint32_t position, Mind& mind, Order order) {
  const Message& message = location.order[position];
  mind.now.view.raise(location.index, message.place);
  (acquires(order) ? mind.now : mind.acquirable).join(message.carried);
  if (is_strong(order)) raise_strong(location, message.place);
  return message.value;
}

void Memory::store(Location& location, std::uint32_t position, Mind& mind, Order order,
                   std::uint64_t value, bool is_update, Hash event) {
  auto& messages = location.order;
  const Place before = messages[position].place;
  const bool is_last = position + 1 == messages.size();
  const Place after = is_last ? before + 2 * distance : messages[position + 1].place;
  Message message{before + (after - before) / 2, value, event, is_update, {}};
  mind.now.view.raise(location.index, message.place);
  message.carried = releases(order) ? mind.now : mind.released;
  if (is_update) message.carried.join(messages[position].carried);
  message.carried.view.raise(location.index, message.place);
  const Place place = message.place;
  messages.insert(messages.begin() + position + 1, std::move(message));
  set_hash(location);
  if (is_strong(order)) raise_strong(location, place);
}

void Memory::fence(Mind& mind, Order order) {
  if (acquires(order)) mind.now.join(mind.acquirable);
  if (is_strong(order)) {
    for (Location& location : locations_) {
      mind.now.view.raise(location.index, location.strong);
      raise_strong(location, mind.now.view[location.index]);
    }
  }
  if (releases(order)) mind.released = mind.now;
}

void Memory::set_hash(Location& location) noexcept {
  hash_ -= location.hash;
  Hash hash = location.name_hash;
  for (const Message& message : location.order) hash = mix(hash, message.hash);
  location.hash = hash;
  hash_ += hash;
}

void Memory::raise_strong(Location& location, Place place) noexcept {
  if (place <= location.strong) return;
  location.strong = place;
  const auto message = std::find_if(location.order.begin(), location.order.end(),
                                    [place](const Message& one) { return one.place >= place; });
  strong_hash_ -= location.strong_hash;
  location.strong_hash = mix(location.name_hash, message->hash);
  strong_hash_ += location.strong_hash;
}

}  // namespace rouse::model
