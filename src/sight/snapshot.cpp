#include "sight/snapshot.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "exec/park/deadline.hpp"
#include "exec/task/sample.hpp"
#include "sight/names.hpp"
#include "sight/task_walk.hpp"
#include "sys/clock.hpp"
#include "sys/describe_fd.hpp"

namespace rouse::sight {

using rouse::internal::Examinable;
using rouse::internal::find_tag;
using rouse::internal::is_among;
using rouse::internal::PollUnderWay;
using rouse::internal::Sample;
using rouse::internal::SeenTask;
using rouse::internal::tag_of;
using rouse::internal::TaskHeader;

namespace {

constexpr std::size_t most_steps = 4096;  // of one task
constexpr std::size_t most_groups = 1 << 16;
constexpr std::size_t buckets = 2 * most_groups;
constexpr int least_part_of_patience = 8;                 // that is left for each executor
constexpr std::size_t most_asked = 256;                   // threads
constexpr std::chrono::milliseconds answer_patience(50);  // with one
constexpr std::uint64_t all_answers_ns = 300'000'000;     // in a dump

/// FNV-1a, a word at a time.
class Hash {
 public:
  void add(std::uint64_t word) noexcept { value_ = (value_ ^ word) * 0x100000001b3; }
  void add(const void* pointer) noexcept { add(reinterpret_cast<std::uintptr_t>(pointer)); }
  void add(const std::source_location& where) noexcept {
    add(where.file_name());
    add(std::uint64_t{where.line()} << 32 | where.column());
  }
  void add_text(const char* text) noexcept {
    for (; text != nullptr && *text != 0; ++text) add(static_cast<unsigned char>(*text));
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_ ^ value_ >> 29; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// Empty without memory.
template <class T>
std::span<T> make_span(Arena& arena, std::size_t size) noexcept {
  T* const made = arena.make<T>(size);
  return std::span(made, made == nullptr ? 0 : size);
}

/// The tasks of a suspicion, all at one moment.
class Verify final : public rouse::internal::TaskVisitor {
 public:
  Verify(std::span<const TaskId> ids, std::span<Step> room, std::span<Awaited> awaited,
         Arena& arena) noexcept
      : ids_(ids),
        room_(room),
        awaited_(awaited),
        arena_(arena),
        tasks_(arena.make<DeadlockedTask>(ids.size())) {}

  void see(const SeenTask& seen) override {
    if (tasks_ == nullptr || seen_ == ids_.size() || !is_among(ids_, seen.id) ||
        seen.state != SeenTask::State::idle) {
      return;
    }
    TaskWalk walk(room_, awaited_);
    walk.walk(*seen.task->vtable.shape, seen.task->future());
    if (walk.awaited().empty()) {
      is_fact_ = false;
      return;
    }
    for (const Awaited& awaited : walk.awaited()) is_fact_ = is_fact_ && has(awaited);
    const std::span<Step> steps = walk.steps();
    auto* const kept = arena_.make<Step>(steps.size());
    if (kept == nullptr) return;
    std::copy(steps.begin(), steps.end(), kept);
    for (Step& step : std::span(kept, steps.size())) {
      if (step.kind == Step::Kind::leaf && step.shape->kind != Wait::join) {
        step.detail = copy_name_of(reinterpret_cast<const void*>(step.value), arena_);
      }
    }
    tasks_[seen_++] = DeadlockedTask{.id = seen.id,
                                     .name = arena_.copy(seen.name, longest_name),
                                     .steps = std::span<const Step>(kept, steps.size()),
                                     .awaited = walk.awaited()[0]};
  }
  void cannot_see(const char*) override {}

  /// Null: they do not wait for each other.
  Deadlock* deadlock() noexcept {
    if (!is_fact_ || seen_ != ids_.size()) return nullptr;
    put_in_a_row();
    auto* const made = arena_.make<Deadlock>(1);
    if (made != nullptr) made->tasks = std::span(tasks_, seen_);
    return made;
  }

 private:
  bool has(const Awaited& awaited) const noexcept {
    const auto found = find_tag(ids_, tag_of(awaited.id));
    return found != ids_.end() && awaited.is(*found);
  }
  void put_in_a_row() noexcept {
    for (std::size_t at = 0; at + 1 < seen_; ++at) {
      DeadlockedTask* const rest = tasks_ + at + 1;
      DeadlockedTask* const end = tasks_ + seen_;
      DeadlockedTask* const next = std::find_if(
          rest, end, [&](const DeadlockedTask& task) { return tasks_[at].awaited.is(task.id); });
      if (next != end) std::swap(*rest, *next);
    }
  }

  const std::span<const TaskId> ids_;
  const std::span<Step> room_;
  const std::span<Awaited> awaited_;
  Arena& arena_;
  DeadlockedTask* const tasks_;
  std::size_t seen_ = 0;
  bool is_fact_ = true;
};

}  // namespace

class Snapshot::Collector final : public rouse::internal::TaskVisitor {
 public:
  Collector(Snapshot& into, bool asks) noexcept
      : into_(into),
        asks_(asks),
        room_(make_span<Step>(into.arena_, most_steps)),
        awaited_(make_span<Awaited>(into.arena_, Suspects::most_of_one)),
        table_(into.arena_.make<Group*>(buckets)),
        asked_(make_span<Asked>(into.arena_, most_asked)),
        suspects_(into.arena_) {}

