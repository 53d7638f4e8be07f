// LocalCore: the scheduler inside a LocalExecutor. It outlives the executor while wakers, handles
// or spawners refer to it or to its tasks.
//
// Tasks belong to the owner: the thread that is currently inside a call of the LocalExecutor (there
// ThreadContext::local is this; see ownership.hpp). The owner does everything with plain loads and
// stores. Any other thread posts to the inbox, under a lock, what it wants of a task: wake, abort,
// watch, detach, adopt (a spawn), or a change of the reference count. The owner applies it when it
// drains the inbox: between polls, and before it parks.
//
// No wake is lost: a post sets `inbox_pending_` and then unparks; the owner drains after it took
// the unpark token and before it parks, so it sees the post or the token.
//
// A LocalSet that a task awaits (poll_inside) has an owner only inside the polls of that task, and
// no park. The task leaves its waker here before it drains the inbox; a later post takes that waker
// and wakes it, after the lock: so the task sees the post or is woken.
//
// A task is freed when its reference counts, in its state (by the owner thread) and in
// `inbox_refs` (by the others), add up to zero and it is not in the inbox. Only the owner thread
// finds that out, so nobody touches a task that is being freed. Once the executor is closed there
// is no owner thread: then the inbox lock guards both counts for everybody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rouse/base/internal/recording.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/local_executor.hpp"
#include "rouse/exec/thread_pool.hpp"

#include "exec/local/ownership.hpp"
#include "exec/local/run_queue.hpp"
#include "exec/park/thread_park.hpp"
#include "exec/task/current.hpp"
#include "exec/task/examinable.hpp"
#include "exec/task/watching.hpp"
#include "exec/task/worker_counters.hpp"
#include "exec/task/worker_watch.hpp"

namespace rouse::internal {

class LocalCore final : public Scheduler, public Examinable {
 public:
  explicit LocalCore(Park* park) : Examinable(Kind::local), park_(park ? park : &own_park_) {
    enroll();
  }
  ~LocalCore() override { withdraw(); }

  // Scheduler: any thread.
  void submit(TaskHeader& task) override;
  void watch(TaskHeader& task, const Waker& waker) override;
  void abort(TaskHeader& task) override;
  void detach(TaskHeader& task) override;
  void joined(TaskHeader& task) override;
  Waker waker_of(TaskHeader& task) override;
  BlockingPool* blocking_pool() noexcept override { return blocking_pool_.get(); }
  TimerDrivers* drivers() noexcept override { return drivers_.get(); }
  LocalCore* current_thread_runtime() noexcept override { return drivers_ ? this : nullptr; }
  PoolMetrics metrics() const;
  void add_ref() noexcept override;
  void release() noexcept override;

  // Examinable: local_examine.cpp.
  void examine(TaskVisitor& visitor, std::chrono::nanoseconds patience) override;
  void examine_at_once(std::span<const TaskId> ids, TaskVisitor& visitor) override;
  void show_polls(PollVisitor& visitor) noexcept override;
  void release_examined() noexcept override { release(); }
  SchedulerMetrics figures() const noexcept override;
  std::size_t workers() const noexcept override { return 1; }
  WorkerMetrics worker(std::size_t) const noexcept override { return counters_.metrics(); }
  bool find_watch(std::size_t index, const WorkerWatch*& watch) const noexcept override;

  /// Makes this thread the owner, which must be the only one. A guest gives way first.
  void own() noexcept;
  void leave() noexcept { ownership_.leave(); }

  // The owner's.
  /// Before it first runs: prepares the timers of a runtime, and everything else that needs memory.
  void prepare_to_run(Scheduler& spawns_on);
  void run() noexcept;
  void run_while(internal::FunctionRef<bool()> more) noexcept;
  /// The same, with `spawn` going to another scheduler. If that is a current-thread runtime which
  /// no owner runs, this thread runs both.
  void run_while(internal::FunctionRef<bool()> more, Scheduler& spawns_on) noexcept;
  /// A turn inside the poll of a task that awaits this. Polls `first`, in whose calls `spawn_local`
  /// comes here, and unless that is done (true), some tasks. What is posted from now on wakes `cx`.
  /// `is_done`: there is no task left.
  bool poll_inside(Context& cx, internal::FunctionRef<bool()> first, bool& is_done);
  /// The task does not await this any more.
  void stop_awaiting() noexcept;
  void await_with(const Waker& waker);
  /// The last owner's: not between `own` and `leave`.
  void close();
  std::size_t live_tasks() const noexcept { return tasks_.size(); }
  void set_on_unhandled(UnhandledHook hook);
  void add_blocking_pool(const BlockingOptions& options) {
    blocking_pool_ = std::make_unique<BlockingPool>(options, this);
  }
  void set_drivers(RefPtr<TimerDrivers> drivers) {
    drivers_ = std::move(drivers);
    take_driver(drivers_.get());
    // ORDER: release; publishes them to who reads metrics.
    shown_drivers_.store(drivers_.get(), memory_order_release);
  }

  void set_hooks(const ThreadPoolOptions& options);

  static const RawWakerVTable waker_vtable;

 private:
  enum Message : std::uint8_t {
    wake_it = 1,
    abort_it = 2,
    detach_it = 4,
    adopt_it = 8,
    watch_it = 16,
  };

  static LocalCore& of(TaskHeader& task) noexcept {
    return static_cast<LocalCore&>(task.scheduler);
  }
  bool is_owner() const noexcept { return this_thread.local == this; }
  /// And there is nobody to tell.
  bool is_quiet_owner() const noexcept { return is_owner() && !is_recording(); }
  bool is_run_here() const noexcept;

