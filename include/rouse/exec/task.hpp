// Task<F>: header and future in one block from the pool; the outcome takes the future's place.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <source_location>
#include <utility>

#include "rouse/base/block_pool.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/outcome.hpp"
#include "rouse/exec/task_header.hpp"

namespace rouse {

template <class F>
class Task final : public TaskHeader {
  using Ended = Outcome<output_t<F>>;

 public:
  /// A task that is not submitted yet, its future made in place from `args`.
  template <class... Args>
  static Task& make(Scheduler& runs_on, std::source_location where, Args&&... args) {
    static_assert(alignof(Task) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "spawn of an over-aligned future: keep over-aligned data behind a pointer");
    void* memory = allocate_block(sizeof(Task));
    try {
      return *new (memory) Task(runs_on, where, std::forward<Args>(args)...);
    } catch (...) {
      free_block(memory, sizeof(Task));
      throw;
    }
  }

 private:
  template <class... Args>
  Task(Scheduler& runs_on, std::source_location where, Args&&... args)
      : TaskHeader(vtable_, runs_on, where), future_(std::forward<Args>(args)...) {}
  ~Task() {}

  static Task& of(TaskHeader& header) noexcept { return static_cast<Task&>(header); }

  static bool poll(TaskHeader& header, Context& cx) noexcept {
    Task& task = of(header);
    try {
      auto poll = task.future_.poll(cx);
      if (poll.is_pending()) return false;
      task.become_outcome();
      if constexpr (std::is_void_v<output_t<F>>) {
        task.outcome_.set_value();
      } else {
        task.outcome_.set_value(std::move(poll).value());
      }
    } catch (...) {
      task.fail(std::current_exception());
    }
    return true;
  }

  void fail(std::exception_ptr error) noexcept {
    if (!has_outcome) {
      if constexpr (requires { future_.origin(); }) {
        if (spawned_at.line() == 0) spawned_at = future_.origin();
      }
      become_outcome();
    }
    outcome_.set_error(std::move(error));
  }

  void become_outcome() noexcept {
    std::destroy_at(&future_);
    has_outcome = true;
    std::construct_at(&outcome_);
  }

  static void cancel(TaskHeader& header) noexcept { of(header).become_outcome(); }
  static void* outcome(TaskHeader& header) noexcept { return &of(header).outcome_; }
  static std::exception_ptr discard(TaskHeader& header) noexcept {
    Ended& outcome = of(header).outcome_;
    std::exception_ptr untaken = outcome.is_error() ? outcome.error() : nullptr;
    outcome.reset();
    return untaken;
  }
  /// A future that has a name (exec/task_builder.hpp) gives it to its task, until that ends.
  static const char* name(const TaskHeader& header) noexcept {
    if constexpr (requires(const F& f) { f.task_name(); }) {
      const auto& task = static_cast<const Task&>(header);
      if (!task.has_outcome) return task.future_.task_name();
    }
    return nullptr;
  }
  static void free(TaskHeader& header) noexcept {
    Task& task = of(header);
    task.outcome_.reset();
    task.~Task();
    free_block(&task, sizeof(Task));
  }

  static constexpr TaskVTable vtable_{poll, cancel, outcome, discard, name, free};

  union {
    F future_;
    Ended outcome_;
  };
};

}  // namespace rouse
