// DelayQueue<T>: values that come out when their time has come. What caches and retries need: many
// deadlines, one task that waits for the next.
//
//   DelayQueue<std::string> sessions;
//   const auto key = sessions.insert(token, 30min);
//   sessions.reset(key, 30min);                            // it was used: 30 minutes from now on
//   while (auto expired = co_await sessions.next()) forget(*expired);
//
// Insert, remove and reset are O(1). Values come out in the order of their deadlines, to a tick
// (1 ms), within a tick in the order they went in. Belongs to one task at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/core/stream.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/timer_entry.hpp"

namespace rouse {
namespace time {

class TimerWheel;

/// The part of a DelayQueue that does not depend on T: which node is due next.
class ROUSE_API DelayCore {
 public:
  DelayCore();
  DelayCore(DelayCore&& other) noexcept;
  ~DelayCore();

  void insert(WheelNode& node);
  void remove(WheelNode& node) noexcept;
  /// Whoever waits is woken if there is nothing left to wait for.
  void tell_if_empty();
  /// The next one that is due, which is in here no more. Null: there are none.
  Poll<WheelNode*> poll(Context& cx);

 private:
  std::unique_ptr<TimerWheel> wheel_;
  TimerEntry timer_;  // for the node that is due next, while somebody waits
};

}  // namespace time

/// Names a value in a DelayQueue, as long as it is in there.
class DelayKey {
 public:
  /// Names none.
  constexpr DelayKey() noexcept = default;
  constexpr DelayKey(std::uint32_t index, std::uint32_t use) noexcept : index_(index), use_(use) {}
  friend constexpr bool operator==(const DelayKey&, const DelayKey&) noexcept = default;

  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] constexpr std::uint32_t use() const noexcept { return use_; }

 private:
  std::uint32_t index_ = 0;
  std::uint32_t use_ = 0;
};

/// May be moved until it was polled first.
template <class T>
class DelayQueue {
  static_assert(!std::is_reference_v<T>, "DelayQueue<T&>: use a pointer");

 public:
  using Item = T;

  DelayQueue() = default;
  DelayQueue(DelayQueue&&) noexcept = default;

  /// Comes out when so much time has passed; if that is zero or less, at once. Whoever waits in
  /// `next` learns of it.
  template <class Rep, class Period>
  DelayKey insert(T value, std::chrono::duration<Rep, Period> delay) {
    return insert_at(std::move(value), time::add(time::now(), time::saturate(delay)));
  }
  DelayKey insert_at(T value, time::Instant deadline) {
    Entry& entry = unused();
    entry.value.emplace(std::move(value));
    entry.deadline = deadline;
    core_.insert(entry);
    ++size_;
    return DelayKey(entry.index, entry.use);
  }

  /// The value, which does not come out any more; nothing if it is not in here. Whoever waits in
  /// `next` learns that the queue is empty.
  std::optional<T> remove(DelayKey key) {
    Entry* entry = find(key);
    if (entry == nullptr) return std::nullopt;
    core_.remove(*entry);
    core_.tell_if_empty();
    return take(*entry);
  }
  /// Comes out when so much time has passed from now on. False: it is not in here.
  template <class Rep, class Period>
  bool reset(DelayKey key, std::chrono::duration<Rep, Period> delay) {
    return reset_at(key, time::add(time::now(), time::saturate(delay)));
  }
  bool reset_at(DelayKey key, time::Instant deadline) {
    Entry* entry = find(key);
    if (entry == nullptr) return false;
    core_.remove(*entry);
    entry->deadline = deadline;
    core_.insert(*entry);
    return true;
  }

  /// The value of that key; null if it is not in here.
  [[nodiscard]] T* get(DelayKey key) noexcept {
    Entry* entry = find(key);
    return entry ? &*entry->value : nullptr;
  }
  /// When it comes out; nothing if it is not in here.
  [[nodiscard]] std::optional<time::Instant> deadline(DelayKey key) noexcept {
    const Entry* entry = find(key);
    return entry ? std::optional(entry->deadline) : std::nullopt;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }

  [[nodiscard]] Next<DelayQueue> next() noexcept { return Next<DelayQueue>(*this); }
  /// As a stream: without a value when the queue is empty. It may be polled again after that.
  Poll<std::optional<T>> poll_next(Context& cx) {
    Poll<time::WheelNode*> due = core_.poll(cx);
    if (due.is_pending()) return pending;
    if (due.value() == nullptr) return Poll<std::optional<T>>::ready(std::nullopt);
    return Poll<std::optional<T>>::ready(take(static_cast<Entry&>(*due.value())));
  }

 private:
  class Entry : public time::WheelNode {
   public:
    explicit Entry(std::uint32_t at) noexcept : WheelNode(time::Instant()), index(at) {}
    std::optional<T> value;
    const std::uint32_t index;
    std::uint32_t use = 1;  // changes when the value goes: keys of values before do not fit
  };

  Entry& unused() {
    if (unused_.empty()) {
      // So that `take` need not allocate.
      if (unused_.capacity() <= entries_.size()) unused_.reserve(2 * entries_.size() + 1);
      return entries_.emplace_back(static_cast<std::uint32_t>(entries_.size()));
    }
    Entry& entry = entries_[unused_.back()];
    unused_.pop_back();
    return entry;
  }
  Entry* find(DelayKey key) noexcept {
    if (key.index() >= entries_.size()) return nullptr;
    Entry& entry = entries_[key.index()];
    return entry.value && entry.use == key.use() ? &entry : nullptr;
  }
  std::optional<T> take(Entry& entry) {
    std::optional<T> value = std::move(entry.value);
    entry.value.reset();
    ++entry.use;
    unused_.push_back(entry.index);
    --size_;
    return value;
  }

  time::DelayCore core_;
  std::deque<Entry> entries_;  // stay where they are
  std::vector<std::uint32_t> unused_;
  std::size_t size_ = 0;
};

}  // namespace rouse