  void begin(Examinable::Kind kind) noexcept {
    auto* const made = into_.arena_.make<Executor>(1);
    if (made == nullptr) return;
    made->kind = kind;
    if (executor_ == nullptr) {
      into_.first_ = made;
    } else {
      executor_->next = made;
    }
    executor_ = made;
    ++number_;
    suspects_.clear();
  }

  void see(const SeenTask& seen) override {
    ++into_.tasks_;
    if (executor_ == nullptr || room_.data() == nullptr || table_ == nullptr) {
      ++into_.left_out_;
      return;
    }
    ++executor_->tasks;
    TaskWalk walk(room_, awaited_);
    if (seen.task != nullptr && seen.task->content == TaskHeader::Content::future) {
      walk.walk(*seen.task->vtable.shape, seen.task->future());
    }
    if (seen.state == SeenTask::State::idle && !walk.awaited().empty()) {
      suspects_.add(seen.id, walk.awaited());
    }
    const bool is_forgotten = seen.wakers == 0 && !walk.waits_for_ever();
    into_.forgotten_ += is_forgotten ? 1 : 0;
    (void)put_in_group(seen, walk.steps(), is_forgotten);
  }
  /// Tasks are held now: so its thread is asked later.
  void see_running(const SeenTask& seen, const PollUnderWay& poll) override {
    const bool has_room = executor_ != nullptr && room_.data() != nullptr && table_ != nullptr &&
                          asked_.data() != nullptr && asked_count_ != most_asked;
    if (!asks_ || !has_room) return see(seen);
    SeenTask kept = seen;
    kept.name = into_.arena_.copy(seen.name, longest_name);
    kept.task = nullptr;
    std::construct_at(&asked_[asked_count_++], Asked{.seen = kept, .poll = poll});
  }
  void see_stuck(const PollUnderWay& poll) override {
    Sample sample;
    const Activity activity = activity_of(poll.thread, {});
    if (!asks_ || !take_sample(poll, answer_patience, sample)) return;
    ++into_.tasks_;
    if (executor_ == nullptr || room_.data() == nullptr || table_ == nullptr) {
      ++into_.left_out_;
      return;
    }
    ++executor_->tasks;
    const char* const name = sample.name[0] == 0 ? nullptr : sample.name;
    put_running(SeenTask(sample.task, name, sample.spawned_at, SeenTask::State::running), sample,
                activity);
  }
  /// After the tasks of an executor were seen: asks the threads of those that run what they do.
  void ask() {
    const std::uint64_t until = sys::monotonic_ns() + all_answers_ns;
    for (const Asked& asked : asked_.first(std::exchange(asked_count_, 0))) {
      Sample sample;
      const Activity activity = activity_of(asked.poll.thread, {});
      const bool is_answered = sys::monotonic_ns() < until &&
                               take_sample(asked.poll, answer_patience, sample) &&
                               sample.task == asked.seen.id;
      if (is_answered) {
        ++into_.tasks_;
        ++executor_->tasks;
        put_running(asked.seen, sample, activity);
      } else {
        see(asked.seen);
      }
    }
  }
  void cannot_see(const char* why) override {
    if (executor_ != nullptr) executor_->why_not = why;
  }
  /// After all tasks of the executor were seen.
  void find_deadlocks(Examinable& executor) {
    suspects_.find([&](std::span<const TaskId> ids) {
      Verify verify(ids, room_, awaited_, into_.arena_);
      executor.examine_at_once(ids, verify);
      Deadlock* const found = verify.deadlock();
      if (found == nullptr) return;
      if (last_deadlock_ == nullptr) {
        into_.deadlocks_ = found;
      } else {
        last_deadlock_->next = found;
      }
      last_deadlock_ = found;
    });
  }

 private:
  struct Asked {
    SeenTask seen;
    PollUnderWay poll;
  };

