#include "exec/local/local_core.hpp"

#include <algorithm>
#include <type_traits>

#include "rouse/base/internal/block_pool.hpp"
#include "rouse/exec/block_on.hpp"

#include "base/recorder.hpp"
#include "exec/local/running.hpp"
#include "exec/task/free_task.hpp"
#include "exec/task/observe.hpp"
#include "exec/task/task_transitions.hpp"

namespace rouse::internal {

using recorder::record;
using recorder::What;
namespace {

/// How many polls the owner makes before it checks its inbox.
constexpr unsigned inbox_interval = 61;
/// And how many polls and checks before it checks I/O and timers.
constexpr unsigned event_interval = 61;
/// Few in models, which are small: there, too, some are left for the next look.
constexpr std::size_t posts_at_once = model_checker ? 2 : 64;

}  // namespace

constexpr RawWakerVTable LocalCore::waker_vtable{clone_waker, wake, wake_by_ref, drop_waker};

// --- What a scheduler does. ---

void LocalCore::submit(TaskHeader& task) {
  if (is_quiet_owner()) return adopt(task);
  submit_slowly(task);
}

void LocalCore::watch(TaskHeader& task, const Waker& waker) {
  if (!is_owner()) return post(task, watch_it, 0, waker);
  if (task.inbox().is_touched()) [[unlikely]]
    drop_watchers(task);
  if (!task.join_waker.read().will_wake(waker)) task.join_waker.write() = waker;
}

void LocalCore::abort(TaskHeader& task) {
  if (!is_owner()) return post(task, abort_it, 0);
  if (task.local_state().cancel()) queue_.push(task);
}

void LocalCore::detach(TaskHeader& task) {
  if (!is_owner()) return post(task, detach_it, -1);
  detach_now(task);
  drop_ref(task);
}

void LocalCore::joined(TaskHeader& task) {
  if (!is_owner()) return post(task, 0, -1);
  drop_ref(task);
}

// ORDER: as RefCounted.
void LocalCore::add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
void LocalCore::release() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) delete this;
}

// --- The owner. ---

void LocalCore::own() noexcept {
  ROUSE_ASSERT(!is_run_here(),
               "a LocalExecutor, LocalSet or current-thread runtime is run or destroyed by a task "
               "that it runs, or that runs beside it on this thread: let run or block_on return "
               "first",
               "LocalExecutor");
  const bool is_only_one = ownership_.own(Unparker(unpark_owner, this));
  ROUSE_ASSERT(is_only_one,
               "two threads run one LocalExecutor, LocalSet or current-thread runtime at once: "
               "let one thread be in run or block_on at a time, and others spawn and join",
               "LocalExecutor");
}

/// Maybe not in the innermost call of a run function, or in turns with a core whose guest it is.
bool LocalCore::is_run_here() const noexcept {
  for (const ThreadContext* in = &this_thread; in != nullptr; in = in->outer) {
    if (in->local == this || (in->local != nullptr && in->local->guest_ == this)) return true;
  }
  return false;
}

void LocalCore::run() noexcept {
  run_while([this] {
    // The queue alone: a task that was woken in its last poll is to be let go.
    return !tasks_.empty() || !queue_.empty() || has_posts();
  });
}

void LocalCore::run_while(internal::FunctionRef<bool()> more) noexcept { run_alone(more, *this); }

void LocalCore::run_while(internal::FunctionRef<bool()> more, Scheduler& spawns_on) noexcept {
  LocalCore* const host = spawns_on.current_thread_runtime();
  if (host == nullptr || host == this) return run_alone(more, spawns_on);
  Ownership::Guest self(Unparker(unpark_owner, this));
  while (more()) {
    if (host->ownership_.lend(self)) {
      run_as_guest_of(*host, more);
    } else {
      run_alone([&] { return more() && host->ownership_.is_awaited(); }, *host);
    }
  }
  host->ownership_.remove(self);
}

