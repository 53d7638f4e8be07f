// Models of a fork region, whose children a thief takes: the thief makes a task of what it took,
// while the region's own chain runs, waits, is dropped, or fails.
#include "rouse/exec/internal/fork_region.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/internal/fork_deque.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "exec/task/current.hpp"
#include "tasks.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// Two workers without a pool: one polls a chain, the other steals from it once.
class Workers {
 public:
  Workers() {
    this_thread.scheduler = &scheduler_;
    this_thread.forks = &forks_;
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    this_thread.scheduler = nullptr;
    this_thread.forks = nullptr;
  }

  /// True: it is done.
  template <class F>
  bool poll(F& future, const Waker& waker = Waker::noop()) {
    Context cx(waker, Context::task_budget, &forks_);
    const bool ready = future.poll(cx).is_ready();
    cx.run_poll_ends();
    return ready;
  }
  /// The other one's thread: takes a child, if there is one, and runs it.
  void steal() {
    this_thread.scheduler = &scheduler_;
    if (Frame* const branch = forks_.steal()) promote_branch(*branch);
    scheduler_.run_mine();
  }
  /// What this thread has to run.
  void run() { scheduler_.run_mine(); }

 private:
  HandsOn scheduler_;
  ForkDeque forks_;
};

/// A child whose frame is seen to be used.
Async<int> child(int value) {
  Cell<int> mark{0};
  mark.write() = value;
  co_return mark.read();
}
/// Never opened.
struct Gate {
  Waker waker;
};
class AtGate {
 public:
  using Output = void;
  explicit AtGate(Gate& gate) noexcept : gate_(&gate) {}
  Poll<void> poll(Context& cx) {
    gate_->waker = cx.waker();
    return pending;
  }

 private:
  Gate* gate_;
};
Async<int> waits_for(Gate& gate) {
  co_await AtGate(gate);
  co_return 2;
}
Async<int> two_children() {
  auto [left, right] = co_await parallel(child(40), child(2));
  co_return left + right;
}

TEST(ForkRegionModel, AChildIsRunByTheChainOrTheThief) {
  check([] {
    Workers workers;
    Thread thief([&] { workers.steal(); });
    const RefPtr<ParkedThread> self = make_ref<ParkedThread>();
    const Waker waker = make_waker(self);
    {
      Async<int> chain = two_children();
      while (!workers.poll(chain, waker)) self->parker.park();
    }
    thief.join();
  });
}

TEST(ForkRegionModel, ARegionThatIsDroppedWaitsForAThiefThatHasTakenAChild) {
  check([] {
    Workers workers;
    Thread thief([&] { workers.steal(); });
    {
      Async<int> chain = two_children();
      (void)workers.poll(chain);
    }  // also if a child was taken a moment ago
    thief.join();
  });
}

/// One of them suspends the chain: now both are tasks, or about to be.
Async<int> one_that_waits(Gate& gate) {
  auto [left, right] = co_await parallel(child(40), waits_for(gate));
  co_return left + right;
}

TEST(ForkRegionModel, ARegionThatIsDroppedSuspendedIsNotTouchedByItsThief) {
  check([] {
    Workers workers;
    Thread thief([&] { workers.steal(); });
    {
      Gate gate;
      Async<int> chain = one_that_waits(gate);
      ensure(!workers.poll(chain), "nobody opens the gate");
    }
    thief.join();
    workers.run();
  });
}

}  // namespace
}  // namespace rouse::model
