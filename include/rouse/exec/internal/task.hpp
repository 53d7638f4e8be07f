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

/// What a task without a name has for one: takes no room.
class NoName {
 public:
  constexpr NoName() noexcept {}
  static constexpr const char* c_str() noexcept { return nullptr; }
};

/// `Name` is NoName or std::string. It lives as long as the task, also after the future.
template <class F, class Name = NoName>
class Task final : public TaskHeader {
  using Ended = Outcome<output_t<F>>;

 public:
  /// A task that is not submitted yet, its future made in place from `args`.
  template <class... Args>
  static Task& make(Scheduler& runs_on, std::source_location where, Args&&... args) {
    return make_named(Name(), runs_on, where, std::forward<Args>(args)...);
  }
  template <class... Args>
  static Task& make_named(Name name, Scheduler& runs_on, std::source_location where,
                          Args&&... args) {
    static_assert(alignof(Task) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "spawn of an over-aligned future: keep over-aligned data behind a pointer");
    void* memory = allocate_block(sizeof(Task));
    try {
      return *new (memory) Task(std::move(name), runs_on, where, std::forward<Args>(args)...);
    } catch (...) {
      free_block(memory, sizeof(Task));
      throw;
    }
  }

 private:
  template <class... Args>
  Task(Name name, Scheduler& runs_on, std::source_location where, Args&&... args)
      : TaskHeader(vtable_, runs_on, where),
        name_(std::move(name)),
        future_(std::forward<Args>(args)...) {}
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
      if constexpr (requires { future_.task_failed(error); }) future_.task_failed(error);
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
  static void fail_with(TaskHeader& header, std::exception_ptr error) noexcept {
    of(header).fail(std::move(error));
  }
  static void* outcome(TaskHeader& header) noexcept { return &of(header).outcome_; }
  static std::exception_ptr discard(TaskHeader& header) noexcept {
    Ended& outcome = of(header).outcome_;
    std::exception_ptr untaken = outcome.is_error() ? outcome.error() : nullptr;
    outcome.reset();
    return untaken;
  }
  static const char* name(const TaskHeader& header) noexcept {
    return static_cast<const Task&>(header).name_.c_str();
  }
  static void free(TaskHeader& header) noexcept {
    Task& task = of(header);
    task.outcome_.reset();
    task.~Task();
    free_block(&task, sizeof(Task));
  }

  static constexpr TaskVTable vtable_{poll, cancel, fail_with, outcome, discard, name, free};

  [[no_unique_address]] Name name_;
  union {
    F future_;
    Ended outcome_;
  };
};

}  // namespace rouse
