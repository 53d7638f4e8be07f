// What the parts of a random program share, and what each of them knows.
//
// The rules that make a program correct, so that a hang is rouse's fault:
//  1. A part waits for the end of tasks only that it spawned itself, or that were spawned before it
//     by what spawned it: handles are passed down and to the right, never up. In that order (a
//     tree, whose parts are numbered when all below them are) nobody waits for one that comes
//     later, so there is no ring. Dropping a `parallel` or `scope` waits for its children's polls
//     as a join would.
//  2. All else that blocks a thread is released by the runtime's end, or by itself. The channels
//     and semaphores of the world are closed by a task's destructor (`Closer`), which waits for
//     nothing. A channel of one part is closed by it before it drops the children that use it.
//     Locks and messages are waited for with a timeout: who has the lock, or was given room in the
//     channel, may be suspended in what waits. Reading a socket ends with the runtime's drivers.
//     Sleeps are short.
//  3. A future that anybody may drop (World::abandon) never blocks, and drops no other such future:
//     dropping one that is being polled waits for that poll.
//  4. What runs inside `block_on` on a thread that blocks can't be cancelled: there (`must_end`)
//     rule 2 holds for each await.
//  5. In a program that must end by itself (Plan::finite) rule 2 holds for all awaits, the channels
//     are closed from outside, and nothing waits for ever.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/exec/task_local.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/broadcast.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/sync/watch.hpp"

#include "random/counted.hpp"
#include "random/plan.hpp"

namespace rouse::random_program {

/// The value of a TaskLocal.
class Tag {
 public:
  explicit Tag(unsigned number) noexcept : number_(number) {}
  [[nodiscard]] unsigned number() const noexcept {
    token_.check();
    return number_;
  }

 private:
  Token token_;
  unsigned number_;
};

/// What a lock guards: whoever has it alone changes it, without atomics.
class Guarded {
 public:
  void change() noexcept { ++number_; }
  [[nodiscard]] unsigned read() const noexcept { return number_; }

 private:
  Token token_;
  unsigned number_ = 0;
};

/// A future that may be polled again once it is ready or has thrown.
class Halfway {
 public:
  using Output = void;
  explicit Halfway(AnyFuture<void> future) : future_(std::move(future)) {}

  Poll<void> poll(Context& cx);
  [[nodiscard]] bool borrows() const noexcept { return future_ && future_->borrows(); }

 private:
  std::optional<AnyFuture<void>> future_;
};

class World {
 public:
  explicit World(const Plan& of_plan);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// From now on nobody waits in a channel or for a permit. Any thread, any time.
  void close() noexcept;

  struct Bounded {
    explicit Bounded(std::size_t capacity) : Bounded(sync::channel<Token>(capacity)) {}
    explicit Bounded(std::pair<sync::Sender<Token>, sync::Receiver<Token>> ends)
        : tx(std::move(ends.first)), rx(std::move(ends.second)) {}
    sync::Sender<Token> tx;
    sync::Receiver<Token> rx;
  };
  using Broadcast = sync::BroadcastSender<Token>;
  using Watched = sync::WatchSender<Token>;

  /// Copies; nothing once they are closed.
  std::optional<Broadcast> broadcast();
  std::optional<Watched> watched();
  std::optional<Spawner> other_runtime();
  void set_other_runtime(std::optional<Spawner> spawner);

  /// Futures that whoever comes by may poll or drop.
  void abandon(Halfway future);
  std::optional<Halfway> adopt();