  Group* put_in_group(const SeenTask& seen, std::span<const Step> steps, bool is_forgotten) {
    Group** const bucket = find(hash_of(seen, steps, is_forgotten));
    if (*bucket == nullptr && !add(*bucket, seen, steps, is_forgotten)) {
      ++into_.left_out_;
      return nullptr;
    }
    count(**bucket, seen.id);
    return *bucket;
  }
  void put_running(const SeenTask& seen, const Sample& sample, const Activity& activity) {
    std::size_t count = 0;
    const auto put = [&](Step::Kind kind) {
      room_[count] = Step{kind, nullptr, {}, 0, nullptr, 0};
      return &room_[count++];
    };
    if (sample.awaits_count != 0) put(Step::Kind::begin_waiting);
    for (std::size_t i = 0; i < sample.awaits_count; ++i) {
      const bool is_behind_cut =
          sample.awaits_cut != 0 && i + Sample::most_outer == sample.awaits_count;
      if (is_behind_cut) put(Step::Kind::left_out)->value = sample.awaits_cut;
      put(Step::Kind::frame)->where = sample.awaits[i];
    }
    if (sample.awaits_count != 0) put(Step::Kind::end_waiting);
    Group* const group = put_in_group(seen, room_.first(count), false);
    if (group == nullptr || group->running != nullptr) return;
    auto* const running = into_.arena_.make<Running>(1);
    auto* const stack = into_.arena_.make<std::uintptr_t>(sample.stack_count);
    if (running == nullptr || stack == nullptr) return;
    std::copy_n(sample.stack.begin(), sample.stack_count, stack);
    *running = Running{.activity = activity, .stack = std::span(stack, sample.stack_count)};
    group->running = running;
  }
  std::uint64_t hash_of(const SeenTask& seen, std::span<const Step> steps, bool is_forgotten) {
    Hash hash;
    hash.add(number_);  // the groups of all executors are in one table
    hash.add(static_cast<std::uint64_t>(seen.state) << 1 | (is_forgotten ? 1 : 0));
    hash.add(seen.spawned_at.source());
    hash.add(seen.spawned_at.code());
    hash.add_text(seen.name);
    for (const Step& step : steps) {
      hash.add(static_cast<std::uint64_t>(step.kind));
      hash.add(step.shape);
      if (step.kind == Step::Kind::frame) hash.add(step.where);
    }
    hash_ = hash.value();
    return hash_;
  }
  Group** find(std::uint64_t hash) noexcept {
    std::size_t at = hash % buckets;
    while (table_[at] != nullptr && table_[at]->hash != hash) at = (at + 1) % buckets;
    return &table_[at];
  }
  /// False: there is no room.
  bool add(Group*& bucket, const SeenTask& seen, std::span<const Step> steps, bool is_forgotten) {
    if (groups_ == most_groups) return false;
    auto* const group = into_.arena_.make<Group>(1);
    auto* const kept = into_.arena_.make<Step>(steps.size());
    if (group == nullptr || kept == nullptr) return false;
    std::copy(steps.begin(), steps.end(), kept);
    for (Step& step : std::span(kept, steps.size())) describe(step);
    group->state = seen.state;
    group->is_forgotten = is_forgotten;
    group->hash = hash_;
    group->wakers = seen.wakers;
    group->name = into_.arena_.copy(seen.name, longest_name);
    group->spawned_at = seen.spawned_at;
    group->steps = std::span<const Step>(kept, steps.size());
    (executor_->last == nullptr ? executor_->first : executor_->last->next) = group;
    executor_->last = group;
    bucket = group;
    ++groups_;
    return true;
  }
  /// While the task is held, so that the descriptor is still the same.
  void describe(Step& step) noexcept {
    if (step.kind != Step::Kind::leaf || step.shape->count == 0) return;
    if (step.shape->kind != Wait::descriptor) {
      if (step.shape->kind == Wait::join || step.shape->kind == Wait::sleep) return;
      step.detail = copy_name_of(reinterpret_cast<const void*>(step.value), into_.arena_);
      return;
    }
    char text[320];
    sys::describe_fd(static_cast<int>(step.value), text);
    step.detail = into_.arena_.copy(text, sizeof text);
  }
  static void count(Group& group, TaskId id) noexcept {
    if (group.count < Group::most_ids) {
      group.ids[group.count] = id;
    } else if (id < group.ids[0]) {
      group.ids[1] = group.ids[0];
      group.ids[0] = id;
    }
    ++group.count;
    const std::size_t known = group.count < Group::most_ids ? group.count : Group::most_ids;
    std::size_t lowest = 0;
    for (std::size_t i = 1; i < known; ++i) {
      if (group.ids[i] < group.ids[lowest]) lowest = i;
    }
    std::swap(group.ids[0], group.ids[lowest]);
  }

  Snapshot& into_;
  const bool asks_;
  const std::span<Step> room_;
  const std::span<Awaited> awaited_;
  Group** const table_;
  const std::span<Asked> asked_;
  std::size_t asked_count_ = 0;
  Suspects suspects_;
  Deadlock* last_deadlock_ = nullptr;
  Executor* executor_ = nullptr;
  std::size_t groups_ = 0;
  std::uint64_t number_ = 0;  // of the executor
  std::uint64_t hash_ = 0;
};

Snapshot::Snapshot(std::chrono::nanoseconds patience, Asks asks) noexcept
    : at_ns_(sys::monotonic_ns()) {
  Collector collector(*this, asks == Asks::yes && patience != std::chrono::nanoseconds(0));
  rouse::internal::ExamineAll all;
  // In all: a program may have many executors that are stuck.
  const rouse::internal::Deadline deadline(patience);
  while (Examinable* const executor = all.next()) {
    collector.begin(executor->kind());
    executor->examine(collector, std::max(deadline.left(), patience / least_part_of_patience));
    collector.ask();
    collector.find_deadlocks(*executor);
  }
}

}  // namespace rouse::sight
