// When a thread is started and when it ends. How many there may be: BlockingCore::is_full.
#include "exec/blocking/blocking_core.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "rouse/base/internal/spin_lock.hpp"

#include "base/recorder.hpp"
#include "exec/park/deadline.hpp"
#include "exec/task/current.hpp"
#include "exec/task/observe.hpp"

namespace rouse::internal {

using recorder::record;
using recorder::What;
namespace {

std::exception_ptr queue_is_full() {
  return std::make_exception_ptr(std::system_error(
      std::make_error_code(std::errc::resource_unavailable_try_again),
      "spawn_blocking: the queue of blocking calls is full: await some of them before "
      "you spawn more, or raise max_blocking_queue of the Runtime's builder "
      "(BlockingOptions::queue_capacity)"));
}

std::exception_ptr no_thread(std::error_code why) {
  return std::make_exception_ptr(std::system_error(
      why,
      "spawn_blocking: the pool has no thread and the system did not start one: raise its limit "
      "on threads (ulimit -u), or try again when other threads have ended"));
}

}  // namespace

// --- Calls come in. ---

BlockingCore::BlockingCore(BlockingOptions options, Scheduler* owner, StartThread start_thread)
    : SharedScheduler(options.on_unhandled),
      Examinable(Kind::blocking),
      options_(std::move(options)),
      start_thread_(std::move(start_thread)),
      owner_(owner) {
  ROUSE_ASSERT(
      options_.max_threads > 0,
      "BlockingOptions::max_threads is 0, so no blocking call could ever run: set at least 1");
  enroll();
}

/// The last of what refers to it is gone, maybe on the thread that ended last.
BlockingCore::~BlockingCore() {
  withdraw();
  for (sys::Thread& thread : ended_) thread.detach();
}

bool BlockingCore::accept(TaskHeader& task, bool is_mandatory) {
  add_ref();  // the task's, until it is freed
  task.is_mandatory = is_mandatory;
  Lock lock(mutex_);
  if (closed_) {
    lock.unlock();
    cancel_now(task);
    return false;
  }
  std::exception_ptr problem;
  try {
    problem = admit(task);
  } catch (const std::bad_alloc&) {  // no memory even to say why
    problem = std::current_exception();
  }
  lock.unlock();
  if (!problem) return true;
  fail_now(task, std::move(problem));
  return false;
}

/// Queues the task; or says why not.
std::exception_ptr BlockingCore::admit(TaskHeader& task) {
  const std::error_code problem = find_thread();
  if (problem && threads_.get() == 0) return no_thread(problem);
  // What a thread is on its way to does not wait.
  if (queue_.size() >= promised_ && queue_.size() - promised_ >= options_.queue_capacity) {
    return queue_is_full();
  }
  if (owner_) owner_->add_ref();
  note_spawn(task);
  queue_.push(task);
  calls_.add();
  return nullptr;
}

/// Makes sure that one more thread checks the queue, if there can be one.
std::error_code BlockingCore::find_thread() {
  if (!idle_.empty()) {
    call_idle(nullptr);
    ++promised_;
    return {};
  }
  if (is_full()) return {};
  if (const Result<void> started = start_thread(nullptr); !started) return started.error();
  threads_.add(1);
  ++promised_;
  return {};
}

void BlockingCore::call_idle(Job job) {
  Idle& idle = *idle_.back();
  idle_.pop_back();
  idle_count_.subtract(1);
  idle.job = std::move(job);
  idle.is_called = true;
  // Under the lock: it is gone as soon as its thread sees `is_called`.
  idle.called.notify_one();
}

Result<void> BlockingCore::start_thread(const Job& job) {
  try {
    idle_.reserve(live_.size() + 1);  // so that becoming idle can't fail
    Threads started(1);
    const auto self = started.begin();
    auto thread = start_thread_(
        sys::ThreadOptions{.name = options_.thread_name, .stack_size = options_.stack_size},
        [core = RefPtr<BlockingCore>::share(this), self, job = Job(job)]() mutable {
          core->thread_main(self, std::move(job));
        });
    if (!thread) return thread.error();
    *self = *std::move(thread);
    live_.splice(live_.end(), started);
    return {};
  } catch (const std::bad_alloc&) {
    return std::errc::not_enough_memory;
  }
}

Result<void> BlockingCore::run_thread(const Job& job) {
  const Lock lock(mutex_);
  if (closed_ && !is_own_thread()) return std::errc::operation_canceled;
  return find_thread_for(job);
}

Result<void> BlockingCore::find_thread_for(const Job& job) {
  if (idle_.empty()) return start_thread(job);
  call_idle(job);
  threads_.subtract(1);
  return {};
}

Result<void> BlockingCore::replace_thread(const Job& job) {
  const Lock lock(mutex_);
  const bool leaves_none_for_calls = replaced_.get() + 1 >= options_.max_threads;
  if (leaves_none_for_calls || (idle_.empty() && is_full())) {
    return std::errc::resource_unavailable_try_again;
  }
  Result<void> found = find_thread_for(job);
  if (found) {
    replaced_.add(1);
    this_thread.is_replaced = true;
  }
  return found;
}

void BlockingCore::enqueue(TaskHeader&, Turn) noexcept {
  ROUSE_ASSERT(false, "a blocking call was woken: it is never pending");
}

// --- A thread. ---

void BlockingCore::thread_main(Threads::iterator self, Job job) noexcept {
  notice_thread_end();
  if (options_.on_thread_start) options_.on_thread_start();
  {
    Lock lock(mutex_);
    if (!job) --promised_;
    while (job ? run_job(lock, job) : run_calls(lock, job)) {
    }
  }
  if (options_.on_thread_stop) options_.on_thread_stop();
  end_thread(self);
}

/// True: it goes on with calls.
bool BlockingCore::run_job(Lock& lock, Job& job) {
  lock.unlock();
  job();
  job = nullptr;
  const bool was_replaced = this_thread.is_replaced;
  this_thread = ThreadContext();
  lock.lock();
  if (was_replaced) replaced_.subtract(1);
  if (closed_ || is_full()) return false;
  threads_.add(1);
  return true;
}

/// True: it goes on, with `next_job` if there is one.
bool BlockingCore::run_calls(Lock& lock, Job& next_job) {
  while (TaskHeader* task = queue_.pop()) {
    Call call(*task);
    call.insert_before(running_);
    lock.unlock();
    run_call(*task);
    lock.lock();
    call.unlink();
  }
  if (wait_for_work(lock, next_job)) return true;
  threads_.subtract(1);
  return false;
}

bool BlockingCore::wait_for_work(Lock& lock, Job& next_job) {
  if (closed_) return false;
  Idle idle;
  idle_.push_back(&idle);
  idle_count_.add(1);
  const Deadline deadline(options_.keep_alive);
  while (!idle.is_called && !closed_ && deadline.wait(idle.called, lock)) {
  }
  if (idle.is_called) {
    next_job = std::move(idle.job);
    if (!next_job) --promised_;
    return true;
  }
  std::erase(idle_, &idle);
  idle_count_.subtract(1);
  return false;
}

void BlockingCore::run_call(TaskHeader& task) noexcept {
  this_thread.scheduler = owner_;
  this_thread.may_block = true;
  const std::uint32_t tag = task.tag();
  record(What::call, tag, std::bit_cast<std::uint64_t>(task.spawned_at));
  {
    const WithDriverContext driver_context(shared_context_of(owner_));
    const Ran ran = run(task, nullptr);
    ROUSE_ASSERT(ran == Ran::done, "a blocking call was pending");
  }
  this_thread = ThreadContext();
  record(What::call_end, tag);
  if (owner_) owner_->release();
}

void BlockingCore::end_thread(Threads::iterator self) noexcept {
  Threads before;
  {
    const Lock lock(mutex_);
    before.swap(ended_);
    ended_.splice(ended_.end(), live_, self);
    if (live_.empty()) all_ended_.notify_all();
  }
  for (sys::Thread& thread : before) thread.join();
}

// --- The end. ---

void BlockingCore::close() noexcept {
  TaskList cancelled;
  {
    const Lock lock(mutex_);
    closed_ = true;
    for (std::size_t left = queue_.size(); left != 0; --left) {
      TaskHeader& task = *queue_.pop();
      (task.is_mandatory ? queue_ : cancelled).push(task);
    }
    for (Idle* idle : idle_) idle->called.notify_one();
  }
  while (TaskHeader* task = cancelled.pop()) {
    cancel_now(*task);
    if (owner_) owner_->release();
  }
}

bool BlockingCore::wait(std::chrono::nanoseconds timeout) {
  const Deadline deadline(timeout);
  Threads ended;
  {
    Lock lock(mutex_);
    ROUSE_ASSERT(
        closed_,
        "BlockingPool::wait before close, so its threads would not end: call close() first");
    if (is_own_thread()) return false;
    while (!live_.empty()) {
      if (!deadline.wait(all_ended_, lock)) return false;
    }
    ended.swap(ended_);
  }
  for (sys::Thread& thread : ended) thread.join();
  return true;
}

bool BlockingCore::is_own_thread() const noexcept {
  return std::any_of(live_.begin(), live_.end(),
                     [](const sys::Thread& thread) { return thread.is_current(); });
}

// --- An examiner. ---

BlockingCore::Call::Call(const TaskHeader& task) noexcept
    : id(task.id()), spawned_at(task.spawned_at), name{} {
  if (task.name() != nullptr) std::strncpy(name, task.name(), sizeof name - 1);
}

void BlockingCore::examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) {
  using State = SeenTask::State;
  // It is held while a thread is started, which takes memory.
  Lock lock(mutex_, std::try_to_lock);
  const Deadline deadline(patience);
  for (unsigned attempt = 0; !lock.owns_lock() && !lock.try_lock(); ++attempt) {
    if (deadline.left() == std::chrono::nanoseconds(0)) {
      return visitor.cannot_see("its lock is held, while it starts a thread: dump again");
    }
    back_off(attempt);
  }
  for (const internal::RingLink* link = running_.next(); link != &running_; link = link->next()) {
    const auto& call = static_cast<const Call&>(*link);
    visitor.see(SeenTask(call.id, call.name[0] == 0 ? nullptr : call.name, call.spawned_at,
                         State::blocking));
  }
  queue_.for_each([&](const TaskHeader& task) {
    visitor.see(SeenTask(task.id(), task.name(), task.spawned_at, State::queued));
  });
}

BlockingMetrics BlockingCore::metrics() const noexcept {
  BlockingMetrics metrics;
  metrics.threads = threads_.get() + replaced_.get();
  metrics.idle_threads = idle_count_.get();
  metrics.queue_depth = queue_.size();
  metrics.calls = calls_.get();
  return metrics;
}

SchedulerMetrics BlockingCore::figures() const noexcept {
  SchedulerMetrics figures;
  figures.blocking = metrics();
  return figures;
}

bool BlockingCore::is_idle() noexcept {
  const Lock lock(mutex_);
  return queue_.size() == 0 && idle_.size() == threads_.get();
}

}  // namespace rouse::internal
