// Steps that put futures together, poll them halfway, drop them, or move them elsewhere.
#include <memory>
#include <vector>

#include "rouse/exec/block_in_place.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/exec/parallel.hpp"
#include "rouse/exec/parallel_all.hpp"
#include "rouse/exec/scope.hpp"
#include "rouse/future/join.hpp"
#include "rouse/future/select.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "random/world.hpp"

namespace rouse::random_program {
namespace {

/// Polls a future so many times at most.
class PollTimes {
 public:
  using Output = void;
  PollTimes(Halfway& future, unsigned times) noexcept : future_(&future), times_(times) {}

  Poll<void> poll(Context& cx) {
    if (times_ == 0 || future_->poll(cx).is_ready()) return Poll<void>::ready();
    --times_;
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  Halfway* future_;
  unsigned times_;
};

AnyFuture<void> both_in_parallel(Async<void> a, Async<void> b) {
  return [](Async<void> left, Async<void> right) -> Async<void> {
    co_await parallel(std::move(left), std::move(right));
  }(std::move(a), std::move(b));
}

/// A region that is awaited, or polled like any future.
AnyFuture<void> region(Env& env) {
  switch (env.rng.below(3)) {
    case 0:
      return both_in_parallel(act(env.branch()), act(env.branch()));
    case 1: {
      std::vector<Async<void>> parts;
      for (unsigned count = env.rng.between(1, 4); count > 0; --count) {
        parts.push_back(act(env.branch()));
      }
      return parallel_all(std::move(parts));
    }
    default: {
      struct Body {
        std::vector<Env> envs;
        Async<void> operator()(Scope& children) { return run(children, std::move(envs)); }
        static Async<void> run(Scope& children, std::vector<Env> envs) {
          for (Env& env : envs) {
            if (env.rng.chance(20)) co_await yield_now();
            children.spawn(act, std::move(env));
          }
        }
      };
      Body body;
      for (unsigned count = env.rng.between(1, 4); count > 0; --count) {
        body.envs.push_back(env.branch());
      }
      return scope(std::move(body));
    }
  }
}

Async<void> run_region(Env& env) {
  auto future = region(env);
  co_await future;
}

Async<void> await_parallel(Env& env) {
  auto left = act(env.branch());
  auto right = act(env.branch());
  co_await parallel(std::move(left), std::move(right));
}

Async<void> first_of_region(Env& env) {
  auto future = region(env);
  if (env.rng.chance(50)) {
    auto waiting = wait_a_little(env);
    co_await select(std::move(waiting), std::move(future));
  } else {
    (void)co_await timeout(env.rng.micros(2000), std::move(future));
  }
}

Async<void> first_of_two(Env& env) {
  auto left = act(env.inner());
  auto right = act(env.inner());
  co_await select(std::move(left), std::move(right));
}

Async<void> both(Env& env) {
  auto left = act(env.inner());
  auto right = act(env.inner());
  co_await join(std::move(left), std::move(right));
}

Async<void> poll_halfway(Env& env) {
  Halfway future(env.rng.chance(50) ? region(env) : AnyFuture<void>(act(env.inner())));
  PollTimes some(future, env.rng.below(4));
  co_await some;
  if (env.rng.chance(50)) co_await wait_a_little(env);
}

/// What was begun here goes on in a task.
Async<void> begin_and_spawn(Env& env) {
  auto part = env.task();
  part.expected.forget();
  part.wanders = env.wanders;  // it is part of this one until it is spawned
  Halfway future(act(std::move(part)));
  PollTimes some(future, env.rng.between(1, 3));
  co_await some;
  env.elders.push_back(spawn(std::move(future)));
}

// --- Futures that wander. ---

Async<void> abandon(Env& env) {
  Env part = env.branch();
  part.may_block = false;
  part.on_pool = false;  // who adopts it may be in a current-thread runtime, and so are its tasks
  part.wanders = true;
  part.expected.forget();
  Halfway future(env.rng.chance(50) ? region(part) : AnyFuture<void>(act(std::move(part))));
  PollTimes some(future, env.rng.below(3));
  co_await some;
  env.world->abandon(std::move(future));
}

Async<void> adopt(Env& env) {
  auto future = env.world->adopt();
  if (!future) co_return;
  PollTimes some(*future, env.rng.below(4));
  co_await some;
  if (env.rng.chance(30)) env.world->abandon(std::move(*future));
}

// --- Task locals. ---

Async<void> set_local(Env& env) {
  const unsigned which = env.rng.below(local_count);
  const unsigned number = env.rng.below(1000);
  Env part = env.inner();
  part.expected.number[which] = static_cast<int>(number);
  auto future = act(std::move(part));
  co_await locals[which].scope(Tag(number), std::move(future));
}

/// What a library for tracing does: a value for each poll.
class Traced {
 public:
  using Output = void;
  Traced(AnyFuture<void> future, unsigned which, unsigned number)
      : future_(std::move(future)), which_(which), number_(number) {}

