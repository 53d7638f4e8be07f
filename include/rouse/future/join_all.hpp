// join_all(range): runs all futures of a range and is ready with the vector of their outputs, in
// the order of the range, when the last one is. For void futures its output is void.
//
// Only woken children are polled (future/internal/woken_set.hpp): with many children a wake costs
// O(1). A child is destroyed when it is done. If children throw, join_all still waits for the
// others and then throws the first exception. Two blocks of memory, allocated when it is called:
// the set and the array of children. It may be moved at any time.
// Cancel safety: dropping it drops all children, and the outputs of those that are done.
#pragma once

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/future.hpp"
#include "rouse/future/internal/child.hpp"
#include "rouse/future/internal/range.hpp"
#include "rouse/future/internal/woken_set.hpp"

namespace rouse {

namespace internal {

/// The memory that join_all shares with its children's wakers. The owner alone owns the children in
/// it, and destroys them (`end`) before it drops its reference.
template <Future F>
class JoinAllSet : public internal::WokenSet, public RefCounted<JoinAllSet<F>> {
 public:
  /// A child, and what its waker refers to.
  class Slot : public internal::WokenNode {
   public:
    Slot(JoinAllSet& set, F&& future) : child(std::move(future)), set_(set) {}

    // For the child's wakers: they hold the whole set.
    /// For the child's wakers: they hold the whole set.
    void add_ref() const noexcept { set_.add_ref(); }
    /// As add_ref, the other way round.
    void release() const noexcept { set_.release(); }
    /// What its waker calls.
    void wake() { set_.WokenSet::wake(*this); }

    /// For a dump: see base/shape.hpp.
    ROUSE_SHAPE(Slot, nullptr, one, &Slot::child)

    internal::Child<F> child;

   private:
    JoinAllSet& set_;
  };
  static_assert(alignof(Slot) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "join_all of an over-aligned future");

  explicit JoinAllSet(std::size_t capacity) : capacity_(capacity) {
    if (capacity > 0)
      slots_ = static_cast<Slot*>(internal::allocate_block(capacity * sizeof(Slot)));
  }
  // The slots are not destroyed: their children are gone, the rest is trivial.
  ~JoinAllSet() {
    if (slots_) internal::free_block(slots_, capacity_ * sizeof(Slot));
  }

  /// Takes a child.
  void add(F&& future) {
    ROUSE_ASSERT(size_ < capacity_, "join_all: the range has more elements than its size() says");
    this->append(*internal::construct(slots_ + size_, *this, std::move(future)));
    ++size_;
  }

  std::size_t size() const noexcept { return size_; }
  Slot& operator[](std::size_t index) noexcept { return slots_[index]; }

  bool borrows() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (slots_[i].child.borrows()) return true;
    }
    return false;
  }

  /// Destroys the children. Remaining wakers find the set closed.
  void end() noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      internal::destroy(&slots_[i].child);
      this->retire(slots_[i]);
    }
    static_cast<void>(this->close([](internal::WokenNode&) {}));
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE_OF(JoinAllSet, nullptr, array, sizeof(Slot), &JoinAllSet::slots_, &JoinAllSet::size_)

 private:
  Slot* slots_ = nullptr;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

template <Future F>
inline constexpr sight::Shape shape_of<RefPtr<JoinAllSet<F>>> = shape_of<JoinAllSet<F>*>;

}  // namespace internal

template <Future F>
class [[nodiscard("a future does nothing until it is polled: co_await it or spawn it")]] JoinAll {
  using T = output_t<F>;
  using Set = internal::JoinAllSet<F>;
  using Slot = typename Set::Slot;

 public:
  using Output = std::conditional_t<std::is_void_v<T>, void, std::vector<stored_t<T>>>;

  /// Created by `join_all`, for `count` futures that are then added.
  explicit JoinAll(std::size_t count) : set_(make_ref<Set>(count)) {}
  JoinAll(JoinAll&& other) noexcept = default;
  ~JoinAll() { end(); }

  /// Before the first poll.
  void add(F&& future) {
    set_->add(std::move(future));
    ++running_;
  }

  Poll<Output> poll(Context& cx) {
    ROUSE_ASSERT(set_, "join_all(...) was polled again after it was ready, or after it was moved");
    set_->begin_poll(cx.waker());
    while (internal::WokenNode* woken = set_->next(cx)) poll_child(static_cast<Slot&>(*woken), cx);
    if (running_ > 0) return pending;
    if (first_error_) {
      end();
      std::rethrow_exception(std::exchange(first_error_, nullptr));
    }
    return finish();
  }

  /// Whether a child borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return set_ && set_->borrows(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(JoinAll, "join_all", all_of, &JoinAll::set_)

 private:
  void poll_child(Slot& slot, Context& cx) {
    if (slot.child.is_done()) return retire(slot);  // woken before it was retired
    const internal::BorrowedWaker child_waker(
        RawWaker(&slot, &internal::SharedWaker<Slot>::vtable));
    Context child_cx(child_waker.get(), cx);
    if (!slot.child.poll(child_cx)) return;
    --running_;
    retire(slot);
    if (slot.child.has_failed() && !first_error_) first_error_ = slot.child.error();
  }

  /// Late wakes of a completed child wake nobody.
  void retire(Slot& slot) noexcept { set_->retire(slot); }

  Poll<Output> finish() {
    if constexpr (std::is_void_v<Output>) {
      end();
      return Poll<void>::ready();
    } else {
      Output outputs;
      outputs.reserve(set_->size());
      for (std::size_t i = 0; i < set_->size(); ++i) {
        outputs.push_back(std::move((*set_)[i].child.output()));
      }
      end();
      return Poll<Output>::ready(std::move(outputs));
    }
  }

  void end() noexcept {
    if (set_) set_->end();
    set_ = nullptr;
  }

  RefPtr<Set> set_;
  std::size_t running_ = 0;
  std::exception_ptr first_error_;
};

/// A container passed as an rvalue is moved from; otherwise the elements are copied, or moved if
/// they are prvalues.
template <class Range>
auto join_all(Range&& range) {
  if constexpr (internal::can_keep_range<Range>()) {
    using F = std::remove_cvref_t<internal::element_t<Range>>;
    using Given = internal::given_t<Range>;
    if constexpr (requires { std::size(range); }) {
      JoinAll<F> all(static_cast<std::size_t>(std::size(range)));
      for (auto&& future : range) all.add(F(static_cast<Given>(future)));
      return all;
    } else {
      std::vector<F> counted;
      for (auto&& future : range) counted.push_back(static_cast<Given>(future));
      return join_all(std::move(counted));
    }
  }
}

}  // namespace rouse
