// Models of a LocalExecutor, whose tasks belong to one thread: what other threads want of them is
// posted to its inbox, against its running, sleeping and ending.
#include "rouse/exec/local_executor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/core/atomic_waker.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "tasks.hpp"

namespace rouse::model {
namespace {

/// Set once by another thread. That it is seen after the wake is the executor's business.
class Flag {
 public:
  void set() {
    is_set_.store(true, memory_order_relaxed);
    waker_.wake();
  }
  Poll<void> poll(Context& cx) {
    waker_.register_waker(cx.waker());
    return is_set_.load(memory_order_relaxed) ? Poll<void>::ready() : pending;
  }

 private:
  AtomicWaker waker_;
  atomic<bool> is_set_{false};
};

/// Gives a number once the flag is set.
class WhenSet {
 public:
  using Output = Number;
  explicit WhenSet(Flag& flag) noexcept : flag_(flag) {}
  WhenSet(WhenSet&& other) noexcept : flag_(other.flag_) {}
  WhenSet& operator=(WhenSet&&) = delete;
  Poll<Number> poll(Context& cx) {
    polls_.write() += 1;
    if (flag_.poll(cx).is_pending()) return pending;
    return Poll<Number>::ready(42);
  }

 private:
  Flag& flag_;
  Cell<int> polls_{0};
};
static_assert(Future<WhenSet>);

class AtOnce {
 public:
  using Output = Number;
  AtOnce() noexcept {}
  Poll<Number> poll(Context&) { return Poll<Number>::ready(42); }
};

TEST(LocalExecutorModel, AWakeFromAnotherThreadIsNotLost) {
  check([] {
    Flag flag;
    LocalExecutor executor;
    Thread other([&] { flag.set(); });
    ensure(executor.run_until(WhenSet(flag)).value() == 42);
    other.join();
  });
}

TEST(LocalExecutorModel, AnotherThreadTakesTheResult) {
  check([] {
    LocalExecutor executor;
    JoinHandle<Number> handle = executor.spawn(AtOnce());
    Thread other([&] {
      if (handle.is_finished()) ensure(block_on(handle).value() == 42);
      handle.detach();
    });
    executor.run();
    other.join();
  });
}

TEST(LocalExecutorModel, AnotherThreadAwaitsTheResult) {
  check([] {
    std::optional<LocalExecutor> executor(std::in_place);
    JoinHandle<Number> handle = executor->spawn(AtOnce());
    Thread other([&] { ensure(block_on(handle).value() == 42); });
    executor->run();
    executor.reset();
    other.join();
  });
}

TEST(LocalExecutorModel, AnotherThreadAborts) {
  check([] {
    Flag never;
    LocalExecutor executor;
    JoinHandle<Number> handle = executor.spawn(WhenSet(never));
    Thread other([&] {
      handle.abort();
      handle.detach();
    });
    executor.run();
    other.join();
    never.set();
  });
}

TEST(LocalExecutorModel, AnotherThreadSpawns) {
  check([] {
    std::optional<LocalExecutor> executor(std::in_place);
    std::optional<Number> result;
    Thread other([&result, spawner = executor->spawner()] {
      try {
        result.emplace(block_on(spawner.spawn(AtOnce())));
      } catch (const JoinError&) {
      }
    });
    executor->run();
    executor.reset();
    other.join();
    ensure(!result || result->value() == 42);
  });
}

TEST(LocalExecutorModel, AWakerIsUsedWhileTheExecutorEnds) {
  check([] {
    Flag flag;
    std::optional<LocalExecutor> executor(std::in_place);
    executor->spawn(WhenSet(flag)).detach();
    executor->run_until(AtOnce());
    Thread other([&] { flag.set(); });
    executor.reset();
    other.join();
  });
}

// More posts than the executor takes at one look at its inbox: in models it takes two.

/// Three tasks and what they wait for.
class Three {
 public:
  explicit Three(LocalExecutor& executor) {
    for (std::size_t i = 0; i < 3; ++i) handles_[i] = executor.spawn(WhenSet(flags_[i]));
  }
  void set_all() {
    for (Flag& flag : flags_) flag.set();
  }
  void abort_all() {
    for (auto& handle : handles_) handle->abort();
  }
  void detach_all() {
    for (auto& handle : handles_) handle->detach();
  }
  [[nodiscard]] bool have_ended() const {
    return std::all_of(handles_.begin(), handles_.end(),
                       [](const auto& handle) { return handle->is_finished(); });
  }

 private:
  std::array<Flag, 3> flags_;
  std::array<std::optional<JoinHandle<Number>>, 3> handles_;
};

TEST(LocalExecutorModel, OfMoreWakesThanOneLookTakesNoneIsLost) {
  check([] {
    LocalExecutor executor;
    Three tasks(executor);
    executor.run_until(AtOnce());  // now they wait
    Thread other([&] { tasks.set_all(); });
    executor.run();
    ensure(tasks.have_ended());
    other.join();
  });
}

TEST(LocalExecutorModel, OfMorePostsThanOneLookTakesNoneIsLost) {
  check([] {
    LocalExecutor executor;
    Three tasks(executor);
    executor.run_until(AtOnce());
    Thread other([&] {
      tasks.abort_all();
      tasks.detach_all();
    });
    executor.run();
    other.join();
    tasks.set_all();  // their wakers are still there
  });
}

TEST(LocalExecutorModel, MoreWakesThanOneLookTakesWhileTheExecutorEnds) {
  check([] {
    std::optional<LocalExecutor> executor(std::in_place);
    Three tasks(*executor);
    executor->run_until(AtOnce());
    Thread other([&] { tasks.set_all(); });
    executor.reset();
    ensure(tasks.have_ended());
    other.join();
  });
}

TEST(LocalExecutorModel, MoreSpawnsThanOneLookTakesAreRunOrCancelled) {
  check([] {
    std::optional<LocalExecutor> executor(std::in_place);
    std::array<std::optional<JoinHandle<Number>>, 3> handles;
    Thread other([&handles, spawner = executor->spawner()] {
      for (auto& handle : handles) handle.emplace(spawner.spawn(AtOnce()));
    });
    executor->run();
    executor.reset();
    other.join();
    for (auto& handle : handles) ensure(handle->is_finished());
  });
}

TEST(LocalExecutorModel, AHandleIsDroppedWhileTheExecutorEnds) {
  check([] {
    std::optional<LocalExecutor> executor(std::in_place);
    JoinHandle<Number> handle = executor->spawn(AtOnce());
    executor->run();
    Thread other([&] { handle.detach(); });
    executor.reset();
    other.join();
  });
}

}  // namespace
}  // namespace rouse::model
