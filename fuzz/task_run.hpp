// TaskRun: real tasks on an executor that is driven by hand, and what happens to them, from outside
// and from inside their own polls and destructors: woken, aborted, joined, detached. Each task is a
// Probe with a record, which says what must have happened to it.
//
// It must hold: a task is polled only if it was woken, never after an abort, and not while it is
// polled. Its future is destroyed once. Its outcome goes to the join, once, or is dropped, an
// exception then being reported. Who joins is woken. Wakers may outlive all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rouse/core/future.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "input.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

class TaskRun {
 public:
  enum class Gave : std::uint8_t { nothing, value, exception };
  struct Record {
    std::optional<testing::PollHarness<JoinHandle<Token>>> handle;
    std::vector<Waker> wakers;
    Gave gave = Gave::nothing;
    bool is_woken = true;
    bool is_polled = false;
    bool is_aborted = false;
    bool is_destroyed = false;
    bool joiner_waits = false;
  };

  class Probe {
   public:
    using Output = Token;
    Probe(TaskRun& run, Record& record) noexcept : run_(&run), record_(&record) {}
    Probe(Probe&& other) noexcept
        : run_(other.run_), record_(std::exchange(other.record_, nullptr)) {}
    ~Probe() {
      if (record_) run_->destroyed(*record_);
    }
    Poll<Token> poll(Context& cx) { return run_->polled(*record_, cx); }

   private:
    TaskRun* run_;
    Record* record_;
  };

  explicit TaskRun(Input& input) noexcept : input_(input) {}

  /// What anybody may do at any time.
  void operate() {
    const std::uint8_t which = input_.byte();
    if (records_.empty()) return;
    Record& record = *records_[which % records_.size()];
    switch (input_.below(8)) {
      case 0:
        return abort(record);
      case 1:
        return detach(record);
      case 2:
        if (!record.wakers.empty()) record.wakers.push_back(record.wakers.front());
        return;
      case 3:
        return drop_waker(record);
      case 4:
      case 5:
        return join(record);
      default:
        return wake(record);
    }
  }
  /// `refused`: the executor cancels it at once.
  template <class Executor>
  void spawn(Executor& executor, bool refused = false) {
    if (records_.size() == max_tasks) return;
    auto& record = *records_.emplace_back(std::make_unique<Record>());
    record.is_aborted = refused;
    record.handle.emplace(executor.spawn(Probe(*this, record)));
  }
  /// Nothing is left to be polled.
  void check_idle() const {
    for (const auto& record : records_) {
      if (record->is_destroyed) continue;
      require(!record->is_woken && !record->is_aborted, "who was woken or aborted had his turn");
    }
  }
  void check() const {
    std::size_t values = 0;
    for (const auto& record : records_) {
      if (!record->handle) continue;
      const bool is_finished = record->handle->future().is_finished();
      if (is_finished) require(record->is_destroyed, "a task that is done has no future any more");
      if (is_finished && record->gave == Gave::value) ++values;
      require(!record->joiner_waits || !is_finished || record->handle->is_woken(),
              "who joins was woken");
    }
    require(Token::alive == values, "an outcome lives until it is taken or dropped");
    require(reported <= thrown_, "an exception is reported at most once");
  }
  /// Before a LocalExecutor goes, which takes the hook along that counts them.
  void give_exceptions_up() {
    for (const auto& record : records_) {
      if (record->gave == Gave::exception) detach(*record);
    }
  }
  /// The executor is gone.
  void ended() {
    for (const auto& record : records_) {
      require(record->is_destroyed, "an executor that ends destroys all futures");
      if (record->handle) require(record->handle->future().is_finished(), "and ends all tasks");
    }
    while (!input_.empty()) {
      operate();
      check();
    }
    for (const auto& record : records_) detach(*record);
    check();
    require(reported + joined_exceptions_ == thrown_, "each exception is joined or reported");
  }

  bool executor_ends = false;
  std::size_t reported = 0;
  std::function<void()> spawn_from_task;  // what a task does that spawns another

 private:
  static constexpr std::size_t max_tasks = 6;

  Poll<Token> polled(Record& record, Context& cx) {
    require(record.is_woken, "a task is polled only if it was woken");
    require(!record.is_polled && !record.is_destroyed, "by one at a time, and not after its end");
    require(!record.is_aborted, "a task that was aborted is not polled any more");
    record.is_woken = false;
    record.is_polled = true;
    Poll<Token> result = act(record, cx);
    record.is_polled = false;
    return result;
  }
  Poll<Token> act(Record& record, Context& cx) {
    for (;;) {
      switch (input_.below(8)) {
        case 0:
          record.gave = Gave::value;
          return Poll<Token>::ready(Token(1));
        case 1:
          record.gave = Gave::exception;
          record.is_polled = false;
          ++thrown_;
          throw std::runtime_error("on purpose");
        case 2:
          record.is_woken = true;
          cx.waker().wake_by_ref();
          return pending;
        case 3:
          operate();
          break;
        case 4: {
          Waker consumed = cx.waker();
          record.is_woken = true;
          std::move(consumed).wake();
          break;
        }
        case 5:
          keep_waker(record, cx);
          spawn_from_task();
          break;
        default:
          keep_waker(record, cx);
          return pending;
      }
    }
  }
  static void keep_waker(Record& record, Context& cx) {
    if (record.wakers.size() < 4) record.wakers.push_back(cx.waker());
  }
  void destroyed(Record& record) {
    require(!record.is_destroyed, "a future is destroyed once");
    require(record.gave != Gave::nothing || record.is_aborted || executor_ends,
            "before its end only because it was aborted");
    if (input_.below(4) == 3) operate();
    record.is_destroyed = true;
  }

  void abort(Record& record) {
    if (!record.handle) return;
    if (!record.is_destroyed && record.gave == Gave::nothing) record.is_aborted = true;
    record.handle->future().abort();
  }
  void detach(Record& record) {
    record.joiner_waits = false;
    record.handle.reset();
  }
  void drop_waker(Record& record) {
    if (!record.wakers.empty()) record.wakers.pop_back();
  }
  void wake(Record& record) {
    if (record.wakers.empty()) return;
    record.is_woken = true;
    if (input_.flag()) return record.wakers.back().wake_by_ref();
    Waker taken = std::move(record.wakers.back());
    record.wakers.pop_back();
    std::move(taken).wake();
  }
  void join(Record& record) {
    if (!record.handle) return;
    const bool is_finished = record.handle->future().is_finished();
    record.joiner_waits = false;
    if (input_.below(4) == 3) record.handle->change_waker();
    try {
      auto polled = record.handle->poll();
      require(polled.is_ready() == is_finished, "a join is ready when the task is done");
      if (polled.is_pending()) {
        require(record.handle->kept_waker(), "and keeps a waker until then");
        record.joiner_waits = true;
        return;
      }
      require(record.gave == Gave::value && polled.value().id() == 1,
              "it gives what the task gave");
    } catch (const JoinError&) {
      require(record.gave == Gave::nothing, "JoinError is for tasks that gave nothing");
    } catch (const std::runtime_error&) {
      require(record.gave == Gave::exception, "it throws what the task threw");
      ++joined_exceptions_;
    }
    record.handle.reset();
  }

  Input& input_;
  std::vector<std::unique_ptr<Record>> records_;
  std::size_t thrown_ = 0;
  std::size_t joined_exceptions_ = 0;
};

}  // namespace rouse::fuzz
