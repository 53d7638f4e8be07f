#include "random/world.hpp"

#include <array>
#include <mutex>

namespace rouse::random_program {

const std::array<TaskLocal<Tag>, local_count> locals{};

Poll<void> Halfway::poll(Context& cx) {
  if (!future_) return Poll<void>::ready();
  try {
    if (future_->poll(cx).is_pending()) return pending;
  } catch (...) {
    future_.reset();
    throw;
  }
  future_.reset();
  return Poll<void>::ready();
}

World::World(const Plan& of_plan)
    : plan(of_plan),
      channels{Bounded(1), Bounded(2), Bounded(8)},
      unbounded(sync::unbounded<Token>()),
      semaphores{sync::Semaphore(1), sync::Semaphore(2)} {
  broadcast_.emplace(sync::broadcast<Token>(4).first);
  watched_.emplace(sync::watch<Token>(Token()).first);
}

void World::close() noexcept {
  std::optional<Broadcast> broadcast;
  std::optional<Watched> watched;
  {
    const std::lock_guard lock(mutex_);
    broadcast.swap(broadcast_);
    watched.swap(watched_);
  }
  for (Bounded& channel : channels) channel.rx.clone().close();
  unbounded.second.clone().close();
  for (sync::Semaphore& semaphore : semaphores) semaphore.close();
}

std::optional<World::Broadcast> World::broadcast() {
  const std::lock_guard lock(mutex_);
  return broadcast_;
}

std::optional<World::Watched> World::watched() {
  const std::lock_guard lock(mutex_);
  return watched_;
}

std::optional<Spawner> World::other_runtime() {
  const std::lock_guard lock(mutex_);
  return other_;
}

void World::set_other_runtime(std::optional<Spawner> spawner) {
  const std::lock_guard lock(mutex_);
  other_.swap(spawner);
}

void World::abandon(Halfway future) {
  const std::lock_guard lock(mutex_);
  abandoned_.push_back(std::move(future));
}

std::optional<Halfway> World::adopt() {
  const std::lock_guard lock(mutex_);
  if (abandoned_.empty()) return std::nullopt;
  std::optional<Halfway> last(std::move(abandoned_.back()));
  abandoned_.pop_back();
  return last;
}

void check_locals(const Expected& expected) noexcept {
  for (std::size_t i = 0; i < local_count; ++i) {
    const Tag* tag = locals[i].try_get();
    const int seen = tag ? static_cast<int>(tag->number()) : Expected::none;
    if (expected.number[i] != Expected::any && expected.number[i] != seen) {
      fail("a TaskLocal has not the value it should have");
    }
  }
}

Env Env::inner() {
  const unsigned share = budget == 0 ? 0 : rng.between(1, budget);
  budget -= share;
  Env env(*world, rng.next(), share == 0 ? 0 : share - 1);
  env.at_home = at_home;
  env.on_pool = on_pool;
  env.on_own_thread = on_own_thread;
  env.may_block = may_block;
  env.must_end = must_end;
  env.wanders = wanders;
  env.traced = traced;
  env.expected = expected;
  while (!elders.empty() && rng.chance(40)) env.elders.push_back(*take_elder());
  return env;
}

Env Env::branch() {
  Env env = inner();
  env.on_own_thread = false;
  if (traced) env.expected.forget();
  return env;
}

Env Env::task_elsewhere(bool of_pool) {
  Env env = task();
  env.at_home = false;
  env.on_pool = of_pool;
  return env;
}

Env Env::task() {
  Env env = inner();
  env.on_own_thread = false;
  env.may_block = true;
  env.must_end = false;
  env.wanders = false;
  env.traced = false;
  env.expected = Expected();
  return env;
}

namespace {
thread_local bool is_counted = false;
}  // namespace

CountBlocked::CountBlocked(const Env& env) noexcept : counts_(env.at_home && !is_counted) {
  if (!counts_) return;
  is_counted = true;
  BlockedThreads::one_more();
}
CountBlocked::~CountBlocked() {
  if (!counts_) return;
  is_counted = false;
  BlockedThreads::one_less();
}

std::optional<JoinHandle<void>> Env::take_elder() {
  if (elders.empty()) return std::nullopt;
  std::optional<JoinHandle<void>> elder(std::move(elders.back()));
  elders.pop_back();
  return elder;
}

}  // namespace rouse::random_program
