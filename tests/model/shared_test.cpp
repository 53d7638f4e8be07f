// Models of Shared: copies on several threads poll one future, one of them at a time, and no wake
// of it is lost.
#include "rouse/future/shared.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/oneshot.hpp"

#include "model/waiting.hpp"

namespace rouse::model {

using namespace internal;
namespace {

using Receiver = sync::OneshotReceiver<int>;

TEST(SharedModel, TwoCopiesAreBothWoken) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<int>();
        Shared first = shared(std::move(rx));
        Shared second = first;
        Thread other([&] { ensure(block_on(second) == 1); });
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(1); });
        ensure(block_on(first) == 1);
        other.join();
        sender.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

/// Wakes itself in its first poll; its state is nobody else's meanwhile.
class TwoPolls {
 public:
  using Output = int;
  TwoPolls() = default;
  TwoPolls(TwoPolls&& other) noexcept : polls_(other.polls_.read()) {}
  Poll<int> poll(Context& cx) {
    if (++polls_.write() == 2) return Poll<int>::ready(2);
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  Cell<int> polls_{0};
};

TEST(SharedModel, AWakeDuringAPollReachesWhoCameMeanwhile) {
  check(
      [] {
        std::optional first(shared(TwoPolls()));
        Shared second = *first;
        Thread other([&] { ensure(block_on(second) == 2); });
        (void)is_ready(*first);  // polled once, then dropped: the other has to go on
        first.reset();
        other.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(SharedModel, TheLastCopyDropsTheFutureWhileItIsWoken) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<int>();
        std::optional first(shared(std::move(rx)));
        std::optional second(*first);
        let_wait(*first);
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(1); });
        Thread other([&] { second.reset(); });
        first.reset();
        sender.join();
        other.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

}  // namespace
}  // namespace rouse::model
