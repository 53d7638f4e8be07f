// Threads are asked what they poll at any instruction: what they say is always something that the
// program can be doing, whatever begins, ends or is destroyed there.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"
#include "rouse/time/sleep.hpp"

#include "exec/task/examinable.hpp"
#include "exec/task/sample.hpp"
#include "sight/seen.hpp"

namespace rouse::internal {
namespace {

using namespace std::chrono_literals;

std::atomic<std::uint64_t> sink = 0;

Async<int> leaf_work(int n) {
  std::uint64_t sum = 0;
  for (int i = 0; i < n % 97; ++i) sum += static_cast<std::uint64_t>(i * n);
  sink.fetch_add(sum, std::memory_order_relaxed);
  if (n % 3 == 0) co_await yield_now();
  co_return n;
}
Async<int> nested_work(int n) {
  const int first = n == 0 ? 0 : co_await nested_work(n - 1);
  co_return first + co_await leaf_work(n);
}
Async<int> joined_work(int n) {
  auto [a, b] = co_await join(nested_work(n % 7), AnyFuture<int>(leaf_work(n)));
  co_return a + b;
}
Async<void> dropped_work(int n) {
  co_await nested_work(n % 5);
  co_await sleep(1h);
}
Async<int> raced_work(int n) {
  (void)co_await select(dropped_work(n), sleep(1us));
  co_return co_await joined_work(n);
}
Async<int> forked_work(int n) {
  auto [a, b] = co_await parallel(leaf_work(n), joined_work(n));
  co_return a + b;
}
Async<void> innermost_work(const std::atomic<bool>* is_over) {
  while (!is_over->load(std::memory_order_relaxed)) {
  }
  co_return;
}
Async<void> inner_work(const std::atomic<bool>* is_over) { co_await innermost_work(is_over); }
Async<void> outer_work(const std::atomic<bool>* is_over) { co_await inner_work(is_over); }
Async<void> any_work(int n) {
  sink.fetch_add(static_cast<std::uint64_t>(co_await raced_work(n)), std::memory_order_relaxed);
  if (n % 5 == 0) (void)co_await forked_work(n);
}

/// Which coroutine may await which, directly or through a future of rouse.
bool may_await(std::string_view outer, std::string_view inner) {
  const std::pair<std::string_view, std::string_view> allowed[] = {
      {"nested_work", "nested_work"},   {"nested_work", "leaf_work"},
      {"joined_work", "nested_work"},   {"joined_work", "leaf_work"},
      {"dropped_work", "nested_work"},  {"raced_work", "dropped_work"},
      {"raced_work", "joined_work"},    {"forked_work", "leaf_work"},
      {"forked_work", "joined_work"},   {"any_work", "raced_work"},
      {"any_work", "forked_work"},      {"outer_work", "inner_work"},
      {"inner_work", "innermost_work"},
  };
  for (const auto& [from, to] : allowed) {
    if (outer.find(from) != outer.npos && inner.find(to) != inner.npos) return true;
  }
  return false;
}

class AsksAll final : public PollVisitor {
 public:
  void see(const PollUnderWay& poll) noexcept override {
    Sample sample;
    if (!take_sample(poll, 20ms, sample)) return;
    ++samples_;
    const auto awaits = sample.its_awaits();
    deepest_ = awaits.size() > deepest_ ? awaits.size() : deepest_;
    for (std::size_t i = 0; i < awaits.size(); ++i) {
      EXPECT_NE(std::string_view(awaits[i].file_name()).find("sample_stress_test"),
                std::string_view::npos);
      if (i == 0 || sample.awaits_cut != 0) continue;
      const std::string_view inner = awaits[i - 1].function_name();
      EXPECT_TRUE(may_await(awaits[i].function_name(), inner))
          << awaits[i].function_name() << " awaits " << inner;
    }
  }
  void ask() {
    ExamineAll all;
    while (Examinable* const executor = all.next()) executor->show_polls(*this);
  }
  std::size_t samples() const { return samples_; }
  std::size_t deepest() const { return deepest_; }

 private:
  std::size_t samples_ = 0;
  std::size_t deepest_ = 0;
};

TEST(SampleStress, WhatAThreadSaysIsTrueAtAnyInstruction) {
  const sight::Sight sight = sight::start(sight::Options());
  Runtime rt = Runtime::builder().worker_threads(2).build();
  std::atomic<bool> is_over = false;
  std::vector<JoinHandle<void>> drivers;
  for (int of = 0; of < 2; ++of) {
    drivers.push_back(rt.spawn(
        [](const std::atomic<bool>* over, int first) -> Async<void> {
          for (int n = first; !over->load(std::memory_order_relaxed); n += 2) {
            auto kept = spawn(any_work, n);
            auto aborted = spawn(any_work, n + 1);
            co_await yield_now();
            aborted.abort();
            co_await std::move(kept);
          }
        },
        &is_over, of));
  }
  std::thread local([&is_over] {
    LocalExecutor executor;
    for (int n = 0; !is_over.load(); ++n) executor.run_until(joined_work(n));
  });
  AsksAll asks;
  const auto end = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < end) {
    asks.ask();
  }
  // The polls above are so short that none may have been seen inside a child.
  drivers.push_back(rt.spawn(outer_work, &is_over));
  while (asks.deepest() < 2) asks.ask();
  is_over = true;
  local.join();
  for (auto& driver : drivers) rt.block_on(std::move(driver));
  EXPECT_GT(asks.samples(), 0U);
}

}  // namespace
}  // namespace rouse::internal
