// Everything is recorded while it happens, recordings begin and end, threads come and go, and two
// threads write traces in a loop: each is well formed, and all tasks end.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/span.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/time/sleep.hpp"

#include "sight/traced.hpp"
#include "support/sanitizer.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::sanitized;
using rouse::test::Traced;

Async<int> half(int x) {
  co_await yield_now();
  sight::event("half", {{"x", x}});
  co_return x / 2;
}

Async<int> do_all(sync::Mutex<int>& mutex, int i) {
  auto aborted = spawn(pending_forever<void>());
  {
    auto guard = co_await mutex.lock();
    co_await yield_now();
    ++*guard;
  }
  const auto [a, b] = co_await parallel(half(i), half(2 * i));
  auto child = spawn(half, a);
  co_await sleep(10us);
  if (i % 8 == 0) block_in_place([] { std::this_thread::yield(); });
  const int c = co_await spawn_blocking([b] { return b; });
  aborted.abort();
  co_return c + co_await std::move(child);
}

/// Writes traces until it is destroyed.
class Tracers {
 public:
  Tracers() {
    for (std::thread& thread : threads_) {
      thread = std::thread([this] {
        do {
          const Traced traced = Traced::now();
          events_ += traced.events().size();
          ++traces_;
        } while (!is_over_.load());
      });
    }
  }
  Tracers(const Tracers&) = delete;
  Tracers& operator=(const Tracers&) = delete;
  ~Tracers() {
    is_over_.store(true);
    for (std::thread& thread : threads_) thread.join();
    EXPECT_GE(traces_.load(), 2U);
  }
  std::size_t events() const { return events_.load(); }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<std::size_t> traces_{0};
  std::atomic<std::size_t> events_{0};
  std::thread threads_[2];
};

/// Begins and ends recordings until it is destroyed.
class Recordings {
 public:
  Recordings()
      : thread_([this] {
          for (unsigned i = 0; !is_over_.load(); ++i) {
            const auto recording = sight::start(sight::Options().record(i % 3 == 0 ? 4096 : 16384));
            const auto beside = sight::start(sight::Options().record());
            std::this_thread::sleep_for(1ms);
          }
        }) {}
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;
  ~Recordings() {
    is_over_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

void run_all() {
  constexpr int count = sanitized ? 200 : 1000;
  Runtime rt = Runtime::builder().worker_threads(4).build();
  sync::Mutex<int> mutex(0);
  std::vector<JoinHandle<int>> tasks;
  for (int i = 0; i < count; ++i) {
    tasks.push_back(rt.spawn([&mutex, i]() -> Async<int> {
      auto all = do_all(mutex, i);
      co_return co_await sight::in_span("all", std::move(all), {{"i", i}});
    }));
    if (i % 10 != 0) continue;
    std::thread([] {
      LocalExecutor executor;
      executor.run_until(executor.spawn(half(1)));
    }).join();
  }
  int i = 0;
  for (JoinHandle<int>& task : tasks) {
    EXPECT_EQ(rt.block_on(std::move(task)), i + i / 2 / 2);
    ++i;
  }
  EXPECT_EQ(*mutex.try_lock().value(), count);
}

TEST(RecordStress, TracesAreWrittenWhileAllIsRecorded) {
  const auto recording = sight::start(sight::Options().record(16384));
  const Tracers tracers;
  do {
    run_all();
  } while (tracers.events() == 0);  // on a busy machine the first trace comes late
}

TEST(RecordStress, RecordingsBeginAndEndMeanwhile) {
  const Tracers tracers;
  const Recordings recordings;
  run_all();
}

}  // namespace
