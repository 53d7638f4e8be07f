#include "exec/local_core.hpp"

#include <algorithm>

#include "rouse/base/block_pool.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/task_local.hpp"

namespace rouse {
namespace {

/// How many polls may pass before the owner looks at its inbox.
constexpr unsigned inbox_interval = 61;
/// And how many polls and looks before it looks for I/O and timers.
constexpr unsigned event_interval = 61;
/// Few in models, which are small: there, too, some are left for the next look.
constexpr std::size_t posts_at_once = model_checker ? 2 : 64;

}  // namespace

constexpr RawWakerVTable LocalCore::waker_vtable{clone_waker, wake, wake_by_ref, drop_waker};

/// Makes this thread the owner for a while. `spawn` puts tasks on `spawns_on`, which is the core
/// itself or a runtime beside which it runs.
class LocalCore::Owning {
 public:
  explicit Owning(LocalCore& core) noexcept : Owning(core, core) {}
  Owning(LocalCore& core, Scheduler& spawns_on) noexcept
      : before_(this_thread), surroundings_(core.driver_.get()) {
    // ORDER: acquire; what the owner before did.
    ROUSE_ASSERT(!core.is_run_.exchange(true, memory_order_acquire),
                 "two threads run one LocalExecutor, LocalSet or current-thread runtime at once: "
                 "let one thread be in run or block_on at a time, and others spawn and join",
                 "LocalExecutor");
    this_thread = ThreadContext();
    this_thread.pool = before_.pool;
    this_thread.child_polls = before_.child_polls;
    this_thread.scheduler = &spawns_on;
    this_thread.local = &core;
  }
  ~Owning() {
    // ORDER: release; to the next owner.
    this_thread.local->is_run_.store(false, memory_order_release);
    this_thread = before_;
  }
  Owning(const Owning&) = delete;
  Owning& operator=(const Owning&) = delete;

 private:
  const ThreadContext before_;
  const WithSurroundings surroundings_;
  const TaskLocalsScope no_task_locals_{nullptr};  // those of whoever runs this are not its tasks'
};

// --- What a scheduler does. ---

void LocalCore::submit(TaskHeader& task) {
  if (is_owner()) {
    adopt(task);
  } else {
    post(task, adopt_it, 0);
  }
}

void LocalCore::watch(TaskHeader& task, const Waker& waker) {
  if (!is_owner()) return post(task, watch_it, 0, waker);
  if (task.inbox.is_touched()) [[unlikely]]
    forget_watchers(task);
  if (!task.join_waker.read().will_wake(waker)) task.join_waker.write() = waker;
}

/// The handle was polled on another thread before, and its waker may still be in the inbox.
void LocalCore::forget_watchers(TaskHeader& task) {
  decltype(watchers_)::node_type forgotten;  // dropped after the lock
  const Lock lock(mutex_);
  forgotten = watchers_.extract(&task);
}

void LocalCore::abort(TaskHeader& task) {
  if (!is_owner()) return post(task, abort_it, 0);
  if (task.local_state().cancel()) queue_.push(task);
}

void LocalCore::detach(TaskHeader& task) {
  if (!is_owner()) return post(task, detach_it, -1);
  forget(task);
  drop_owner(task);
}

void LocalCore::joined(TaskHeader& task) {
  if (!is_owner()) return post(task, 0, -1);
  drop_owner(task);
}

// ORDER: as RefCounted.
void LocalCore::add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
void LocalCore::release() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) delete this;
}

// --- The owner. ---

void LocalCore::run() noexcept {
  run_while([this] {
    // The queue alone: a task that was woken in its last poll is to be let go.
    return !tasks_.empty() || !queue_.empty() || has_posts();
  });
}

void LocalCore::run_while(const std::function<bool()>& more) noexcept { run_while(more, *this); }

void LocalCore::run_while(const std::function<bool()>& more, Scheduler& spawns_on) noexcept {
  refuse_to_block("LocalExecutor::run");
  LocalCore* const beside = spawns_on.current_thread_runtime();
  // If some thread is in its block_on already, that one runs its tasks.
  if (beside != nullptr && beside != this && !beside->is_run_.load(memory_order_relaxed)) {
    return run_as_guest_of(*beside, more);
  }
  notice_thread_end();
  const Owning owner(*this, spawns_on);
  counters_.wake();
  // What was posted before comes first: a task that was aborted meanwhile is not polled again.
  while (has_posts()) drain_inbox();
  unsigned turns = 0;
  while (more()) {
    for (unsigned i = 0; i < inbox_interval && !queue_.empty(); ++i, ++turns) {
      poll_task(queue_.pop());
    }
    this_thread.task = nullptr;
    if (guest_) guest_->take_turn(*this);
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
    if (driver_) driver_->poll();
  }
  counters_.stop();
}

/// Both on this thread, in turns: nobody else would run the host's tasks. They sleep in one place.
void LocalCore::run_as_guest_of(LocalCore& host, const std::function<bool()>& more) noexcept {
  ROUSE_ASSERT(host.guest_ == nullptr, "a LocalSet runs beside this runtime already");
  Park& own = *park_;
  set_park(*host.park_);
  host.guest_ = this;
  host.run_while(more);
  host.guest_ = nullptr;
  set_park(own);
}

