// RingLink and RingHead: a list whose elements are links of a ring, and so is its head. It
// allocates nothing, and an element leaves from the middle without knowing its list. Those who wait
// for something are in one: for a primitive of sync, for a timer, for a descriptor.
//
// Not for what must be movable with its elements (FuturesUnordered), nor for what needs but one
// link an element (TaskList).
#pragma once

#include <cstddef>
#include <utility>

namespace rouse::internal {

class RingLink {
 public:
  /// Linked nowhere: to be inserted first.
  RingLink() noexcept {}
  RingLink(const RingLink&) = delete;
  RingLink& operator=(const RingLink&) = delete;

  void insert_before(RingLink& next) noexcept {
    next_ = &next;
    prev_ = std::exchange(next.prev_, this);
    prev_->next_ = this;
  }
  /// Its neighbours can still be asked for.
  void unlink() noexcept {
    prev_->next_ = next_;
    next_->prev_ = prev_;
  }

  [[nodiscard]] RingLink* prev() const noexcept { return prev_; }
  [[nodiscard]] RingLink* next() const noexcept { return next_; }

 protected:
  ~RingLink() = default;

 private:
  friend class RingHead;
  explicit constexpr RingLink(std::nullptr_t) noexcept : prev_(this), next_(this) {}

  RingLink* prev_;
  RingLink* next_;
};

/// The list: its first element is `next`, its last `prev`.
class RingHead : public RingLink {
 public:
  constexpr RingHead() noexcept : RingLink(nullptr) {}

  [[nodiscard]] bool empty() const noexcept { return next_ == this; }

  /// Moves all elements to the end of `other`.
  void move_to(RingHead& other) noexcept {
    if (empty()) return;
    next_->prev_ = other.prev_;
    prev_->next_ = &other;
    other.prev_->next_ = next_;
    other.prev_ = prev_;
    prev_ = next_ = this;
  }
};

}  // namespace rouse::internal
