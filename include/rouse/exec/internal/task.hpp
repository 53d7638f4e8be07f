// Task<F>: header and future in one block from the pool; the outcome takes the future's place.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/exec/internal/task_header.hpp"

namespace rouse::internal {

/// What a task without a name has for one: takes no room.
class NoName {
 public:
  constexpr NoName() noexcept {}
};

/// Tasks with the same result share it.
template <class Stored>
void destroy_value_of_task(void* value) noexcept {
  internal::destroy(static_cast<Stored*>(value));
}

/// `Name` is NoName or std::string. It lives as long as the task, also after the future.
template <class F, class Name = NoName>
class Task final : public TaskHeader {
  using Ended = OutcomeCell<output_t<F>>;
  static constexpr bool begins_as_call = requires { F::begins_as_call; };  // see OwnedCall

 public:
  /// A task that is not submitted yet, its future made in place from `args`.
  template <class... Args>
  static Task& make(Scheduler& runs_on, SpawnPlace where, Args&&... args) {
    return make_named(Name(), runs_on, where, std::forward<Args>(args)...);
  }
  template <class... Args>
  static Task& make_named(Name name, Scheduler& runs_on, SpawnPlace where, Args&&... args) {
    static_assert(alignof(Task) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                  "spawn of an over-aligned future: keep over-aligned data behind a pointer");
    return *new Task(std::move(name), runs_on, where, std::forward<Args>(args)...);
  }

 private:
  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* task, std::size_t size) noexcept { free_block(task, size); }

  template <class... Args>
  Task(Name name, Scheduler& runs_on, SpawnPlace where, Args&&... args)
      : TaskHeader(vtable_, runs_on, where),
        name_(std::move(name)),
        future_(std::forward<Args>(args)...) {
    if constexpr (begins_as_call) content = Content::call;
  }
  ~Task() {}

  static Task& of(TaskHeader& header) noexcept { return static_cast<Task&>(header); }

  static bool poll(TaskHeader& header, Context& cx) noexcept {
    Task& task = of(header);
    try {
      if constexpr (begins_as_call) {
        if (task.content == Content::call) [[unlikely]] {
          task.future_.call();
          task.content = Content::future;
        }
      }
      auto poll = task.future_.poll(cx);
      if (poll.is_pending()) return false;
      task.destroy_future();
      task.content = Content::nothing;
      internal::construct(&task.outcome_);
      if constexpr (std::is_void_v<output_t<F>>) {
        task.outcome_.set_value();
      } else {
        task.outcome_.set_value(std::move(poll).value());
      }
      task.content = Content::value;
    } catch (...) {
      task.fail_with_current_exception();
    }
    return true;
  }

  static void drop_future(TaskHeader& header, const std::exception_ptr* why) noexcept {
    Task& task = of(header);
    if (why != nullptr) {
      if constexpr (requires { task.future_.origin(); }) {
        if (task.spawned_at.source().line() == 0 && task.content == Content::future) {
          task.spawned_at = task.future_.origin();
        }
      }
      if constexpr (requires { task.future_.task_failed(*why); }) task.future_.task_failed(*why);
    }
    task.destroy_future();
  }
  void destroy_future() noexcept {
    if constexpr (begins_as_call) future_.drop(content == Content::future);
    internal::destroy(&future_);
  }

  static const Frame* frame_of(const TaskHeader& header) noexcept {
    return static_cast<const Task&>(header).future_.frame();
  }
  static void free_named(TaskHeader& header) noexcept {
    internal::destroy(&of(header).name_);
    free_block_of(header);
  }

  static constexpr TaskVTable vtable() noexcept {
// Both compilers know the offsets, though a class with a base has no standard layout.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
    constexpr std::size_t outcome_offset = __builtin_offsetof(Task, outcome_);
    constexpr std::size_t name_offset = __builtin_offsetof(Task, name_);
#pragma GCC diagnostic pop
    constexpr std::size_t block_class = BlockClass::of_any(sizeof(Task));
    TaskVTable made{poll,          drop_future, nullptr, outcome_offset, block_class,
                    free_block_of, 0,           nullptr, &shape_of<F>};
    using Stored = typename Ended::Stored;
    if constexpr (!std::is_trivially_destructible_v<Stored>) {
      made.destroy_value = destroy_value_of_task<Stored>;
    }
    if constexpr (!std::is_same_v<Name, NoName>) {
      made.free = free_named;
      made.name_offset = name_offset;
    }
    if constexpr (requires(const F& future) { future.frame(); }) made.frame = frame_of;
    return made;
  }
  static const TaskVTable vtable_;

  [[no_unique_address]] Name name_;
  union {
    F future_;
    Ended outcome_;
  };
};

template <class F, class Name>
constinit const TaskVTable Task<F, Name>::vtable_ = vtable();

}  // namespace rouse::internal