  // The owner's transitions of a task.
  class Running;
  void run_alone(internal::FunctionRef<bool()> more, Scheduler& spawns_on) noexcept;
  void run_as_guest_of(LocalCore& host, internal::FunctionRef<bool()> more) noexcept;
  void take_turn(LocalCore& host) noexcept;
  bool has_work() const noexcept { return !queue_.empty() || has_posts(); }
  void set_park(Park& park) noexcept;
  void take_driver(TimerDrivers* from);
  void abandon() noexcept;
  void fire_timers() noexcept;
  bool sleep();
  bool nothing_runs() noexcept;
  /// Relaxed: the posts themselves are seen under the lock, and a post that is missed here unparks.
  bool has_posts() const noexcept { return inbox_pending_.load(memory_order_relaxed); }
  static void unpark_owner(void* core) noexcept;
  void adopt(TaskHeader& task) noexcept;
  [[gnu::noinline]] void adopt_specially(TaskHeader& task) noexcept;
  void tell_end(const TaskHeader& task) noexcept;
  [[gnu::noinline]] void complete_hooked(TaskHeader& task) noexcept;
  [[gnu::noinline]] void make_room();
  [[gnu::noinline]] void refuse(TaskHeader& task, std::exception_ptr why) noexcept;
  [[gnu::noinline]] void drop_watchers(TaskHeader& task);
  void wake_task(TaskHeader& task);
  [[gnu::noinline]] void note_own_wake(const TaskHeader& task) noexcept;
  unsigned poll_some(unsigned at_most);
  [[gnu::noinline]] void poll_up_to(unsigned at_most);
  [[gnu::noinline]] unsigned poll_some_observed(unsigned at_most);
  template <class Watch>
  [[gnu::always_inline]] void poll_task(TaskHeader& task, Watch& watch);
  void detach_now(TaskHeader& task);
  void complete(TaskHeader& task) noexcept;
  void end_task(TaskHeader& task) noexcept;
  bool finish(TaskHeader& task) noexcept;
  void drop_ref(TaskHeader& task) noexcept;
  [[gnu::noinline]] bool is_last_ref_gone(TaskHeader& task) noexcept;
  void drain_inbox();
  void apply(TaskHeader& task, std::uint8_t messages);

  // local_examine.cpp.
  struct Request;
  bool try_add_ref() noexcept override { return try_add_ref_to(refs_); }
  PollUnderWay poll_under_way() const noexcept;
  void answer() noexcept;
  void show_tasks(TaskVisitor& visitor);

  // From other threads.
  /// Tells the owner; `refs` is the change in the number of references, `watcher` who awaits the
  /// task.
  void post(TaskHeader& task, std::uint8_t messages, std::int32_t refs, Waker watcher = {});
  [[gnu::noinline]] void submit_slowly(TaskHeader& task);
  [[gnu::noinline]] void post_wake(TaskHeader& task, std::int32_t refs);
  void enqueue(TaskHeader& task) noexcept;
  void post_to_closed(TaskHeader& task, std::uint8_t messages, std::int32_t refs);

  void report(TaskHeader& task, std::exception_ptr error) noexcept;

  // Waker functions.
  static RawWaker clone_waker(const void* data);
  static void wake(const void* data);
  static void wake_by_ref(const void* data);
  static void drop_waker(const void* data);

  // --- The owner's. ---
  RunQueue queue_;
  std::vector<TaskHeader*> tasks_;  // every unfinished task, at its `index`
  std::uint32_t allocated_ = 0;     // tasks adopted and not freed
  std::uint32_t room_ = 0;          // for so many of them, in `tasks_` and `queue_`
  bool closing_ = false;
  bool adopts_specially_ = false;                // it is closing, or a hook asks for new tasks
  std::unique_ptr<BlockingPool> blocking_pool_;  // as long as this: calls may outlive the executor
  WorkerCounters counters_;
  WatchPlace watch_;
  bool samples_wakes_ = false;  // as long as polls are watched
  bool notes_wakes_ = false;    // or recorded: the one thing that a wake asks for
  PolledBy polled_by_;          // while it may poll: not while it sleeps, or a guest has its turn
  UnhandledHook on_unhandled_;
  std::unique_ptr<const ThreadPoolOptions> hooks_;  // null: none
  RefPtr<TimerDrivers> drivers_;                    // the runtime's, if this is one
  internal::Box<TimerDriver>
      driver_;  // its timers: of the runtime it is, or beside which it was run
  const TimerDrivers* driver_of_ = nullptr;  // where that is from, which it keeps alive
  LocalCore* guest_ = nullptr;               // a LocalSet that has its turns while this is run
  const ThreadContext* run_in_ = nullptr;    // the owner's, for debuggers: which task it polls

  // --- Shared. ---
  atomic<const TimerDrivers*> shown_drivers_{nullptr};  // `drivers_`, once
  ThreadPark own_park_;
  Ownership ownership_;
  atomic<std::uint32_t> refs_{1};  // the executor, spawners; once closed, each task that is left
  atomic<bool> inbox_pending_{false};  // written under the lock
  Mutex mutex_;                        // guards all below
  bool closed_ = false;
  Waker awaiter_;                      // of the future that polled this last; who takes it wakes it
  std::vector<Waker> other_awaiters_;  // of others, which go on when that one has ended
  TaskHeader* inbox_first_ = nullptr;
  TaskHeader** inbox_last_ = &inbox_first_;
  Park* park_;  // its own or, while it is a guest, its host's; the owner may read it without
  Request* request_ = nullptr;                       // of an examiner, until the owner has seen it
  std::unordered_map<TaskHeader*, Waker> watchers_;  // who awaits a task, until the owner knows
};

}  // namespace rouse::internal