void LocalCore::run_alone(internal::FunctionRef<bool()> more, Scheduler& spawns_on) noexcept {
  const Running running(*this, spawns_on);
  counters_.wake();
  polled_by_.begin();
  // What was posted before comes first: a task that was aborted meanwhile is not polled again.
  while (has_posts()) drain_inbox();
  unsigned turns = 0;
  while (more()) {
    turns += poll_some(inbox_interval);
    this_thread.task = nullptr;
    if (guest_) {
      guest_->take_turn(*this);
      if (closing_) break;  // by a task of the guest
    }
    if (has_posts()) {
      drain_inbox();
    } else if (queue_.empty() && more()) {
      if (sleep()) {
        turns = 0;
        continue;
      }
    }
    if (++turns < event_interval) continue;
    turns = 0;
    park_->poll();
    fire_timers();
  }
  polled_by_.end();
  counters_.stop();
}

/// Both on this thread, in turns: nobody else would run the host's tasks. They sleep in one place.
/// A wake of a task of the set is not lost: it was posted before the parks are exchanged, or it
/// unparks the new one.
void LocalCore::run_as_guest_of(LocalCore& host, internal::FunctionRef<bool()> more) noexcept {
  Park& own_park = *park_;
  set_park(*host.park_);
  host.guest_ = this;
  host.driver_->set_beside(driver_.get());
  host.run_alone([&] { return more() && !host.ownership_.is_wanted(); }, host);
  host.driver_->set_beside(nullptr);
  host.guest_ = nullptr;
  set_park(own_park);
  host.ownership_.give_back();
}

void LocalCore::set_park(Park& park) noexcept {
  const Lock lock(mutex_);
  park_ = &park;
}

void LocalCore::take_turn(LocalCore& host) noexcept {
  const Running running(*this, host);
  host.polled_by_.end();
  polled_by_.begin();
  fire_timers();
  if (has_posts()) drain_inbox();
  poll_up_to(inbox_interval);
  this_thread.task = nullptr;
  polled_by_.end();
  host.polled_by_.begin();
}

void LocalCore::prepare_to_run(Scheduler& spawns_on) {
  take_driver(spawns_on.drivers());
  if (!driver_ && this_thread.scheduler) take_driver(this_thread.scheduler->drivers());
}

/// A set that ran beside another runtime before waits here from now on.
void LocalCore::take_driver(TimerDrivers* from) {
  if (from == nullptr || from == driver_of_) return;
  internal::Box<TimerDriver> taken = from->make(Unparker(unpark_owner, this));
  if (driver_) driver_->close();
  driver_ = std::move(taken);
  driver_of_ = from;
}

void LocalCore::unpark_owner(void* core) noexcept {
  auto& self = *static_cast<LocalCore*>(core);
  // Under the lock, as Park says: once closed, the executor and its Park may be gone.
  const Lock lock(self.mutex_);
  if (!self.closed_) self.park_->unpark();
}

void LocalCore::fire_timers() noexcept {
  if (driver_) counters_.timers_fired.add(driver_->poll());
}

/// False: a timer was due, and nobody has looked for I/O.
bool LocalCore::sleep() {
  tidy_blocks();
  std::chrono::nanoseconds time = Park::for_ever;
  if (driver_) {
    fire_timers();
    if (!queue_.empty()) return false;
    time = driver_->until_next(driver_->is_paused() && nothing_runs());
  }
  if (guest_ && guest_->has_work()) time = std::chrono::nanoseconds(0);
  if (guest_ && guest_->driver_) time = std::min(time, guest_->driver_->until_next(false));
  if (time > std::chrono::nanoseconds(0)) {
    if (hooks_ && hooks_->on_thread_park) hooks_->on_thread_park();
    if (queue_.empty()) {  // the hook spawned nothing
      record(What::park);
      counters_.sleep();
      polled_by_.end();
      park_->park(time);
      polled_by_.begin();
      counters_.wake();
      record(What::unpark);
    }
    if (hooks_ && hooks_->on_thread_unpark) hooks_->on_thread_unpark();
  }
  park_->poll();
  fire_timers();
  return true;
}

/// Asked by the owner when its queue is empty.
bool LocalCore::nothing_runs() noexcept {
  // In this order: a call tells its task before it ends.
  if (blocking_pool_ && !blocking_pool_->is_idle()) return false;
  if (guest_ && guest_->has_work()) return false;
  return !has_posts();
}

