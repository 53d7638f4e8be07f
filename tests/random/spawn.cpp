// Steps that spawn tasks, or run functions on threads that may block.
#include <chrono>
#include <thread>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/blocking_pool.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/select.hpp"
#include "rouse/runtime/join_set.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/sleep.hpp"

#include "random/world.hpp"

namespace rouse::random_program {
namespace {

/// A part of this one as a task, of this runtime or the other.
JoinHandle<void> spawn_part(Env& env) {
  if (env.rng.chance(30)) {
    if (auto other = env.world->other_runtime()) return other->spawn(act, env.task_elsewhere(true));
  }
  switch (env.rng.below(3)) {
    case 0:
      return spawn(act, env.task());
    case 1:
      return task::Builder().name("part").spawn(act, env.task());
    default:
      return spawn(act(env.task()));
  }
}

Async<void> spawn_and_go_on(Env& env) {
  auto task = spawn_part(env);
  if (env.rng.chance(70)) env.elders.push_back(std::move(task));
  co_return;
}

Async<void> spawn_and_join(Env& env) {
  auto task = spawn_part(env);
  if (env.rng.chance(30)) {
    co_await wait_a_little(env);
    task.abort();
  }
  co_await task;
}

Async<void> use_join_set(Env& env) {
  JoinSet<> set;
  for (unsigned count = env.rng.between(1, 3); count > 0; --count) set.add(spawn_part(env));
  if (env.rng.chance(50)) (void)co_await set.join_next();
  switch (env.rng.below(5)) {
    case 0:
      set.abort_all();
      break;
    case 1:
      set.detach_all();
      break;
    case 2:
      co_await set.shutdown();
      break;
    case 3:
      co_return;
    default:
      break;
  }
  bool some = true;
  while (some) some = co_await set.join_next();
}

Async<void> answer(Env env, sync::OneshotSender<Token> tx) {
  auto inner = env.inner();
  co_await act(std::move(inner));
  (void)tx.send(Token());
}

Async<void> ask(Env& env) {
  auto [tx, rx] = sync::oneshot<Token>();
  auto child = env.task();
  auto task = spawn(answer, std::move(child), std::move(tx));
  if (env.rng.chance(30)) env.elders.push_back(std::move(task));
  if (env.rng.chance(30) && env.can_block()) {
    block_in_place([&] { (void)block_on(rx); });
  } else {
    const auto reply = co_await rx;
    if (reply) reply->check();
  }
}

void block_apart(Env env) {
  env.on_own_thread = true;
  env.must_end = true;
  block(env);
}

/// Ends when it says so, not when it is dropped.
Async<void> use_blocking_pool(Env& env) {
  auto call = spawn_blocking(block_apart, env.task());
  switch (env.rng.below(5)) {
    case 0:
      env.elders.push_back(std::move(call));
      break;
    case 1:
      call.abort();
      break;
    case 2:
      co_await wait_a_little(env);
      call.abort();
      break;
    default:
      co_await call;
      break;
  }
}

// --- What blocks. ---

/// In a runtime of its own, which ends here.
void run_nested(Env& env) {
  // If its workers block and there are no threads, nobody runs what block_on waits for.
  const bool of_pool = env.rng.chance(50) && env.world->plan.failing_thread == 0;
  auto builder = Runtime::builder();
  builder.on_thread_start(Threads::started).on_thread_stop(Threads::stopped);
  builder.on_unhandled([](const UnhandledException&) {});
  if (of_pool) {
    builder.worker_threads(env.rng.between(1, 2));
  } else {
    builder.current_thread();
  }
  Runtime inner = builder.build();
  Env part = env.task_elsewhere(of_pool);
  auto task = inner.spawn(act, std::move(part));
  inner.block_on(select(std::move(task), sleep(env.rng.micros(2000))));
  if (env.rng.chance(80) || env.world->plan.failing_thread != 0) return;
  env.world->leave_alone();
  inner.shutdown_background();
}

void block_or_throw(Env& env) {
  switch (env.rng.below(env.budget > 0 ? 12 : 5)) {
    case 0:
    case 1:
      env.part.is_doing("sleeps, blocking");
      return std::this_thread::sleep_for(env.rng.micros(2000));
    case 2:
    case 3:
    case 4:
      if (auto elder = env.take_elder()) {
        env.part.is_doing("blocks until a task ends");
        return block_on(*elder);
      }
      return block_on(wait_a_little(env));
    case 5:
    case 6:
    case 7: {
      auto task = spawn_part(env);
      env.part.is_doing("blocks until its own task ends");
      return block_on(task);
    }
    case 8:
      return block_on(act(env.inner()));
    case 9:
      return block_in_place([&] { block(env); });
    case 10: {
      auto call = spawn_blocking(block_apart, env.task());
      env.part.is_doing("blocks until a blocking call ends");
      return block_on(call);
    }
    default:
      return run_nested(env);
  }
}

bool blocks_elsewhere(const Env& env) { return env.may_block; }

}  // namespace

void block(Env& env) noexcept {
  const CountBlocked counted(env);
  const bool on_own_thread = std::exchange(env.on_own_thread, true);
  const bool must_end = std::exchange(env.must_end, true);
  try {
    block_or_throw(env);
  } catch (const std::exception&) {  // a task that ended, a timeout, no thread
  }
  env.on_own_thread = on_own_thread;
  env.must_end = must_end;
}

constexpr StepKind spawning[] = {
    {"spawns", spawn_and_go_on, 6, always},
    {"joins its own task", spawn_and_join, 2, always},
    {"uses a JoinSet", use_join_set, 2, always},
    {"asks a task", ask, 1, always},
    {"uses the blocking pool", use_blocking_pool, 3, blocks_elsewhere},
};
constexpr std::size_t spawning_count = std::size(spawning);

}  // namespace rouse::random_program
