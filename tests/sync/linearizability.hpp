// Whether what threads saw of an object can be explained by a sequence of whole operations, in an
// order that agrees with time: random histories, checked against a sequential model by the search
// of Wing and Gong.
//
//   struct CounterModel {
//     enum class Op { add, get };
//     using Result = int;
//     Result apply(Op op);                                   // one operation, alone
//     auto operator<=>(const CounterModel&) const = default;
//     int value = 0;
//   };
//   HistoryReport report = check_histories<CounterModel>(
//       HistoryOptions(), [] { return CounterModel(); },
//       [] { return std::make_unique<Counter>(); },          // the real object, new each time
//       [](Random& random, std::size_t thread) { ... },      // the next operation of a thread
//       [](Counter& counter, std::size_t thread, CounterModel::Op op) { ... });  // its result
//   EXPECT_EQ(report.violation, "");
//   EXPECT_GT(report.overlapping, 0U);    // else the histories prove nothing
//
// An operation that would wait is performed as one poll, and "pending" is a result.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/sanitizer.hpp"

namespace rouse::test {

using Random = std::minstd_rand;

struct HistoryOptions {
  HistoryOptions() = default;
  std::size_t threads = 3;
  std::size_t calls = 5;  ///< of each thread; threads * calls <= 64
  std::size_t rounds = sanitized ? 500 : 3000;
  std::uint32_t seed = 1;
};

struct HistoryReport {
  HistoryReport() = default;
  std::string violation;        ///< the first history that no sequence explains; else empty
  std::size_t overlapping = 0;  ///< histories in which calls of two threads overlapped
};

/// One operation: what it was, what came of it, and when it began and ended.
template <class Model>
struct Call {
  std::size_t thread = 0;
  typename Model::Op op{};
  typename Model::Result result{};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

template <class Model>
class LinearizationSearch {
 public:
  explicit LinearizationSearch(const std::vector<Call<Model>>& history) : history_(history) {}

  bool finds_order(const Model& initial) { return search(0, initial); }

 private:
  using CallSet = std::uint64_t;

  /// `done`: those that happened so far, and led to `state`.
  bool search(CallSet done, const Model& state) {
    if (done == all()) return true;
    if (!seen_.emplace(done, state).second) return false;
    const std::uint64_t first_end = first_end_outside(done);
    for (std::size_t i = 0; i < history_.size(); ++i) {
      const Call<Model>& call = history_[i];
      // One that began after another ended can't have come before it.
      if ((done >> i & 1U) != 0 || call.begin > first_end) continue;
      Model next = state;
      if (next.apply(call.op) == call.result && search(done | CallSet{1} << i, next)) return true;
    }
    return false;
  }

  CallSet all() const {
    return history_.size() == 64 ? ~CallSet{0} : (CallSet{1} << history_.size()) - 1;
  }
  std::uint64_t first_end_outside(CallSet done) const {
    auto first = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if ((done >> i & 1U) == 0) first = std::min(first, history_[i].end);
    }
    return first;
  }

  const std::vector<Call<Model>>& history_;
  std::set<std::pair<CallSet, Model>> seen_;
};

template <class Model>
bool is_linearizable(const std::vector<Call<Model>>& history, const Model& initial) {
  return LinearizationSearch<Model>(history).finds_order(initial);
}

/// The history as text, in the order of beginnings.
template <class Model>
std::string to_text(std::vector<Call<Model>> history) {
  std::ranges::sort(history, {}, &Call<Model>::begin);
  std::ostringstream text;
  for (const Call<Model>& call : history) {
    text << "  [" << call.begin << ", " << call.end << "] thread " << call.thread << ": "
         << ::testing::PrintToString(call.op) << " -> " << ::testing::PrintToString(call.result)
         << '\n';
  }
  return text.str();
}

/// Time as the threads see it. Under TSan it must not order what they do: races would be hidden.
class HistoryClock {
 public:
  std::uint64_t tick() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint64_t now = ticks_.fetch_add(
        1, thread_sanitizer ? std::memory_order_relaxed : std::memory_order_seq_cst);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return now;
  }

 private:
  std::atomic<std::uint64_t> ticks_{0};
};

template <class Model>
bool has_overlap(const std::vector<Call<Model>>& history) {
  for (const Call<Model>& a : history) {
    for (const Call<Model>& b : history) {
      if (a.thread != b.thread && a.begin < b.begin && b.begin < a.end) return true;
    }
  }
  return false;
}

/// Runs `options.rounds` histories, each on a new object. See the top of this file.
template <class Model, class MakeModel, class MakeObject, class Pick, class Perform>
HistoryReport check_histories(const HistoryOptions& options, MakeModel make_model,
                              MakeObject make_object, Pick pick, Perform perform) {
  HistoryReport report;
  decltype(make_object()) object;
  HistoryClock clock;
  std::vector<std::vector<Call<Model>>> calls(options.threads);
  std::atomic<std::size_t> ready{0};
  bool done = false;
  std::barrier rounds(static_cast<std::ptrdiff_t>(options.threads) + 1);

  auto one_thread = [&](std::size_t thread) {
    Random random(options.seed * 1000 + static_cast<std::uint32_t>(thread));
    for (;;) {
      rounds.arrive_and_wait();  // the object is there
      if (done) return;
      auto& mine = calls[thread];
      mine.clear();
      ready.fetch_add(1, std::memory_order_relaxed);
      for (int spins = 0; ready.load(std::memory_order_relaxed) < options.threads; ++spins) {
        if (spins > 10'000) std::this_thread::yield();  // fewer processors than threads
      }
      for (std::size_t i = 0; i < options.calls; ++i) {
        Call<Model> call;
        call.thread = thread;
        call.op = pick(random, thread);
        call.begin = clock.tick();
        // So that calls overlap on one processor, too.
        if (random() % 8 == 0) std::this_thread::yield();
        call.result = perform(*object, thread, call.op);
        call.end = clock.tick();
        mine.push_back(std::move(call));
      }
      rounds.arrive_and_wait();  // the history is whole
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < options.threads; ++i) threads.emplace_back(one_thread, i);

  for (std::size_t round = 0; round < options.rounds && report.violation.empty(); ++round) {
    object = make_object();
    ready.store(0, std::memory_order_relaxed);
    rounds.arrive_and_wait();
    rounds.arrive_and_wait();
    std::vector<Call<Model>> history;
    for (const auto& mine : calls) history.insert(history.end(), mine.begin(), mine.end());
    if (has_overlap(history)) ++report.overlapping;
    if (!is_linearizable(history, make_model())) {
      report.violation = "no sequence explains history " + std::to_string(round) + " of seed " +
                         std::to_string(options.seed) + ":\n" + to_text(history);
    }
  }
  done = true;
  rounds.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  return report;
}

}  // namespace rouse::test
