// StreamMap<K, S>: streams under keys, which come and go, read as one stream of (key, item).
//
//   StreamMap<std::string, Channel> rooms;
//   rooms.insert("lobby", join("lobby"));
//   while (auto heard = co_await rooms.next()) say(heard->first, heard->second);
//
// A stream that has ended is removed. When the map is empty, `next` gives an empty optional; it may
// be called again once something was inserted. A poll starts after the stream that gave the last
// item and tries one after another, in order of insertion. So it is fair: a stream that is always
// ready does not starve the others. A poll, and finding a key, are linear in the number of streams.
// poll_next throws what a stream throws; that stream stays, and all continue. An insert while
// somebody waits wakes them. The map may be moved at any time.
// Cancel safety: dropping `next()` loses nothing; dropping the map drops all streams.
// Threads: one task at a time changes and polls it, and not inside of a stream's poll.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/internal/box.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/stream/internal/source.hpp"

namespace rouse::stream {

template <class K, Stream S>
class [[nodiscard]] StreamMap {
 public:
  using Item = std::pair<K, item_t<S>>;

  StreamMap() noexcept = default;

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// Whether there is a stream under this key.
  [[nodiscard]] bool contains(const K& key) const { return find(key) != size(); }

  /// False: there already was a stream under this key; it is dropped, and the new one comes last.
  bool insert(K key, S stream) {
    auto entry = internal::make_box<Entry>(std::move(key), std::move(stream));
    const bool is_new = !remove(entry->key);
    entries_.push_back(std::move(entry));
    if (Waker waiter = std::exchange(waiter_, Waker())) std::move(waiter).wake();
    return is_new;
  }

  /// Drops the stream under this key. False: there is none.
  bool remove(const K& key) {
    const std::size_t index = find(key);
    if (index == size()) return false;
    drop(index);
    return true;
  }

  /// The next item with the key of its stream, or an empty optional if the map is empty.
  [[nodiscard]] Next<StreamMap> next() noexcept { return Next<StreamMap>(*this); }

  PollNext<Item> poll_next(Context& cx) {
    keep_waker(waiter_, cx);  // first: a stream's destructor may insert another
    const std::size_t start = turn_;
    std::size_t index = start;
    for (std::size_t left = size(); left > 0 && !empty(); --left) {
      if (index >= size()) index = 0;
      turn_ = index + 1;
      Entry& entry = *entries_[index];
      auto polled = entry.stream.poll_next(cx);
      if (internal::has_item(polled))
        return PollNext<Item>::ready(Item(entry.key, internal::take_item(polled)));
      if (polled.is_ready()) {
        drop(index);
      } else {
        ++index;
      }
    }
    turn_ = start;
    if (empty()) return PollNext<Item>::ready(std::nullopt);
    return pending;
  }

  /// Whether one of the streams borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept {
    for (const auto& entry : entries_) {
      if (internal::future_borrows(entry->stream)) return true;
    }
    return false;
  }

 private:
  /// The streams stay in place when the map moves or grows.
  struct Entry {
    Entry(K&& its_key, S&& its_stream) : key(std::move(its_key)), stream(std::move(its_stream)) {}
    K key;
    S stream;
  };

  std::size_t find(const K& key) const {
    std::size_t index = 0;
    while (index < size() && !(entries_[index]->key == key)) ++index;
    return index;
  }

  /// The stream's destructor may use the map.
  void drop(std::size_t index) {
    const internal::Box<Entry> dropped = std::move(entries_[index]);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
    if (turn_ > index) --turn_;
  }

  std::vector<internal::Box<Entry>> entries_;
  std::size_t turn_ = 0;  // the stream to poll first
  Waker waiter_;
};

}  // namespace rouse::stream