void LocalCore::adopt(TaskHeader& task) noexcept {
  counters_.spawned.add();
  if (++allocated_ > room_) [[unlikely]] {
    try {
      make_room();
    } catch (const std::bad_alloc&) {
      return refuse(task, std::current_exception());
    }
  }
  task.local.index = static_cast<std::uint32_t>(tasks_.size());
  if (tasks_.size() == tasks_.capacity()) __builtin_unreachable();  // spares code that grows it
  tasks_.push_back(&task);
  queue_.push(task);  // born queued
  if (adopts_specially_) [[unlikely]]
    adopt_specially(task);
}

/// For twice as many tasks: so that a wake never needs memory.
void LocalCore::make_room() {
  const std::uint32_t room = room_ == 0 ? 64 : 2 * room_;
  tasks_.reserve(room);
  queue_.reserve(room);
  room_ = room;
}

/// True: it is in the queue, and let go when it comes out.
[[gnu::always_inline]] inline bool LocalCore::finish(TaskHeader& task) noexcept {
  counters_.completed.add();
  Waker joiner = std::move(task.join_waker.write());
  const LocalTaskState::Finished finished = task.local_state().finish();
  if (!finished.has_joiner) {
    if (auto error = task.discard()) report(task, std::move(error));
  }
  if (joiner) std::move(joiner).wake();
  return finished.is_queued;
}

/// A task that can't be kept: joining it reports why.
void LocalCore::refuse(TaskHeader& task, std::exception_ptr why) noexcept {
  if (hooks_ && hooks_->on_task_spawn) hooks_->on_task_spawn(TaskMeta(task));
  TaskHeader* const polled = std::exchange(this_thread.task, &task);
  task.fail(std::move(why));
  this_thread.task = polled;
  if (hooks_) tell_end(task);
  finish(task);
  drop_ref(task);
}

void LocalCore::wake_task(TaskHeader& task) {
  if (!task.local_state().wake()) return;
  queue_.push(task);
  if (notes_wakes_) [[unlikely]]
    note_own_wake(task);
}

[[gnu::always_inline]] inline void LocalCore::end_task(TaskHeader& task) noexcept {
  TaskHeader* last = tasks_.back();
  last->local.index = task.local.index;
  tasks_[task.local.index] = last;
  tasks_.pop_back();
  const bool is_queued = finish(task);
  this_thread.task = nullptr;  // it may be gone, and this thread be asked what it polls
  if (!is_queued) drop_ref(task);
}

void LocalCore::complete(TaskHeader& task) noexcept { end_task(task); }

namespace {

/// Notes nothing of a poll.
struct NoWatch {
  void begin(const TaskHeader&) noexcept {}
  void begin_poll(const TaskHeader&) noexcept {}
  void end(const TaskHeader*, bool, bool = false) noexcept {}
};

/// Of a poll that is observed: whether the task is to be polled again.
template <class Watch>
bool is_queued_again(const TaskHeader& task) noexcept {
  if constexpr (std::is_same_v<Watch, NoWatch>) return false;
  return (task.state.word.load(memory_order_relaxed) & TaskState::active) != 0;
}

}  // namespace

/// Gives how many polls it made.
[[gnu::always_inline]] inline unsigned LocalCore::poll_some(unsigned at_most) {
  if (is_watching() || notes_wakes_ || is_recording()) [[unlikely]]
    return poll_some_observed(at_most);
  NoWatch none;
  unsigned count = 0;
  for (; count < at_most && !queue_.empty(); ++count) poll_task(queue_.pop(), none);
  return count;
}

void LocalCore::poll_up_to(unsigned at_most) { poll_some(at_most); }

unsigned LocalCore::poll_some_observed(unsigned at_most) {
  unsigned count = 0;
  WorkerWatch* const noted = is_watching() ? watch_.make() : nullptr;
  samples_wakes_ = noted != nullptr;
  notes_wakes_ = samples_wakes_ || is_recording();
  if (noted == nullptr) {
    if (WorkerWatch* const before = watch_.get()) before->sample.clear();
  }
  PollWatch watch(noted);
  for (; count < at_most && !queue_.empty(); ++count) poll_task(queue_.pop(), watch);
  return count;
}

