// Models of WokenSet: children that are woken by other threads, and the owner who polls what was
// woken. And of FuturesUnordered, which is made of it.
#include "rouse/future/internal/woken_set.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/oneshot.hpp"

#include "model/waiting.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// A parent of two children, which ends when each has seen its bits. What was published is relaxed:
/// that a child sees it in the poll after the wake is the set's business.
class Parent {
 public:
  using Output = void;
  Parent(int first_waits_for, int second_waits_for)
      : waits_for_{first_waits_for, second_waits_for} {
    for (WokenNode& child : children_) set_.append(child);
  }
  ~Parent() { close(); }

  void wake(int child, int bit) {
    published_[child].fetch_or(bit, memory_order_relaxed);
    ensure(set_.wake(children_[child]), "the set is open");
  }
  Poll<void> poll(Context& cx) {
    set_.begin_poll(cx.waker());
    while (WokenNode* const child = set_.next()) {
      const std::ptrdiff_t index = child - children_;
      const int seen = published_[index].load(memory_order_relaxed);
      if (seen != waits_for_[index] || done_[index]) continue;
      done_[index] = true;
      (void)set_.retire(children_[index]);
    }
    return done_[0] && done_[1] ? Poll<void>::ready() : Poll<void>(pending);
  }
  void close() {
    (void)set_.close([](WokenNode&) {});
  }

 private:
  WokenSet set_;
  WokenNode children_[2];
  atomic<int> published_[2] = {};
  const int waits_for_[2];
  bool done_[2] = {};
};

TEST(WokenSetModel, AWakeIsSeenByAPollOfItsChild) {
  check([] {
    Parent parent(1, 0);
    Thread other([&] { parent.wake(0, 1); });
    block_on(parent);
    other.join();
  });
}

TEST(WokenSetModel, TwoWakesOfOneChildAreBothSeen) {
  check([] {
    Parent parent(3, 0);
    Thread first([&] { parent.wake(0, 1); });
    Thread second([&] { parent.wake(0, 2); });
    block_on(parent);
    first.join();
    second.join();
  });
}

TEST(WokenSetModel, WakesOfTwoChildrenAreBothSeen) {
  check([] {
    Parent parent(1, 1);
    Thread first([&] { parent.wake(0, 1); });
    Thread second([&] { parent.wake(1, 1); });
    block_on(parent);
    first.join();
    second.join();
  });
}

TEST(WokenSetModel, AChildIsWokenAgainWhileItIsPolled) {
  check([] {
    Parent parent(3, 1);
    Thread other([&] {
      parent.wake(0, 1);
      parent.wake(1, 1);
      parent.wake(0, 2);
    });
    block_on(parent);
    other.join();
  });
}

/// A node that is freed by whoever has it last: the owner, or a wake that comes after the close.
struct Owned : WokenNode {
  Cell<int> future{0};
};

TEST(WokenSetModel, AWakeAgainstTheCloseLeavesTheChildToOneOfThem) {
  check([] {
    WokenSet set;
    auto* const child = new Owned;
    atomic<int> owners{1};
    set.append(*child);
    set.begin_poll(Waker::noop());
    ensure(set.next() == child);
    Thread waker([&] {
      if (!set.wake(*child)) {
        child->future.write() = -1;  // closed: nobody else knows it any more
        owners.fetch_sub(1, memory_order_relaxed);
        delete child;
      }
    });
    child->future.write() = 1;  // the owner destroys it
    const bool is_mine = set.retire(*child);
    int left = 0;
    (void)set.close([&](WokenNode&) { ++left; });
    ensure(!is_mine || left == 0, "who is not queued does not come out");
    waker.join();
    if (is_mine || left == 1) {
      owners.fetch_sub(1, memory_order_relaxed);
      delete child;
    }
    ensure(owners.load(memory_order_relaxed) == 0, "freed once");
  });
}

TEST(WokenSetModel, AChildThatWasRetiredIsNotQueuedAgain) {
  check([] {
    WokenSet set;
    WokenNode child;
    set.append(child);
    set.begin_poll(Waker::noop());
    ensure(set.next() == &child);
    Thread waker([&] { (void)set.wake(child); });
    const bool is_free = set.retire(child);
    waker.join();
    set.begin_poll(Waker::noop());
    ensure((set.next() == nullptr) == is_free, "once more, if it was queued before");
    ensure(set.next() == nullptr);
    (void)set.wake(child);
  });
}

TEST(FuturesUnorderedModel, EachOutputComesOnce) {
  check(
      [] {
        auto [first_tx, first_rx] = sync::oneshot<int>();
        auto [second_tx, second_rx] = sync::oneshot<int>();
        FuturesUnordered<sync::OneshotReceiver<int>> set;
        set.push(std::move(first_rx));
        set.push(std::move(second_rx));
        Thread first([to = std::move(first_tx)]() mutable { (void)to.send(1); });
        Thread second([to = std::move(second_tx)]() mutable { (void)to.send(2); });
        int sum = 0;
        for (int i = 0; i < 2; ++i) sum += **block_on(set.next());
        ensure(sum == 3);
        first.join();
        second.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(FuturesUnorderedModel, ASetThatGoesWhileItsChildIsWokenIsFreedOnce) {
  check([] {
    auto [tx, rx] = sync::oneshot<int>();
    std::optional<FuturesUnordered<sync::OneshotReceiver<int>>> set(std::in_place);
    set->push(std::move(rx));
    {
      auto next = set->next();
      let_wait(next);
    }
    Thread sender([to = std::move(tx)]() mutable { (void)to.send(1); });
    set.reset();
    sender.join();
  });
}

}  // namespace
}  // namespace rouse::model
