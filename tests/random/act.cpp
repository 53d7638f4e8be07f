// The parts of a program, and the steps that have no parts of their own.
#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/io/read.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "random/world.hpp"

namespace rouse::random_program {
namespace {

Async<void> yield(Env&) { co_await yield_now(); }
Async<void> sleep_shortly(Env& env) { co_await sleep(env.rng.micros(3000)); }
Async<void> wait_for_ever(Env&) { co_await pending_forever<>(); }

World::Bounded& some_channel(Env& env) {
  return env.world->channels[env.rng.below(static_cast<unsigned>(env.world->channels.size()))];
}

Async<void> send(Env& env) {
  const auto tx = some_channel(env).tx;
  (void)co_await tx.send(Token());
}

/// What the future gives; or TimedOut, where it must not wait for ever.
template <class F>
Async<output_t<F>> in_time(Env& env, F future) {
  if (!env.waits_must_end() && env.rng.chance(50)) co_return co_await future;
  co_return co_await timeout(env.rng.micros(2000), std::move(future));
}

Async<void> receive(Env& env) {
  auto rx = some_channel(env).rx.clone();
  const auto message = co_await in_time(env, rx.recv());
  if (message) message->check();
}

Async<void> receive_many(Env& env) {
  auto rx = some_channel(env).rx.clone();
  std::vector<Token> messages;
  (void)co_await in_time(env, rx.recv_many(messages, 4));
}

Async<void> send_unbounded(Env& env) {
  (void)env.world->unbounded.first.send(Token());
  co_return;
}

Async<void> receive_unbounded(Env& env) {
  auto rx = env.world->unbounded.second.clone();
  const auto message = co_await rx.recv();
  if (message) message->check();
}

Async<void> use_broadcast(Env& env) {
  auto tx = env.world->broadcast();
  if (!tx) co_return;
  if (env.rng.chance(60)) {
    (void)tx->send(Token());
    co_return;
  }
  auto rx = tx->subscribe();
  tx.reset();  // the world's is the last, and goes when it closes
  const auto message = co_await rx.recv();
  if (message) message->check();
}

Async<void> use_watch(Env& env) {
  auto tx = env.world->watched();
  if (!tx) co_return;
  if (env.rng.chance(60)) {
    (void)tx->send(Token());
    co_return;
  }
  auto rx = tx->subscribe();
  tx.reset();
  (void)co_await rx.changed();
  rx.borrow()->check();
}

Async<void> hold_permit(Env& env) {
  auto& semaphore = env.world->semaphores[env.rng.below(2)];
  const auto permit = co_await semaphore.acquire().result();
  if (permit) co_await wait_a_little(env);
}

/// While a lock is held nothing is waited for that might need it.
Async<void> pause(Env& env) {
  if (env.rng.chance(50)) {
    co_await yield_now();
  } else {
    co_await sleep(env.rng.micros(1000));
  }
}

Async<void> hold_mutex(Env& env) {
  auto guard = co_await in_time(env, env.world->mutexes[env.rng.below(2)].lock());
  guard->change();
  co_await pause(env);
  guard->change();
}

Async<void> hold_rw_lock(Env& env) {
  if (env.rng.chance(60)) {
    const auto guard = co_await in_time(env, env.world->rw_lock.read());
    const unsigned before = guard->read();
    co_await pause(env);
    if (guard->read() != before) fail("somebody wrote while it was read");
  } else {
    auto guard = co_await in_time(env, env.world->rw_lock.write());
    guard->change();
    co_await pause(env);
    guard->change();
  }
}

/// Nobody writes: the end of the runtime ends it.
Async<void> read_socket(Env&) {
  auto ends = net::UnixStream::pair();
  std::array<std::byte, 4> bytes{};
  (void)co_await ends.first.read(bytes).result();
}

Async<void> join_elder(Env& env) {
  auto elder = env.take_elder();
  co_await *elder;
}

Async<void> end_elder(Env& env) {
  auto elder = env.take_elder();
  if (env.rng.chance(60)) elder->abort();
  if (env.rng.chance(30)) co_await *elder;
}

Async<void> block_in_place_somehow(Env& env) {
  block_in_place([&] { block(env); });
  co_return;
}

Async<void> throw_something(Env&) {
  throw std::runtime_error("random");
  co_return;
}

constexpr StepKind waiting[] = {
    {"yields", yield, 4, always},
    {"sleeps", sleep_shortly, 4, always},
    {"waits for ever", wait_for_ever, 1, waits_for_ever},
    {"sends", send, 3, always},
    {"receives", receive, 3, always},
    {"receives many", receive_many, 1, always},
    {"sends, unbounded", send_unbounded, 2, always},
    {"receives, unbounded", receive_unbounded, 1, always},
    {"uses the broadcast", use_broadcast, 2, always},
    {"uses the watch", use_watch, 2, always},
    {"holds a permit", hold_permit, 2, always},
    {"holds a mutex", hold_mutex, 2, always},
    {"holds a RwLock", hold_rw_lock, 2, always},
    {"reads a socket", read_socket, 1, is_ended},
    {"joins a task", join_elder, 8, has_elders},
    {"ends a task", end_elder, 3, has_elders},
    {"blocks in place", block_in_place_somehow, 10, blocks},
    {"throws", throw_something, 1, always},
};

constexpr std::size_t spawning_first = std::size(waiting);

/// What a part does when it is destroyed, wherever that is.
class LastWords {
 public:
  explicit LastWords(Env& env)
      : world_(env.world),
        wanders_(env.wanders),
        rng_(env.rng.next()),
        spawner_(Spawner::current()),
        elder_(env.take_elder()) {}
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
  ~LastWords() {
    Expected whatever;
    whatever.forget();
    check_locals(whatever);
    speak();
  }

