// DelayQueue<T>: values that come out when their time has come. For caches and retries: many
// deadlines, and one task that waits for the next.
//
//   DelayQueue<std::string> sessions;
//   const auto key = sessions.insert(token, 30min);
//   sessions.reset(key, 30min);                            // used: 30 more minutes from now
//   while (auto expired = co_await sessions.next()) forget(*expired);
//
// Insert, remove and reset are O(1). Values come out in the order of their deadlines, rounded to
// ticks (1 ms), and within a tick in the order of insertion.
// Threads: one task at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/internal/stable_vector.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/internal/timer_entry.hpp"

namespace rouse {

namespace internal {

class TimerWheel;

/// The part of a DelayQueue that does not depend on T: which node is due next.
class ROUSE_API DelayCore {
 public:
  DelayCore();
  DelayCore(DelayCore&& other) noexcept;
  ~DelayCore();

  /// Puts an entry among the timers.
  void insert(WheelNode& node);
  /// Takes it out.
  void remove(WheelNode& node) noexcept;
  /// The next node that will be due; null if there are none.
  [[nodiscard]] WheelNode* peek() noexcept;
  /// Wakes a waiter if there is nothing left to wait for.
  void tell_if_empty();
  /// Removes and returns the next node that is due. Null: there are none.
  Poll<WheelNode*> poll(Context& cx);
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DelayCore, nullptr, one, &DelayCore::timer_)

 private:
  Box<TimerWheel> wheel_;
  TimerEntry timer_;  // of the node that is due next, while somebody waits
};

}  // namespace internal

/// Identifies a value in a DelayQueue, as long as it is in there.
class DelayKey {
 public:
  /// Identifies none.
  constexpr DelayKey() noexcept = default;
  constexpr DelayKey(std::uint32_t index, std::uint32_t use) noexcept : index_(index), use_(use) {}
  friend constexpr bool operator==(const DelayKey&, const DelayKey&) noexcept = default;

  /// Which place of the queue. For the queue.
  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return index_; }
  /// Which value of that place. For the queue.
  [[nodiscard]] constexpr std::uint32_t use() const noexcept { return use_; }

 private:
  std::uint32_t index_ = 0;
  std::uint32_t use_ = 0;
};

/// May be moved until its first poll.
template <class T>
class DelayQueue {
  static_assert(!std::is_reference_v<T>, "DelayQueue<T&>: use a pointer");

 public:
  using Item = T;

  DelayQueue() = default;
  DelayQueue(DelayQueue&& other) noexcept
      : core_(std::move(other.core_)),
        entries_(std::move(other.entries_)),
        unused_(std::move(other.unused_)),
        size_(std::exchange(other.size_, 0)) {}

  /// The value comes out after this time; at once if that is zero or less. Updates a pending
  /// `next`.
  template <class Rep, class Period>
  DelayKey insert(T value, std::chrono::duration<Rep, Period> delay) {
    return insert_at(std::move(value), time::add(time::now(), internal::saturate(delay)));
  }
  /// As `insert`, at a time.
  DelayKey insert_at(T value, time::Instant deadline) {
    Entry& entry = unused();
    try {
      entry.value.emplace(std::move(value));
    } catch (...) {
      unused_.push_back(entry.index);
      throw;
    }
    entry.deadline = deadline;
    core_.insert(entry);
    ++size_;
    return DelayKey(entry.index, entry.use);
  }

  /// Removes and returns the value; an empty optional if it is not in the queue. Updates a pending
  /// `next`: it learns if the queue is now empty.
  std::optional<T> remove(DelayKey key) {
    Entry* entry = find(key);
    if (entry == nullptr) return std::nullopt;
    core_.remove(*entry);
    core_.tell_if_empty();
    return take(*entry);
  }
  /// The value comes out after this time, counted from now. False: it is not in the queue.
  template <class Rep, class Period>
  bool reset(DelayKey key, std::chrono::duration<Rep, Period> delay) {
    return reset_at(key, time::add(time::now(), internal::saturate(delay)));
  }
  /// As `reset`, at a time.
  bool reset_at(DelayKey key, time::Instant deadline) {
    Entry* entry = find(key);
    if (entry == nullptr) return false;
    core_.remove(*entry);
    entry->deadline = deadline;
    core_.insert(*entry);
    return true;
  }

  /// The value of this key; null if it is not in the queue.
  [[nodiscard]] T* get(DelayKey key) noexcept {
    Entry* entry = find(key);
    return entry ? &*entry->value : nullptr;
  }
  /// When it comes out; an empty optional if it is not in the queue.
  [[nodiscard]] std::optional<time::Instant> deadline(DelayKey key) noexcept {
    const Entry* entry = find(key);
    return entry ? std::optional(entry->deadline) : std::nullopt;
  }
  /// Which value comes out next, if nothing is inserted or reset before; an empty optional if the
  /// queue is empty. O(1) if that is within 64 ticks; else it looks through some of the values.
  [[nodiscard]] std::optional<DelayKey> peek() noexcept {
    const auto* next = static_cast<Entry*>(core_.peek());
    return next ? std::optional(DelayKey(next->index, next->use)) : std::nullopt;
  }
  /// Removes and destroys all values. A pending `next` learns that the queue is empty.
  void clear() {
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      if (!entry.value) continue;
      core_.remove(entry);
      const Emptied emptied(*this, entry);
    }
    core_.tell_if_empty();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Completes with the next value that is due, or with an empty optional if the queue is empty.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Next<DelayQueue> next() noexcept { return Next<DelayQueue>(*this); }
  /// As a stream: an empty optional when the queue is empty. It may be polled again after that.
  Poll<std::optional<T>> poll_next(Context& cx) {
    Poll<internal::WheelNode*> due = core_.poll(cx);
    if (due.is_pending()) return pending;
    if (due.value() == nullptr) return Poll<std::optional<T>>::ready(std::nullopt);
    return Poll<std::optional<T>>::ready(take(static_cast<Entry&>(*due.value())));
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(DelayQueue, nullptr, one, &DelayQueue::core_)

 private:
  class Entry : public internal::WheelNode {
   public:
    explicit Entry(std::uint32_t at) noexcept : internal::WheelNode(time::Instant()), index(at) {}
    std::optional<T> value;
    const std::uint32_t index;
    std::uint32_t use = 1;  // changes when the value is removed, so that old keys do not match
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
  /// At its end the entry, which is not in the wheel any more, is unused.
  class Emptied {
   public:
    Emptied(DelayQueue& queue, Entry& entry) noexcept : queue_(queue), entry_(entry) {}
    Emptied(const Emptied&) = delete;
    Emptied& operator=(const Emptied&) = delete;
    ~Emptied() {
      ++entry_.use;
      --queue_.size_;
      entry_.value.reset();  // may call the queue: no value of this key is in it any more
      queue_.unused_.push_back(entry_.index);
    }

   private:
    DelayQueue& queue_;
    Entry& entry_;
  };
  std::optional<T> take(Entry& entry) {
    const Emptied emptied(*this, entry);  // also if the move throws
    return std::move(entry.value);
  }

  internal::DelayCore core_;
  internal::StableVector<Entry> entries_;
  std::vector<std::uint32_t> unused_;
  std::size_t size_ = 0;
};

}  // namespace rouse