template <class Watch>
[[gnu::always_inline]] inline void LocalCore::poll_task(TaskHeader& task, Watch& watch) {
  counters_.polls.add();
  watch.begin(task);
  this_thread.task = &task;
  switch (task.local_state().start_poll()) {
    case NextPoll::poll: {
      const BorrowedWaker waker(RawWaker(&task, &waker_vtable));
      Context cx(waker.get(), Context::task_budget, nullptr, task.tag());
      watch.begin_poll(task);
      const bool ready = task.vtable.poll(task, cx);
      cx.run_poll_ends();
      watch.end(&task, ready, is_queued_again<Watch>(task));
      if (!ready) return;
      break;
    }
    case NextPoll::cancel:
      note_cancel(task);
      task.cancel();
      watch.end(&task, true);
      break;
    case NextPoll::skip:
      watch.end(&task, false);
      this_thread.task = nullptr;
      return drop_ref(task);
  }
  if (hooks_) [[unlikely]]
    return complete_hooked(task);
  end_task(task);
}

void LocalCore::drop_ref(TaskHeader& task) noexcept {
  if (task.local_state().add_refs(-1) > 0) return;
  // Relaxed is enough: an owner that came from another thread brought the mark with it.
  if (task.inbox().is_touched() && !is_last_ref_gone(task)) [[unlikely]] {
    return;
  }
  free_task(task);
  --allocated_;
}

/// Whether there is no reference on other threads either.
bool LocalCore::is_last_ref_gone(TaskHeader& task) noexcept {
  const Lock lock(mutex_);
  return !task.inbox().is_queued() && task.local_state().refs() + task.local.inbox_refs == 0;
}

/// Applies a limited number of posts at a time: they are stored here, since a wake must not need
/// memory. The rest stays pending.
void LocalCore::drain_inbox() {
  struct Post {
    TaskHeader* task;
    std::uint8_t messages;
  };
  Post posts[posts_at_once];
  std::size_t count = 0;
  decltype(watchers_) watchers;
  bool is_asked = false;
  {
    const Lock lock(mutex_);
    is_asked = request_ != nullptr;
    watchers.swap(watchers_);
    while (inbox_first_ != nullptr && count != posts_at_once) {
      TaskHeader* const task = std::exchange(inbox_first_, inbox_first_->queue_next.read());
      posts[count++] = {.task = task, .messages = task->inbox().clear()};
      // One more, for `posts`: what is applied to one task may drop references to another.
      task->local_state().add_refs(std::exchange(task->local.inbox_refs, 0) + 1);
    }
    if (inbox_first_ == nullptr) inbox_last_ = &inbox_first_;
    inbox_pending_.store(inbox_first_ != nullptr, memory_order_relaxed);
  }
  for (auto& [task, waker] : watchers) {
    if (task->state.is_complete()) {
      std::move(waker).wake();
    } else {
      task->join_waker.write() = std::move(waker);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    apply(*posts[i].task, posts[i].messages);
    drop_ref(*posts[i].task);
  }
  if (is_asked) [[unlikely]]
    answer();
}

void LocalCore::apply(TaskHeader& task, std::uint8_t messages) {
  if (messages & adopt_it) adopt(task);
  if ((messages & abort_it) && task.local_state().cancel()) queue_.push(task);
  // Recorded by who posted it.
  if ((messages & wake_it) && task.local_state().wake()) {
    queue_.push(task);
    if (samples_wakes_) watch_.get()->sample.woken(task);
  }
  if (messages & detach_it) detach_now(task);
}

/// The JoinHandle is gone.
void LocalCore::detach_now(TaskHeader& task) {
  if (!task.local_state().drop_join_interest()) {
    const Waker forgotten = std::move(task.join_waker.write());
    return;
  }
  if (auto error = task.discard()) report(task, std::move(error));
}

// --- Wakers. ---

RawWaker LocalCore::clone_waker(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (core.is_owner()) {
    task.local_state().add_refs(1);
  } else {
    core.post(task, 0, 1);
  }
  return RawWaker(data, &waker_vtable);
}

Waker LocalCore::waker_of(TaskHeader& task) { return Waker::from_raw(clone_waker(&task)); }

void LocalCore::wake(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (!core.is_owner()) return core.post_wake(task, -1);
  core.wake_task(task);
  core.drop_ref(task);
}

void LocalCore::wake_by_ref(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (!core.is_owner()) [[unlikely]]
    return core.post_wake(task, 0);
  core.wake_task(task);
}

void LocalCore::drop_waker(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (!core.is_owner()) return core.post(task, 0, -1);
  core.drop_ref(task);
}

}  // namespace rouse::internal
