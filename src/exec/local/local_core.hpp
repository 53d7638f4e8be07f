// LocalCore: the scheduler inside a LocalExecutor. It outlives the executor while wakers, handles
// or spawners refer to it or to its tasks.
//
// Tasks belong to the owner: the thread that is inside a call of the LocalExecutor at the moment
// (ThreadContext::local is this there). The owner does everything with plain loads and stores. Any
// other thread posts to the inbox, under a lock, what it wants of a task: wake, abort, watch,
// detach, adopt (a spawn), or a change in the number of owners. The owner applies it when it drains
// the inbox: between polls, and before it parks.
//
// No wake is lost: a post sets `inbox_pending_` and then unparks; the owner drains after it took
// the unpark token and before it parks, so it sees the post or the token.
//
// A task is freed when its owners, counted in its state by the owner thread and in `inbox_owners`
// by the others, are zero together and it is not in the inbox. Only the owner thread finds that
// out, so nobody touches a task that is being freed. Once the executor is closed there is no owner
// thread: then the inbox lock guards both counts, whoever comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/local_executor.hpp"

#include "exec/current.hpp"
#include "exec/run_queue.hpp"
#include "exec/thread_park.hpp"
#include "exec/worker_counters.hpp"

namespace rouse {

class LocalCore final : public Scheduler {
 public:
  explicit LocalCore(Park* park) : park_(park ? park : &own_park_) {}

  // Scheduler: any thread.
  void submit(TaskHeader& task) override;
  void watch(TaskHeader& task, const Waker& waker) override;
  void abort(TaskHeader& task) override;
  void detach(TaskHeader& task) override;
  void joined(TaskHeader& task) override;
  BlockingPool* blocking_pool() noexcept override { return blocking_pool_.get(); }
  Drivers* drivers() noexcept override { return drivers_.get(); }
  LocalCore* current_thread_runtime() noexcept override { return drivers_ ? this : nullptr; }
  PoolMetrics metrics() const;
  void add_ref() noexcept override;
  void release() noexcept override;

  // The owner's.
  /// Before it runs the first time: timers of a runtime. All that needs memory.
  void get_ready(Scheduler& spawns_on);
  void run() noexcept;
  void run_while(const std::function<bool()>& more) noexcept;
  /// The same, with `spawn` going to another scheduler.
  void run_while(const std::function<bool()>& more, Scheduler& spawns_on) noexcept;
  void close();
  std::size_t live_tasks() const noexcept { return tasks_.size(); }
  void set_on_unhandled(UnhandledHook hook);
  void add_blocking_pool(const BlockingOptions& options) {
    blocking_pool_ = std::make_unique<BlockingPool>(options, this);
  }
  void set_drivers(RefPtr<Drivers> drivers) {
    drivers_ = std::move(drivers);
    take_driver(drivers_.get());
  }

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

  // The owner's transitions of a task.
  class Owning;
  void run_as_guest_of(LocalCore& host, const std::function<bool()>& more) noexcept;
  void take_turn(LocalCore& host) noexcept;
  bool has_work() const noexcept { return !queue_.empty() || has_posts(); }
  void set_park(Park& park) noexcept;
  void take_driver(Drivers* from);
  bool sleep();
  bool nothing_runs() noexcept;
  /// Relaxed: the posts themselves are seen under the lock, and a post that is missed here unparks.
  bool has_posts() const noexcept { return inbox_pending_.load(memory_order_relaxed); }
  static void unpark_owner(void* core) noexcept;
  void adopt(TaskHeader& task) noexcept;
  [[gnu::noinline]] void make_room();
  [[gnu::noinline]] void refuse(TaskHeader& task, std::exception_ptr why) noexcept;
  [[gnu::noinline]] void forget_watchers(TaskHeader& task);
  void wake_task(TaskHeader& task);
  void poll_task(TaskHeader& task);
  void forget(TaskHeader& task);
  void complete(TaskHeader& task) noexcept;
  bool finish(TaskHeader& task) noexcept;
  void drop_owner(TaskHeader& task) noexcept;
  [[gnu::noinline]] bool is_last_owner_gone(TaskHeader& task) noexcept;
  void drain_inbox();
  void apply(TaskHeader& task, std::uint8_t messages);

  // From other threads.
  /// Tells the owner; `owners` is the change in their number, `watcher` who awaits the task.
  void post(TaskHeader& task, std::uint8_t messages, std::int32_t owners, Waker watcher = {});
  [[gnu::noinline]] void post_wake(TaskHeader& task);
  void enqueue(TaskHeader& task) noexcept;
  void post_to_closed(TaskHeader& task, std::uint8_t messages, std::int32_t owners);

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
  std::unique_ptr<BlockingPool> blocking_pool_;  // as long as this: calls may outlive the executor
  WorkerCounters counters_;
  UnhandledHook on_unhandled_;
  RefPtr<Drivers> drivers_;         // the runtime's, if this is one
  std::unique_ptr<Driver> driver_;  // its timers: of the runtime it is, or beside which it was run
  LocalCore* guest_ = nullptr;      // a LocalSet that has its turns while this is run

  // --- Shared. ---
  ThreadPark own_park_;
  atomic<bool> is_run_{false};     // a thread is the owner
  atomic<std::uint32_t> refs_{1};  // the executor, spawners; once closed, each task that is left
  atomic<bool> inbox_pending_{false};  // written under the lock
  Mutex mutex_;                        // guards all below
  bool closed_ = false;
  TaskHeader* inbox_first_ = nullptr;
  TaskHeader** inbox_last_ = &inbox_first_;
  Park* park_;  // its own or, while it is a guest, its host's; the owner may read it without
  std::unordered_map<TaskHeader*, Waker> watchers_;  // who awaits a task, until the owner knows
};

}  // namespace rouse
