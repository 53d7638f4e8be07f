// Models of WakeSample: whoever takes a sampled task from a queue gets the moment of that very
// wake, also if a thief takes it while its worker stops sampling and begins anew.
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/model/model.hpp"

#include "exec/pool/local_queue.hpp"
#include "exec/task/worker_watch.hpp"

namespace rouse::model {

using namespace internal;
namespace {

/// A task that was woken twice, the second time after it was polled: only its address counts.
class Woken {
 public:
  TaskHeader& task() { return reinterpret_cast<TaskHeader&>(place_); }

 private:
  alignas(64) char place_[64] = {};
};

TEST(WakeSampleModel, AThiefKnowsOfWhichWakeASampleIs) {
  check([] {
    Woken first;
    Woken second;
    LocalQueue queue(2);
    WakeSample sample;
    Thread thief([&] {
      std::array<TaskHeader*, 2> stolen{};
      const std::size_t count = queue.steal(stolen.data(), stolen.size());
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t woken_at = 0;
        if (!sample.stole(*stolen[i], woken_at)) continue;
        ensure(woken_at == (stolen[i] == &first.task() ? 1U : 2U), "of another wake");
      }
    });
    sample.keep(first.task(), 1);
    ensure(queue.push(first.task()));
    sample.clear();  // watching is over, and begins anew
    sample.keep(second.task(), 2);
    ensure(queue.push(second.task()));
    thief.join();
  });
}

TEST(WakeSampleModel, ATaskThatComesBackDoesNotFindItsSampleOfBefore) {
  check([] {
    Woken one;
    LocalQueue queue(2);
    WakeSample sample;
    atomic<bool> is_stolen{false};
    Thread thief([&] {
      std::array<TaskHeader*, 1> stolen{};
      if (queue.steal(stolen.data(), 1) == 0) return;
      std::uint64_t woken_at = 0;
      if (sample.stole(one.task(), woken_at)) ensure(woken_at == 1);
      // It polls the task, which is woken on the worker again. ORDER: release; as that wake.
      is_stolen.store(true, memory_order_release);
    });
    sample.keep(one.task(), 1);
    ensure(queue.push(one.task()));
    // ORDER: acquire; as the poll before that wake.
    if (is_stolen.load(memory_order_acquire)) {
      std::uint64_t woken_at = 0;
      ensure(!sample.took(one.task(), woken_at), "the sample of the wake before");
    }
    thief.join();
  });
}

}  // namespace
}  // namespace rouse::model
