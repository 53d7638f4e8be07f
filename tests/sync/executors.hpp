// The same tests on every executor: under block_on (each task on a thread of its own), on a
// LocalExecutor, on a ThreadPool, and on a StaticExecutor for what allocates nothing.
//
//   template <class Executor>
//   class NotifyOn : public OnExecutor<Executor> {};
//   TYPED_TEST_SUITE(NotifyOn, AllExecutors, ExecutorNames);
//
//   TYPED_TEST(NotifyOn, WakesTheOneWhoWaits) {
//     sync::Notify notify;
//     this->executor.spawn(wait_for(notify));           // any future; its output is dropped
//     this->executor.run(notify_from_a_task(notify));   // the output; all spawned have ended, too
//   }
//
// Futures may borrow what lives until `run` returns. `spawn` also works inside tasks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/embedded/static_executor.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/thread_pool.hpp"

namespace rouse::test {

using namespace internal;

/// A list that tasks may append to while it is emptied.
template <class T>
class Pile {
 public:
  void add(T entry) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  std::optional<T> take() {
    const std::scoped_lock lock(mutex_);
    if (entries_.empty()) return std::nullopt;
    std::optional<T> entry(std::move(entries_.front()));
    entries_.pop_front();
    return entry;
  }

 private:
  std::mutex mutex_;
  std::deque<T> entries_;
};

/// Every task on a thread of its own, none on an executor.
class UnderBlockOn {
 public:
  static constexpr const char* name = "BlockOn";

  template <Future F>
  void spawn(F future) {
    threads_.add(std::thread([f = std::make_unique<F>(std::move(future))] { (void)block_on(*f); }));
  }
  template <Future F>
  output_t<F> run(F future) {
    const Joined joined(threads_);
    F ended_first(std::move(future));  // others may wait for what it holds
    return block_on(ended_first);
  }

 private:
  struct Joined {
    explicit Joined(Pile<std::thread>& pile) noexcept : threads(pile) {}
    ~Joined() {
      while (auto thread = threads.take()) thread->join();
    }
    Pile<std::thread>& threads;
  };
  Pile<std::thread> threads_;
};

class OnLocalExecutor {
 public:
  static constexpr const char* name = "LocalExecutor";

  template <Future F>
  void spawn(F future) {
    executor_.spawn(borrowed(std::move(future))).detach();
  }
  template <Future F>
  output_t<F> run(F future) {
    const RunToTheEnd rest(executor_);
    F ended_first(std::move(future));  // others may wait for what it holds
    return executor_.run_until(ended_first);
  }

 private:
  struct RunToTheEnd {
    explicit RunToTheEnd(LocalExecutor& executor) noexcept : all(executor) {}
    ~RunToTheEnd() { all.run(); }
    LocalExecutor& all;
  };
  LocalExecutor executor_;
};

class OnThreadPool {
 public:
  static constexpr const char* name = "ThreadPool";

  template <Future F>
  void spawn(F future) {
    handles_.add(pool_.spawn(Discarding<F>(std::move(future))));
  }
  template <Future F>
  output_t<F> run(F future) {
    const Joined joined(handles_);
    return block_on(pool_.spawn(borrowed(std::move(future))));
  }

 private:
  template <Future F>
  class Discarding {
   public:
    using Output = void;
    explicit Discarding(F future) : future_(std::move(future)) {}
    Poll<> poll(Context& cx) {
      return future_.poll(cx).is_ready() ? Poll<>::ready() : Poll<>(pending);
    }

   private:
    F future_;
  };
  struct Joined {
    explicit Joined(Pile<JoinHandle<>>& pile) noexcept : handles(pile) {}
    ~Joined() {
      while (auto handle = handles.take()) block_on(*handle);
    }
    Pile<JoinHandle<>>& handles;
  };
  static ThreadPoolOptions config() {
    ThreadPoolOptions made;
    made.workers = 3;
    return made;
  }

  Pile<JoinHandle<>> handles_;
  ThreadPool pool_{config()};
};

/// At most 64 tasks at a time. They live until the executor goes: it owns no future.
class OnStaticExecutor {
 public:
  static constexpr const char* name = "StaticExecutor";

  template <Future F>
  void spawn(F future) {
    (void)add(std::move(future));
  }
  template <Future F>
  output_t<F> run(F future) {
    Kept<F>& kept = add(std::move(future));
    executor_.run(wait_for_kick);
    return kept.outcome.take();
  }

 private:
  struct Owned {
    virtual ~Owned() = default;
  };
  template <Future F>
  struct Kept : Owned {
    using Output = void;
    explicit Kept(F kept) : future(std::move(kept)) {}
    Poll<> poll(Context& cx) {
      if (!poll_into(outcome, *future, cx)) return pending;
      future.reset();
      return Poll<>::ready();
    }
    std::optional<F> future;
    Outcome<output_t<F>> outcome;
  };

  template <Future F>
  Kept<F>& add(F future) {
    auto kept = std::make_unique<Kept<F>>(std::move(future));
    Kept<F>& added = *kept;
    owned_.add(std::move(kept));
    EXPECT_TRUE(executor_.spawn(added)) << "more than 64 tasks at a time";
    return added;
  }

  // Sleeps as firmware would, with a futex for the interrupt.
  static void kick() noexcept {
    kicks_.fetch_add(1);
    kicks_.notify_all();
  }
  static void wait_for_kick(const StaticExecutor<64>& executor) {
    const std::uint32_t seen = kicks_.load();
    if (!executor.needs_run()) kicks_.wait(seen);
  }
  static inline std::atomic<std::uint32_t> kicks_{0};

  StaticExecutor<64> executor_{kick};
  Pile<std::unique_ptr<Owned>> owned_;
};

using AllExecutors =
    ::testing::Types<UnderBlockOn, OnLocalExecutor, OnThreadPool, OnStaticExecutor>;
/// For what needs a heap.
using HostedExecutors = ::testing::Types<UnderBlockOn, OnLocalExecutor, OnThreadPool>;

struct ExecutorNames {
  template <class Executor>
  static std::string GetName(int) {
    return Executor::name;
  }
};

template <class Executor>
class OnExecutor : public ::testing::Test {
 protected:
  Executor executor;
};

}  // namespace rouse::test
