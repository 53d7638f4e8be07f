// TaskWalk: what a task waits for, as the steps of a dump, and for which tasks it waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/sync/internal/permits.hpp"
#include "rouse/time/instant.hpp"

#include "core/shape_walk.hpp"
#include "exec/fork/branch_group.hpp"
#include "sight/deadlocks.hpp"
#include "sight/snapshot.hpp"

namespace rouse::sight {

inline bool is_for_a_task(Wait kind) noexcept {
  return kind == Wait::join || kind == Wait::lock || kind == Wait::shared || kind == Wait::init ||
         kind == Wait::fork || kind == Wait::scope;
}

/// Writes the steps of one task.
class TaskWalk final : public rouse::internal::ShapeWalk {
 public:
  TaskWalk(std::span<Step> room, std::span<Awaited> room_of_awaited) noexcept
      : room_(room), awaited_(room_of_awaited) {}

  std::span<Step> steps() const noexcept { return room_.first(count_); }
  /// Whether it waits for something that is meant to last for ever, or nobody knows.
  bool waits_for_ever() const noexcept { return waits_for_ever_; }
  /// The tasks that it waits for; none, if it waits for anything else, too.
  std::span<const Awaited> awaited() const noexcept {
    return awaited_.first(may_go_on_ || hides_something() ? 0 : awaited_count_);
  }

 private:
  /// Whether something waits, and nobody says for what.
  bool hides_something() const noexcept {
    for (std::size_t i = 0; i + 1 < count_; ++i) {
      const Step::Kind next = room_[i + 1].kind;
      if (room_[i].kind == Step::Kind::begin_waiting && next != Step::Kind::leaf &&
          next != Step::Kind::begin_node) {
        return true;
      }
      if (room_[i].kind == Step::Kind::begin_node && next == Step::Kind::end_node) return true;
    }
    return false;
  }
  void begin_waiting() override { add(Step::Kind::begin_waiting); }
  void end_waiting() override { add(Step::Kind::end_waiting); }
  void begin_node(const Shape& shape) override { add(Step::Kind::begin_node, &shape); }
  void end_node(const Shape& shape) override { add(Step::Kind::end_node, &shape); }
  void leaf(const Shape& shape, const void* future) override {
    waits_for_ever_ = waits_for_ever_ || shape.kind == Wait::never;
    may_go_on_ = may_go_on_ || !is_for_a_task(shape.kind);
    Step* const step = add(Step::Kind::leaf, &shape);
    if (step == nullptr || shape.count == 0) return;
    switch (shape.kind) {
      case Wait::descriptor:
        step->value = static_cast<std::uint64_t>(field<int>(shape, future, 0));
        break;
      case Wait::sleep:
        step->value = static_cast<std::uint64_t>(
            field<time::Instant>(shape, future, 0).time_since_epoch().count());
        break;
      case Wait::join:
        if (const rouse::internal::TaskHeader* const task =
                field<const rouse::internal::TaskHeader*>(shape, future, 0)) {
          step->value = task->id();
        }
        await(step->value, false);
        break;
      case Wait::init: {
        const auto* const maker = field<const atomic<std::uint32_t>*>(shape, future, 0);
        step->value = reinterpret_cast<std::uintptr_t>(maker);
        step->holder = maker == nullptr ? 0 : maker->load(memory_order_relaxed);
        await(step->holder, true);
        break;
      }
      case Wait::lock:
      case Wait::shared: {
        const auto* const permits = field<const rouse::internal::Permits*>(shape, future, 0);
        step->value = reinterpret_cast<std::uintptr_t>(permits);
        step->holder = permits == nullptr ? 0 : permits->holder();
        await(step->holder, true);
        break;
      }
      case Wait::fork:
        step->value = field<std::uintptr_t>(shape, future, 0);
        await_children(field<rouse::internal::BranchGroup*>(shape, future, 0));
        break;
      case Wait::scope: {
        const auto* const state = field<rouse::internal::BranchGroup* const*>(shape, future, 0);
        step->value = reinterpret_cast<std::uintptr_t>(state);
        await_children(state == nullptr ? nullptr : *state);
        break;
      }
      default:
        step->value = field<std::uintptr_t>(shape, future, 0);
    }
  }
  void await_children(rouse::internal::BranchGroup* group) {
    constexpr std::uintptr_t no_memory = 1;  // fork_region.cpp
    const bool is_there = reinterpret_cast<std::uintptr_t>(group) > no_memory;
    const auto note = [this](TaskId id) { await(id, false); };
    if (!is_there || !group->show_awaited(note)) may_go_on_ = true;
  }
  /// The innermost ones as they come; of the rest the last few.
  void frame(const rouse::internal::Frame& frame) override {
    if (frames_ < inner_frames + outer_frames) {
      if (Step* const step = add(Step::Kind::frame)) step->where = frame.where();
      ++frames_;
      return;
    }
    // Moves the outer ones one further, and counts the one that falls out.
    Step* const outer = room_.data() + count_ - outer_frames;
    if (frames_ == inner_frames + outer_frames) {
      if (count_ == room_.size()) return;
      std::copy_backward(outer, outer + outer_frames, outer + outer_frames + 1);
      *outer = Step{Step::Kind::left_out, nullptr, {}, 0, nullptr, 0};
      ++count_;
      ++frames_;
      return this->frame(frame);
    }
    ++(outer - 1)->value;
    std::copy(outer + 1, outer + outer_frames, outer);
    outer[outer_frames - 1].where = frame.where();
  }
  void with_branch(const void* group, rouse::internal::FunctionRef<void()> visit) override {
    // A task of a branch holds a reference to its group.
    bool is_visited = false;
    const auto note_and_visit = [&] {
      is_visited = true;
      visit();
    };
    if (group != nullptr) {
      const_cast<rouse::internal::BranchGroup*>(
          static_cast<const rouse::internal::BranchGroup*>(group))
          ->with_children(note_and_visit);
    }
    if (!is_visited) cut();
  }
  /// What is not seen may be anything.
  void cut() override { waits_for_ever_ = may_go_on_ = true; }
  /// 0: nobody knows whom.
  void await(std::uint64_t id, bool is_tag) noexcept {
    if (id == 0 || awaited_count_ == awaited_.size()) {
      may_go_on_ = true;
    } else {
      awaited_[awaited_count_++] = Awaited{.id = id, .is_tag = is_tag};
    }
  }
  Step* add(Step::Kind kind, const Shape* shape = nullptr) noexcept {
    if (kind != Step::Kind::frame) frames_ = 0;
    if (count_ == room_.size()) {
      may_go_on_ = true;
      return nullptr;
    }
    room_[count_] = Step{kind, shape, {}, 0, nullptr, 0};
    return &room_[count_++];
  }

  static constexpr std::size_t inner_frames = 32;  // of one chain, innermost
  static constexpr std::size_t outer_frames = 8;   // and outermost

  const std::span<Step> room_;
  std::size_t count_ = 0;
  std::size_t frames_ = 0;  // of the chain that is visited
  bool waits_for_ever_ = false;
  bool may_go_on_ = false;  // it waits for something that is no task, or nobody knows
  const std::span<Awaited> awaited_;
  std::size_t awaited_count_ = 0;
};

}  // namespace rouse::sight