  /// A runtime was ended without waiting for it.
  void leave_alone() noexcept { is_left_alone_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_left_alone() const noexcept {
    return is_left_alone_.load(std::memory_order_relaxed);
  }

  const Plan plan;
  std::array<Bounded, 3> channels;
  std::pair<sync::UnboundedSender<Token>, sync::UnboundedReceiver<Token>> unbounded;
  std::array<sync::Mutex<Guarded>, 2> mutexes;
  sync::RwLock<Guarded> rw_lock;
  std::array<sync::Semaphore, 2> semaphores;

 private:
  std::mutex mutex_;
  std::optional<Broadcast> broadcast_;
  std::optional<Watched> watched_;
  std::optional<Spawner> other_;
  std::vector<Halfway> abandoned_;
  std::atomic<bool> is_left_alone_{false};
};

inline constexpr std::size_t local_count = 2;
extern const std::array<TaskLocal<Tag>, local_count> locals;

/// What of the TaskLocals a part must see.
class Expected {
 public:
  static constexpr int none = -1;
  static constexpr int any = -2;
  std::array<int, local_count> number{none, none};

  void forget() noexcept { number.fill(any); }
};

/// Aborts if this thread is not in the scopes it should be in.
void check_locals(const Expected& expected) noexcept;

/// What a part of the program knows. The frame of each has one.
class Env {
 public:
  Env(World& of_world, std::uint64_t seed, unsigned of_budget) noexcept
      : world(&of_world), rng(seed), budget(of_budget), part(seed) {}
  Env(Env&&) noexcept = default;
  Env& operator=(Env&&) = delete;
  ~Env() = default;

  /// A part of this one's task.
  Env inner();
  /// The same, polled elsewhere: in another task, but ended before this one ends.
  Env branch();
  /// A task of its own, on a runtime with worker threads or not.
  Env task();
  /// The same on another runtime.
  Env task_elsewhere(bool of_pool);

  [[nodiscard]] bool can_block() const noexcept { return may_block && (on_pool || on_own_thread); }
  /// Each await has to end without being dropped.
  [[nodiscard]] bool waits_must_end() const noexcept { return must_end || world->plan.finite; }
  std::optional<JoinHandle<void>> take_elder();

  World* world;
  Rng rng;
  unsigned budget;
  bool at_home = false;        ///< in the first runtime
  bool on_pool = false;        ///< the scheduler has threads
  bool on_own_thread = false;  ///< in a block_on of a thread that may block
  bool may_block = true;
  bool must_end = false;
  bool wanders = false;  ///< part of a future that anybody may drop
  bool traced = false;   ///< an expected local is set by each poll, not by the future
  Expected expected;
  std::vector<JoinHandle<void>> elders;  ///< of tasks that it may wait for
  Part part;
  Token token;
};

/// A random program, or a part of one.
Async<void> act(Env env);
/// Waits for one thing, or does one thing at once.
Async<void> wait_a_little(Env& env);
/// Blocks this thread, somehow, where that is allowed. Throws nothing.
void block(Env& env) noexcept;

/// Counts this thread as blocked, while it lives.
class CountBlocked {
 public:
  explicit CountBlocked(const Env& env) noexcept;
  CountBlocked(const CountBlocked&) = delete;
  CountBlocked& operator=(const CountBlocked&) = delete;
  ~CountBlocked();

 private:
  bool counts_;
};

using Step = Async<void> (*)(Env&);
struct StepKind {
  const char* name;
  Step run;
  unsigned weight;
  bool (*is_allowed)(const Env&);
};

bool always(const Env& env);
bool blocks(const Env& env);
/// It waits for what only the runtime's end, or a drop, ends.
bool waits_for_ever(const Env& env);
/// It waits for what the runtime's end ends.
bool is_ended(const Env& env);
bool has_elders(const Env& env);

/// From now on no program has such a step: for the time in which a bug is not mended yet.
void leave_out(std::string name);
/// One that is allowed; null if none is.
const StepKind* choose(Env& env, const StepKind* kinds, std::size_t count,
                       std::size_t first_weight);

/// Steps that have parts of their own.
extern const StepKind spawning[];
extern const std::size_t spawning_count;
extern const StepKind combining[];
extern const std::size_t combining_count;

}  // namespace rouse::random_program
