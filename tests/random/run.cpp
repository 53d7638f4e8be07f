#include "random/run.hpp"

#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "rouse/exec/block_on.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/time/sleep.hpp"

#include "random/world.hpp"

namespace rouse::random_program {
namespace {

using namespace std::chrono_literals;

/// Closes the world's channels when the task that holds it is destroyed.
class Closer {
 public:
  explicit Closer(World& world) noexcept : world_(&world), part_(0) {
    part_.is_doing("keeps the channels open");
  }
  Closer(Closer&& other) noexcept
      : world_(std::exchange(other.world_, nullptr)), part_(std::move(other.part_)) {}
  Closer& operator=(Closer&&) = delete;
  ~Closer() {
    if (world_) world_->close();
  }

 private:
  World* world_;
  Part part_;
};

Async<void> keep(Closer) { co_await pending_forever<>(); }

class Program {
 public:
  explicit Program(const Plan& plan) : plan_(plan), world_(plan) {}

  void run() {
    try {
      start();
    } catch (const std::system_error&) {  // no threads: what was started is ended all the same
    }
    if (runtime_) {
      if (plan_.finite) {
        run_to_its_end();
      } else {
        run_for(plan_.end_after);
      }
    }
    end();
    for (auto& task : tasks_) join(task);
  }

 private:
  static RuntimeBuilder builder(const Plan& plan, unsigned workers) {
    auto builder = Runtime::builder();
    builder.on_thread_start(Threads::started).on_thread_stop(Threads::stopped);
    builder.on_unhandled([](const UnhandledException&) {});
    if (workers == 0) {
      builder.current_thread();
    } else {
      builder.worker_threads(workers);
    }
    if (plan.max_blocking != 0) builder.max_blocking_threads(plan.max_blocking);
    return builder;
  }

  void start() {
    if (plan_.other_workers != 0) {
      other_.emplace(builder(plan_, plan_.other_workers).build());
      world_.set_other_runtime(other_->spawner());
    }
    BlockedThreads::set_limit(plan_.workers + (plan_.max_blocking ? plan_.max_blocking : 512));
    runtime_.emplace(builder(plan_, plan_.workers).build());
    runtime_->spawn(keep, Closer(world_)).detach();
    Rng rng(plan_.seed);
    for (unsigned i = 0; i < plan_.roots; ++i) {
      Env root(world_, rng.next(), plan_.budget);
      root.on_pool = plan_.workers != 0;
      root.at_home = true;
      tasks_.push_back(runtime_->spawn(act, std::move(root)));
    }
  }

  void run_for(Micros time) {
    if (plan_.workers == 0) {
      runtime_->block_on(sleep(time));
    } else {
      std::this_thread::sleep_for(time);
    }
  }

  /// Nothing waits for what comes from outside any more.
  void run_to_its_end() {
    run_for(plan_.end_after);
    world_.close();
    while (Part::live() > 1) run_for(100us);  // the Closer's
  }

  /// Both at a time: their tasks may wait for each other.
  void end() {
    std::thread ends_other;
    if (other_) {
      ends_other = std::thread([this] {
        if (!plan_.finite) std::this_thread::sleep_for(plan_.other_end_after);
        world_.set_other_runtime(std::nullopt);
        other_.reset();
      });
    }
    if (runtime_) end_runtime();
    if (ends_other.joinable()) ends_other.join();
    drop_abandoned();
    if (is_gone_ && !world_.is_left_alone() && (Part::live() != 0 || Threads::live() != 0)) {
      Part::print_all();
      fail("the runtimes are gone, but not all that was in them");
    }
    for (; Part::live() != 0 || Threads::live() != 0; drop_abandoned()) {
      std::this_thread::sleep_for(100us);
    }
  }
  void drop_abandoned() {
    while (world_.adopt()) {
    }
  }

  void end_runtime() {
    switch (plan_.end) {
      case End::destructor:
        return runtime_.reset();
      case End::shutdown_timeout:
        is_gone_ = runtime_->shutdown_timeout(plan_.end_timeout);
        return;
      case End::shutdown_background:
        is_gone_ = false;
        return runtime_->shutdown_background();
      case End::by_a_task: {
        is_gone_ = false;
        const Spawner spawner = runtime_->spawner();
        return join_in_background(spawner.spawn(end_inside, *std::exchange(runtime_, {})));
      }
    }
  }
  static Async<void> end_inside(Runtime runtime) {
    runtime.shutdown_background();
    co_return;
  }
  void join_in_background(JoinHandle<void> task) { tasks_.push_back(std::move(task)); }

  static void join(JoinHandle<void>& task) {
    try {
      block_on(task);
    } catch (const std::exception&) {  // it was cancelled, or failed
    }
  }

  const Plan& plan_;
  World world_;
  std::vector<JoinHandle<void>> tasks_;
  std::optional<Runtime> other_;
  std::optional<Runtime> runtime_;
  bool is_gone_ = true;
};

}  // namespace

void run(const Plan& plan) {
  Part::start_anew();
  fail_threads(plan.failing_thread, plan.seed);
  Program(plan).run();
  fail_threads(0, 0);
  if (Token::live() != 0) fail("objects of the program are left");
}

}  // namespace rouse::random_program
