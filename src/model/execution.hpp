// Execution: one run of a model's body. Its threads are fibers; each operation of the seam is a
// step, before which another thread may be given the turn.
//
// What is explored, and what is not:
//  - Before an operation that another thread's may conflict with, any thread that is able to go on
//    may be next. Preferring another to one that could go on is a preemption; they are bounded.
//  - Before other operations nothing is decided. Which objects are `contended` is learned: an
//    object is, once two operations on it conflict and nothing orders them (by happens-before, not
//    counting the second). When one is learned the search starts anew (Search). In the end no
//    execution of the search has an unordered conflict on an object that is not contended; so
//    operations on those commute with all that other threads do meanwhile, and moving a preemption
//    from before such an operation to before the next contended one changes nothing and costs
//    nothing.
//  - Unlocking is never delayed: what others could do meanwhile they can do afterwards, unless they
//    try_lock; that is learned as well.
//  - A Cell is no place for decisions: whether two accesses are ordered does not depend on which of
//    them came first in this execution.
//  - A state is its history: for each thread the events it had, with what they read; for each
//    location its modification order; for each lock who had it. Threads are deterministic, so equal
//    histories have equal futures. (Executions that differ in the order of independent events have
//    equal histories: happens-before caching, after Musuvathi and Qadeer.) The search enters no
//    state twice, unless with more preemptions left. A state is its hash, and the thread that has
//    the turn, since interrupting another costs.
//
// A thread that spins (spin_hint) has its next turn after another thread has changed something it
// looked at since it last spun. If no thread can go on otherwise, spinning ones go on nevertheless:
// those that have seen an old value now have to see a newer one, as stores become visible in finite
// time; others a limited number of times, then it is a livelock.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "rouse/model/internal/hooks.hpp"
#include "rouse/model/model.hpp"

#include "model/arena.hpp"
#include "model/choices.hpp"
#include "model/fiber.hpp"
#include "model/memory.hpp"
#include "model/orders.hpp"
#include "model/trace.hpp"
#include "model/visited.hpp"

namespace rouse::model {

/// What the executions of one search have in common.
struct Search {
  Options options;
  Orders orders;
  Choices choices;
  Visited visited;
  std::unordered_set<const void*> contended;
  std::unordered_set<const void*> tried;  // mutexes
  bool must_restart = false;              // something was learned
};

/// What atomics, locks and the rest have in common.
struct Object {
  const void* address = nullptr;
  Stamp* stamp = nullptr;
  Hash name_hash = 0;
  bool contended = false;
  bool alive = true;
  Clock used;     // by each thread last
  Clock changed;  // likewise
};

struct AtomicObject : Object {
  Word word{};
  bool is_from_outside = false;  // then it gets its value back
  std::uint64_t first_value = 0;
};

struct CellObject : Object {
  std::array<Where, max_threads> used_at{};
  std::array<Clock, max_threads> guessed{};  // what a thread knew at its last guess
};

struct MutexObject : Object {
  ThreadIndex owner = max_threads;  // none
  Knowledge carried;
  Hash hash = 0;
};

/// A condition variable or a parker.
struct SignalObject : Object {
  std::vector<ThreadIndex> waiting;
  bool token = false;
  Knowledge carried;
  Hash hash = 0;
};

struct Waiting {
  enum class For : std::uint8_t { nothing, mutex, signal, token, end, change };
  For what = For::nothing;
  std::uint32_t index = 0;  // of the object or thread
  std::uint32_t mutex = 0;  // which a waiter for a signal gave back
  std::uint64_t at_most_ns = no_limit;
};

struct ModelThread {
  struct Seen {
    std::uint32_t location;
    Place place;
  };

  Fiber fiber;
  void (*run)(void*) = nullptr;
  void* call = nullptr;
  Hash identity = 0;
  Hash hash = 0;  // of all its events
  Mind mind;
  Waiting waiting;
  bool ended = false;
  std::uint32_t started = 0;   // threads, by this one
  std::uint32_t timeouts = 0;  // that came before they had to
  std::vector<Seen> seen;      // since it last spun
  View at_least;               // what it must see after that
  bool change_came = false;    // while it spins
  std::uint32_t fruitless_spins = 0;

  void saw(std::uint32_t location, Place place) {
    constexpr std::size_t enough_for_a_loop = 64;
    if (seen.size() == enough_for_a_loop) seen.erase(seen.begin());
    seen.push_back({location, place});
  }
};

class Execution {
 public:
  enum class Outcome : std::uint8_t { ended, known, failed };

  explicit Execution(Search& search);