  Poll<void> poll(Context& cx) {
    return locals[which_].sync_scope(Tag(number_), [&] { return future_.poll(cx); });
  }
  [[nodiscard]] bool borrows() const noexcept { return future_.borrows(); }

 private:
  AnyFuture<void> future_;
  unsigned which_;
  unsigned number_;
};

Async<void> trace(Env& env) {
  const unsigned which = env.rng.below(local_count);
  const unsigned number = env.rng.below(1000);
  Env part = env.inner();
  part.expected.number[which] = static_cast<int>(number);
  part.traced = true;
  AnyFuture<void> future =
      env.rng.chance(50) ? region(part) : AnyFuture<void>(act(std::move(part)));
  Traced traced(std::move(future), which, number);
  co_await traced;
}

// --- A full channel. ---

/// Blocks its thread until there is room. Once: for a second message there is none.
Async<void> stuff(Env env, sync::Sender<Token> tx) {
  co_await yield_now();
  env.part.is_doing("blocks until a channel has room");
  block_in_place([&] {
    const CountBlocked counted(env);
    (void)block_on(tx.send(Token()));
  });
  env.part.is_doing("has sent");
  co_await wait_a_little(env);
}

/// Lets a child block on a full channel and then receives once, which drops the child. Dropped
/// midway it closes the channel first: see the rules.
class Unstuff {
 public:
  using Output = void;
  Unstuff(AnyFuture<void> children, sync::Receiver<Token> rx, Micros time)
      : children_(std::move(children)), rx_(std::move(rx)), time_(time) {}
  Unstuff(Unstuff&&) = delete;
  ~Unstuff() { rx_.close(); }

  Poll<void> poll(Context& cx) {
    if (!sleep_) {
      (void)children_->poll(cx);
      sleep_.emplace(sleep(time_));
    }
    if (!first_) {
      if (sleep_->poll(cx).is_pending()) return pending;
      first_.emplace(rx_.recv(), std::move(*children_));
    }
    return first_->poll(cx).is_ready() ? Poll<void>::ready() : pending;
  }

 private:
  std::optional<AnyFuture<void>> children_;
  sync::Receiver<Token> rx_;
  Micros time_;
  std::optional<Sleep> sleep_;
  std::optional<Select<SelectOrder::biased, sync::Recv<Token>, AnyFuture<void>>> first_;
};

Async<void> fill_a_channel(Env& env) {
  auto [tx, rx] = sync::channel<Token>(env.rng.between(1, 8));
  bool has_room = true;
  while (has_room) has_room = static_cast<bool>(tx.try_send(Token()));
  std::vector<Async<void>> children;
  children.push_back(stuff(env.branch(), std::move(tx)));
  if (env.rng.chance(50)) children.push_back(act(env.branch()));
  Unstuff unstuff(parallel_all(std::move(children)), std::move(rx), env.rng.micros(2000));
  co_await unstuff;
}

// --- An Async inside another. ---

struct Nest {
  explicit Nest(Async<void> future) : inside(std::move(future)) {}
  Async<void> inside;
  Token token;
};

Async<void> wrap(std::unique_ptr<Nest> nest) { co_await nest->inside; }

Async<void> unwrap(Env& env) {
  auto nest = std::make_unique<Nest>(act(env.inner()));
  Nest& inner = *nest;
  Async<void> future = wrap(std::move(nest));
  future = std::move(inner.inside);
  co_await future;
}

bool may_abandon(const Env& env) { return waits_for_ever(env); }
bool may_adopt(const Env& env) { return waits_for_ever(env) && !env.wanders; }
bool branches_block(const Env& env) { return env.on_pool && env.may_block; }

}  // namespace

constexpr StepKind combining[] = {
    {"runs a region", run_region, 3, always},
    {"awaits parallel", await_parallel, 3, always},
    {"runs a region, or waits for something else", first_of_region, 4, always},
    {"runs two parts until one ends", first_of_two, 2, always},
    {"runs two parts", both, 2, always},
    {"polls a part halfway", poll_halfway, 2, always},
    {"begins a part and spawns it", begin_and_spawn, 1, always},
    {"abandons a part", abandon, 2, may_abandon},
    {"adopts a part", adopt, 2, may_adopt},
    {"sets a TaskLocal", set_local, 2, always},
    {"traces a part", trace, 2, always},
    {"fills a channel", fill_a_channel, 2, branches_block},
    {"takes a part out of another", unwrap, 1, always},
};
constexpr std::size_t combining_count = std::size(combining);

}  // namespace rouse::random_program