void LocalCore::set_park(Park& park) noexcept {
  const Lock lock(mutex_);
  park_ = &park;
}

void LocalCore::take_turn(LocalCore& host) noexcept {
  const Owning owner(*this, host);
  if (driver_) driver_->poll();
  if (has_posts()) drain_inbox();
  for (unsigned i = 0; i < inbox_interval && !queue_.empty(); ++i) poll_task(queue_.pop());
}

void LocalCore::get_ready(Scheduler& spawns_on) {
  if (!driver_) take_driver(spawns_on.drivers());
  if (!driver_ && this_thread.scheduler) take_driver(this_thread.scheduler->drivers());
}

void LocalCore::take_driver(Drivers* from) {
  if (from) driver_ = from->make(Unparker(unpark_owner, this));
}

void LocalCore::unpark_owner(void* core) noexcept {
  auto& self = *static_cast<LocalCore*>(core);
  // Under the lock, as Park says: once closed, the executor and its Park may be gone.
  const Lock lock(self.mutex_);
  if (!self.closed_) self.park_->unpark();
}

/// False: a timer was due, and nobody has looked for I/O.
bool LocalCore::sleep() {
  tidy_blocks();
  std::chrono::nanoseconds time = Park::for_ever;
  if (driver_) {
    driver_->poll();
    if (!queue_.empty()) return false;
    time = driver_->until_next(driver_->is_paused() && nothing_runs());
  }
  if (guest_ && guest_->has_work()) time = std::chrono::nanoseconds(0);
  if (guest_ && guest_->driver_) time = std::min(time, guest_->driver_->until_next(false));
  if (time > std::chrono::nanoseconds(0)) {
    counters_.sleep();
    park_->park(time);
    counters_.wake();
  }
  park_->poll();
  if (driver_) driver_->poll();
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
  if (closing_) [[unlikely]]
    task.local_state().cancel();
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
    if (auto error = task.vtable.discard(task)) report(task, std::move(error));
  }
  if (joiner) std::move(joiner).wake();
  return finished.is_queued;
}

/// A task that can't be kept: whoever joins it is told why.
void LocalCore::refuse(TaskHeader& task, std::exception_ptr why) noexcept {
  TaskHeader* const polled = std::exchange(this_thread.task, &task);
  task.vtable.fail(task, std::move(why));
  this_thread.task = polled;
  finish(task);
  drop_owner(task);
}

void LocalCore::wake_task(TaskHeader& task) {
  if (task.local_state().wake()) queue_.push(task);
}

void LocalCore::poll_task(TaskHeader& task) {
  counters_.polls.add();
  this_thread.task = &task;
  switch (task.local_state().start_poll()) {
    case NextPoll::poll: {
      const BorrowedWaker waker(RawWaker(&task, &waker_vtable));
      Context cx(waker.get(), Context::task_budget, nullptr);
      const bool ready = task.vtable.poll(task, cx);
      cx.run_poll_ends();
      if (ready) complete(task);
      return;
    }
    case NextPoll::cancel:
      task.vtable.cancel(task);
      return complete(task);
    case NextPoll::forget:
      return drop_owner(task);
  }
}

void LocalCore::complete(TaskHeader& task) noexcept {
  TaskHeader* last = tasks_.back();
  last->local.index = task.local.index;
  tasks_[task.local.index] = last;
  tasks_.pop_back();
  const bool is_queued = finish(task);
  if (!is_queued) drop_owner(task);
}

void LocalCore::drop_owner(TaskHeader& task) noexcept {
  if (task.local_state().add_owners(-1) > 0) return;
  // Relaxed is enough: an owner that came from another thread brought the mark with it.
  if (task.inbox.is_touched() && !is_last_owner_gone(task)) [[unlikely]] {
    return;
  }
  task.vtable.free(task);
  --allocated_;
}

/// Whether there is no owner on other threads either.
bool LocalCore::is_last_owner_gone(TaskHeader& task) noexcept {
  const Lock lock(mutex_);
  return !task.inbox.is_queued() && task.local_state().owners() + task.local.inbox_owners == 0;
}