  Outcome run(const std::function<void()>& body);
  [[nodiscard]] const std::optional<Finding>& finding() const noexcept { return finding_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  // --- For the threads. ---

  [[nodiscard]] ModelThread& me() noexcept { return threads_[current_]; }
  [[nodiscard]] ThreadIndex current() const noexcept { return current_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] Orders& orders() noexcept { return search_.orders; }

  /// A step: comes back when this thread has its turn, and what it waits for has come.
  /// `is_branch`: others may be given the turn though this thread could go on.
  void step(bool is_branch, Waiting waiting = {});
  /// Counts an event of this thread.
  Hash event(Op op, const Object* object, Hash detail, Hash more = 0);
  /// Of so many, of which the first is the newest.
  std::size_t choose_store(std::size_t count);
  std::size_t choose_waiter(std::size_t count);
  /// Another thread's spinning may have come to its end. -1: not an atomic.
  void something_changed(std::int64_t location = -1);

  /// A lock or signal was used: its history goes on with this event.
  template <class T>
  void continue_history(T& object, Hash event) {
    locks_hash -= mix(object.name_hash, object.hash);
    object.hash = mix(object.hash, event);
    locks_hash += mix(object.name_hash, object.hash);
  }

  [[noreturn]] void fail(Problem problem, std::string message);
  /// Learns whether this conflicts with what others did, unordered. After the step, before what
  /// the operation makes known.
  void learn(Object& object, bool is_change);
  void learn_tried(const MutexObject& mutex);
  [[nodiscard]] bool is_tried(const MutexObject& mutex) const {
    return !search_.options.prune || search_.tried.contains(mutex.address);
  }

  AtomicObject& atomic(const Word& word);
  CellObject& cell(const void* address, Stamp& stamp);
  MutexObject& mutex(const void* address, Stamp& stamp);
  SignalObject& signal(const void* address, Stamp& stamp);
  void atomic_destroyed(const Word& word);
  void cell_destroyed(const void* address, Stamp& stamp);
  void mutex_destroyed(const void* address, Stamp& stamp);
  void signal_destroyed(const void* address, Stamp& stamp);

  ThreadIndex start_thread(void (*run_call)(void*), void* call);
  [[nodiscard]] ModelThread& thread(ThreadIndex index) { return threads_[index]; }
  void* allocate(std::size_t size, std::size_t alignment);
  void free(void* memory);

  Memory memory;
  Trace trace;
  Memory::Positions positions;  // scratch
  std::uint64_t now_ns = 1'000'000'000;
  Hash locks_hash = 0;  // of mutexes, condition variables, parkers

  std::deque<MutexObject> mutexes;
  std::deque<SignalObject> signals;

 private:
  static void thread_main();

  [[nodiscard]] bool is_ready(const ModelThread& thread) const;
  [[nodiscard]] bool has_seen_old(const ModelThread& thread);
  void find_ready();
  void find_spinning();
  void find_timed();
  [[noreturn]] void stuck();
  void take_turn(ThreadIndex next);
  [[noreturn]] void end(Outcome outcome);
  [[nodiscard]] Hash state(bool with_current) const;
  [[nodiscard]] Left left() const noexcept;
  void give_values_back();
  void check_leaks();
  void check_use(const Object& object, const void* address, const char* kind);
  void describe(Object& object, const void* address, Stamp& stamp, std::size_t index,
                const char* kind);
  template <class T>
  T& find(std::deque<T>& objects, const void* address, Stamp& stamp, const char* kind);
  template <class T>
  T* destroy(std::deque<T>& objects, const void* address, Stamp& stamp, const char* kind);
  [[nodiscard]] std::string waits_for(ThreadIndex index) const;

  Search& search_;
  Fiber explorer_;
  std::array<ModelThread, max_threads> threads_;
  ThreadIndex thread_count_ = 0;
  ThreadIndex current_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t steps_ = 0;
  unsigned preemptions_ = 0;
  unsigned old_values_ = 0;
  bool just_decided_ = false;  // who has the turn was given it for its next event
  Outcome outcome_ = Outcome::ended;
  std::optional<Finding> finding_;
  std::vector<ThreadIndex> ready_;
  std::deque<AtomicObject> atomics_;
  std::deque<CellObject> cells_;
  Arena arena_;
};

/// The execution that runs, and whether the code that runs is its threads' (not the engine's).
struct Running {
  Execution* execution = nullptr;
  bool in_thread = false;
  void* system_thread = nullptr;
  bool is_failing = false;  // a crash in the engine itself is not to be reported again
};
extern constinit Running running;
inline Execution& execution() noexcept { return *running.execution; }

/// While it lives, the engine works for a thread of the model.
class InEngine {
 public:
  InEngine() noexcept { running.in_thread = false; }
  InEngine(const InEngine&) = delete;
  InEngine& operator=(const InEngine&) = delete;
  ~InEngine() { running.in_thread = true; }
};

}  // namespace rouse::model