 private:
  void speak() {
    switch (rng_.below(7)) {
      case 0:
        return spawner_.spawn(nothing, Token()).detach();
      case 1:
        return (void)world_->unbounded.first.send(Token());
      case 2:
        return (void)world_->channels[0].rx.clone().try_recv();
      case 3:
        return wanders_ ? void() : void(world_->adopt());
      case 4:
        return std::this_thread::sleep_for(rng_.micros(200));
      case 5:
        return elder_ ? elder_->abort() : void();
      default:
        return;
    }
  }
  static Async<void> nothing(Token) { co_return; }

  World* world_;
  bool wanders_;
  Rng rng_;
  Spawner spawner_;
  std::optional<JoinHandle<void>> elder_;
};

}  // namespace

bool always(const Env&) { return true; }
bool blocks(const Env& env) { return env.can_block(); }
bool waits_for_ever(const Env& env) { return !env.waits_must_end(); }
bool is_ended(const Env& env) { return !env.world->plan.finite; }
bool has_elders(const Env& env) { return !env.elders.empty(); }

namespace {
std::vector<std::string> left_out;
}  // namespace

void leave_out(std::string name) { left_out.push_back(std::move(name)); }

const StepKind* choose(Env& env, const StepKind* kinds, std::size_t count,
                       std::size_t first_weight) {
  unsigned total = 0;
  const auto weight = [&](std::size_t i) {
    if (!kinds[i].is_allowed(env)) return 0U;
    if (std::find(left_out.begin(), left_out.end(), kinds[i].name) != left_out.end()) return 0U;
    return kinds[i].weight * env.world->plan.weights[first_weight + i];
  };
  for (std::size_t i = 0; i < count; ++i) total += weight(i);
  if (total == 0) return nullptr;
  unsigned left = env.rng.below(total);
  for (std::size_t i = 0;; ++i) {
    const unsigned mine = weight(i);
    if (left < mine) return &kinds[i];
    left -= mine;
  }
}

Async<void> wait_a_little(Env& env) {
  const StepKind* kind = choose(env, waiting, std::size(waiting), 0);
  if (kind == nullptr) kind = &waiting[0];
  env.part.is_doing(kind->name);
  co_await kind->run(env);
}

namespace {

Async<void> step(Env& env) {
  const StepKind* kind = nullptr;
  if (env.budget > 0) {
    kind = env.rng.chance(50)
               ? choose(env, spawning, spawning_count, spawning_first)
               : choose(env, combining, combining_count, spawning_first + spawning_count);
  }
  if (kind == nullptr) return wait_a_little(env);
  env.part.is_doing(kind->name);
  return kind->run(env);
}

}  // namespace

Async<void> act(Env env) {
  std::optional<LastWords> last_words;
  if (env.rng.chance(30)) last_words.emplace(env);
  for (unsigned steps = env.rng.between(1, 5); steps > 0; --steps) {
    check_locals(env.expected);
    const bool throws = env.rng.chance(10);
    try {
      co_await step(env);
    } catch (const std::exception&) {  // a task that ended, a timeout, a runtime that is gone
      if (throws) throw;
    }
    env.part.is_doing("is between two steps");
  }
}

}  // namespace rouse::random_program
