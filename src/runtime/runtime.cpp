#include "rouse/runtime/runtime.hpp"

#include <memory>
#include <stdexcept>

#include "runtime/drivers.hpp"
#include "sys/cpu.hpp"
#include "sys/thread.hpp"

namespace rouse {

using namespace internal;
namespace {

/// IdleWorkers counts in 16 bits; nobody has that many CPUs.
constexpr std::size_t max_workers = 0x7fff;

void require(bool ok, const char* setting, const std::string& what) {
  if (!ok) throw std::invalid_argument(std::string("rouse::Runtime: ") + setting + what);
}

}  // namespace

/// One of the two; each has a BlockingPool inside.
struct Runtime::Parts {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<LocalExecutor> local;
};

Runtime::Runtime() : Runtime(RuntimeBuilder().build()) {}
Runtime::Runtime(internal::Box<Parts> parts) noexcept : parts_(std::move(parts)) {}
Runtime::Runtime(Runtime&& other) noexcept = default;
Runtime& Runtime::operator=(Runtime&& other) noexcept {
  if (this != &other) {
    const Runtime ended = std::move(*this);
    parts_ = std::move(other.parts_);
  }
  return *this;
}

Runtime::~Runtime() {
  if (!parts_) return;
  if (is_exiting_inside_task()) {
    abandon();
    return;
  }
  refuse_to_block(
      "destroying a Runtime waits for its end: inside a task say shutdown_background(), or destroy "
      "it in spawn_blocking");
  shutdown_timeout(std::chrono::nanoseconds::max());
}

/// For a static Runtime when a task calls std::exit. The runtime can't wait, as that task never
/// returns, and a background shutdown would cancel what other threads wait for, for instance main,
/// which would throw before the program is gone. So nothing is shut down.
void Runtime::abandon() noexcept {
  static constinit atomic<Parts*> kept{nullptr};  // for leak checkers
  kept.store(parts_.release(), memory_order_relaxed);
}

RuntimeBuilder Runtime::builder() { return RuntimeBuilder(); }

Runtime::Parts& Runtime::parts() const noexcept {
  ROUSE_ASSERT(
      parts_,
      "use of a Runtime that was moved from or shut down: use the one it went to, or read its "
      "metrics before you end it");
  return *parts_;
}

Scheduler& Runtime::scheduler() const noexcept {
  const Parts& has = parts();
  return has.pool ? has.pool->scheduler() : has.local->scheduler();
}
Spawner Runtime::spawner() const { return Spawner(RefPtr<Scheduler>::share(&scheduler())); }
EnterGuard Runtime::enter() const { return EnterGuard(RefPtr<Scheduler>::share(&scheduler())); }
BlockingPool& Runtime::blocking_pool() const noexcept { return *scheduler().blocking_pool(); }

void Runtime::run_until_ready(internal::BlockedFuture& future, std::source_location where) {
  internal::refuse_to_block("Runtime::block_on");
  if (LocalExecutor* local = parts().local.get()) return local->run_until_ready(future, where);
  // First: once the task is there, nothing may keep this from waiting.
  internal::ThreadWaker thread(nullptr);
  auto task = spawn(internal::ByReference(future), where);
  internal::block_on_with(thread, task);
}

bool Runtime::shutdown_timeout(std::chrono::nanoseconds timeout) {
  const internal::Box<Parts> ended = std::move(parts_);
  if (!ended) return true;
  if (timeout > std::chrono::nanoseconds(0)) {
    refuse_to_block("Runtime::shutdown_timeout: inside a task say shutdown_background()");
  }
  if (ended->pool) return ended->pool->shutdown(timeout);
  const auto core = RefPtr<Scheduler>::share(&ended->local->scheduler());
  ended->local.reset();
  return core->blocking_pool()->wait(timeout);
}

RuntimeMetrics Runtime::metrics() const {
  const Parts& has = parts();
  RuntimeMetrics metrics;
  static_cast<PoolMetrics&>(metrics) = has.pool ? has.pool->metrics() : has.local->metrics();
  metrics.blocking = blocking_pool().metrics();
  metrics.io = scheduler().drivers()->io_metrics();
  return metrics;
}

// --- The builder. ---

RuntimeBuilder::RuntimeBuilder() { options_.threads.thread_name = "rouse"; }

RuntimeBuilder& RuntimeBuilder::worker_threads(std::size_t count) {
  workers_ = count;
  workers_set_ = true;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::current_thread() {
  current_thread_ = true;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::thread_name(std::string name) {
  options_.threads.thread_name = std::move(name);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::thread_stack_size(std::size_t bytes) {
  stack_size_set_ = true;
  options_.threads.stack_size = bytes;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_thread_start(Function<void()> hook) {
  options_.threads.on_thread_start = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_thread_stop(Function<void()> hook) {
  options_.threads.on_thread_stop = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_thread_park(Function<void()> hook) {
  options_.on_thread_park = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_thread_unpark(Function<void()> hook) {
  options_.on_thread_unpark = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_task_spawn(TaskHook hook) {
  options_.on_task_spawn = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_task_terminate(TaskHook hook) {
  options_.on_task_terminate = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::on_unhandled(UnhandledHook hook) {
  options_.threads.on_unhandled = std::move(hook);
  return *this;
}
RuntimeBuilder& RuntimeBuilder::max_blocking_threads(std::size_t count) {
  options_.threads.max_threads = count;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::max_blocking_queue(std::size_t count) {
  options_.threads.queue_capacity = count;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::blocking_keep_alive(std::chrono::nanoseconds time) {
  options_.threads.keep_alive = time;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::global_queue_interval(unsigned polls) {
  options_.global_queue_interval = polls;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::event_interval(unsigned polls) {
  options_.event_interval = polls;
  return *this;
}
RuntimeBuilder& RuntimeBuilder::start_paused() {
  start_paused_ = true;
  return *this;
}

void RuntimeBuilder::check() const {
  require(
      !(current_thread_ && workers_set_), "worker_threads",
      " together with current_thread: a current-thread runtime has no workers, say one of them");
  require(
      !workers_set_ || workers_ > 0, "worker_threads",
      "(0): at least one worker is needed; leave it out for one a CPU, or say current_thread()");
  require(workers_ <= max_workers, "worker_threads",
          "(" + std::to_string(workers_) + "): at most " + std::to_string(max_workers));
  require(!start_paused_ || current_thread_ || (workers_set_ && workers_ == 1), "start_paused",
          ": only a runtime that runs tasks on one thread has a clock that can be paused; say "
          "current_thread() or worker_threads(1)");
  const std::size_t stack = options_.threads.stack_size;
  require(!stack_size_set_ || stack >= sys::min_stack_size(), "thread_stack_size",
          "(" + std::to_string(stack) + "): the system needs at least " +
              std::to_string(sys::min_stack_size()) + " bytes; leave it out for its default");
  require(options_.threads.max_threads > 0, "max_blocking_threads",
          "(0): at least one is needed to run blocking calls");
  require(options_.threads.queue_capacity > 0, "max_blocking_queue",
          "(0): at least one call must be able to wait");
  require(options_.threads.keep_alive >= std::chrono::nanoseconds(0), "blocking_keep_alive",
          ": a time can't be negative; 0 lets threads end at once");
  require(options_.global_queue_interval > 0, "global_queue_interval",
          "(0): at least 1, the number of polls between two looks");
  require(options_.event_interval > 0, "event_interval",
          "(0): at least 1, the number of polls between two looks");
}

Runtime RuntimeBuilder::build() const {
  check();
  auto parts = internal::make_box<Runtime::Parts>();
  if (current_thread_) {
    auto drivers = make_drivers(1, start_paused_);
    parts->local = std::make_unique<LocalExecutor>(drivers->park());
    parts->local->add_blocking_pool(options_.threads);
    parts->local->set_drivers(std::move(drivers));
    parts->local->set_hooks(options_);
    if (options_.threads.on_unhandled) parts->local->on_unhandled(options_.threads.on_unhandled);
  } else {
    ThreadPoolOptions options = options_;
    options.workers = workers_set_ ? workers_ : sys::available_cpus();
    auto drivers = make_drivers(options.workers, start_paused_);
    options.io_driver = &drivers->park();
    options.timer_drivers = std::move(drivers);
    parts->pool = std::make_unique<ThreadPool>(std::move(options));
  }
  return Runtime(std::move(parts));
}

}  // namespace rouse