/// So many posts at a time: they are kept here, since a wake must not need memory. The rest is
/// still pending.
void LocalCore::drain_inbox() {
  struct Post {
    TaskHeader* task;
    std::uint8_t messages;
  };
  Post posts[posts_at_once];
  std::size_t count = 0;
  decltype(watchers_) watchers;
  {
    const Lock lock(mutex_);
    watchers.swap(watchers_);
    while (inbox_first_ != nullptr && count != posts_at_once) {
      TaskHeader* const task = std::exchange(inbox_first_, inbox_first_->queue_next);
      posts[count++] = {.task = task, .messages = task->inbox.clear()};
      // One more, for `posts`: what is applied to one task may drop owners of another.
      task->local_state().add_owners(std::exchange(task->local.inbox_owners, 0) + 1);
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
    drop_owner(*posts[i].task);
  }
}

void LocalCore::apply(TaskHeader& task, std::uint8_t messages) {
  if (messages & adopt_it) adopt(task);
  if ((messages & abort_it) && task.local_state().cancel()) queue_.push(task);
  if (messages & wake_it) wake_task(task);
  if (messages & detach_it) forget(task);
}

/// The JoinHandle is gone.
void LocalCore::forget(TaskHeader& task) {
  if (!task.local_state().drop_join_interest()) {
    const Waker forgotten = std::move(task.join_waker.write());
    return;
  }
  if (auto error = task.vtable.discard(task)) report(task, std::move(error));
}

void LocalCore::close() {
  ROUSE_ASSERT(!is_owner(),
               "a LocalExecutor was destroyed inside one of its own tasks: let run() return first");
  const Owning owner(*this);
  closing_ = true;
  if (blocking_pool_) blocking_pool_->close();
  // Before tasks are counted: its wakers are owners, too, of tasks that may have ended long ago.
  if (driver_) driver_->close();
  for (;;) {
    drain_inbox();
    for (TaskHeader* task : tasks_) {
      if (task->local_state().cancel()) queue_.push(*task);
    }
    while (!queue_.empty()) poll_task(queue_.pop());
    this_thread.task = nullptr;
    UnhandledHook last_hook;  // destroyed after the lock: what it holds may wake or spawn
    const Lock lock(mutex_);
    if (inbox_first_) continue;
    if (on_unhandled_) {
      std::swap(last_hook, on_unhandled_);
      continue;
    }
    closed_ = true;
    // What is left are finished tasks whose wakers or handles live on: each keeps this alive.
    refs_.fetch_add(allocated_, memory_order_relaxed);
    break;
  }
}

PoolMetrics LocalCore::metrics() const {
  PoolMetrics metrics;
  const std::uint64_t completed = counters_.completed.get();
  metrics.spawned_tasks = counters_.spawned.get();
  metrics.alive_tasks = difference(metrics.spawned_tasks, completed);
  metrics.workers.push_back(counters_.metrics());
  return metrics;
}

// --- Other threads. ---

void LocalCore::post(TaskHeader& task, std::uint8_t messages, std::int32_t owners, Waker watcher) {
  {  // after it `watcher`, maybe the one before, is dropped
    const Lock lock(mutex_);
    if (!closed_) {
      if (watcher) std::swap(watchers_[&task], watcher);  // first: it may throw
      task.inbox.touch(messages);
      task.local.inbox_owners += owners;
      // An owner more needs no attention; an owner less may be the last.
      if (messages != 0 || owners < 0) enqueue(task);
      // Under the lock: the executor may be gone as soon as it is released.
      if (messages != 0) park_->unpark();
      return;
    }
  }
  if (watcher) return std::move(watcher).wake();  // every task is complete
  post_to_closed(task, messages, owners);
}

void LocalCore::post_wake(TaskHeader& task) { post(task, wake_it, 0); }

void LocalCore::enqueue(TaskHeader& task) noexcept {
  if (task.inbox.is_queued()) return;
  task.inbox.mark_queued();
  task.queue_next = nullptr;
  *inbox_last_ = &task;
  inbox_last_ = &task.queue_next;
  inbox_pending_.store(true, memory_order_relaxed);
}

void LocalCore::post_to_closed(TaskHeader& task, std::uint8_t messages, std::int32_t owners) {
  if (messages & adopt_it) {
    add_ref();  // as `close` did for the tasks there were
    task.vtable.cancel(task);
    task.local_state().finish();
    owners = -1;
  }
  if (messages & detach_it) {
    // The caller was the handle, so this thread alone may touch the outcome.
    if (auto error = task.vtable.discard(task)) report(task, std::move(error));
  }
  if (owners == 0) return;
  {
    const Lock lock(mutex_);
    task.local.inbox_owners += owners;
    if (task.local_state().owners() + task.local.inbox_owners != 0) return;
  }
  task.vtable.free(task);
  release();
}

// --- Both. ---

void LocalCore::set_on_unhandled(UnhandledHook hook) { on_unhandled_ = std::move(hook); }

void LocalCore::report(TaskHeader& task, std::exception_ptr error) noexcept {
  const auto hook = on_unhandled_;  // a copy: it may replace itself
  report_unhandled(hook, UnhandledException(task.id(), task.spawned_at, std::move(error),
                                            task.vtable.name(task)));
}

// --- Wakers. ---

RawWaker LocalCore::clone_waker(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (core.is_owner()) {
    task.local_state().add_owners(1);
  } else {
    core.post(task, 0, 1);
  }
  return RawWaker(data, &waker_vtable);
}

void LocalCore::wake(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (!core.is_owner()) return core.post(task, wake_it, -1);
  core.wake_task(task);
  core.drop_owner(task);
}

void LocalCore::wake_by_ref(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (!core.is_owner()) [[unlikely]]
    return core.post_wake(task);
  core.wake_task(task);
}

void LocalCore::drop_waker(const void* data) {
  auto& task = *static_cast<TaskHeader*>(const_cast<void*>(data));
  LocalCore& core = of(task);
  if (!core.is_owner()) return core.post(task, 0, -1);
  core.drop_owner(task);
}

}  // namespace rouse
