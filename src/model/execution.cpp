#include "model/execution.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>

namespace rouse::model {

constinit Running running;

namespace {

constexpr std::uint32_t most_fruitless_spins = 100;
constexpr std::uint32_t most_early_timeouts = 1;

std::uint32_t next_number() {
  static std::uint32_t last = 0;
  return ++last;
}

}  // namespace

Execution::Execution(Search& search) : search_(search) {}

Execution::Outcome Execution::run(const std::function<void()>& body) {
  number_ = next_number();
  steps_ = 0;
  preemptions_ = 0;
  old_values_ = 0;
  just_decided_ = false;
  now_ns = 1'000'000'000;
  locks_hash = 0;
  finding_.reset();
  memory.clear();
  trace.clear();
  atomics_.clear();
  cells_.clear();
  mutexes.clear();
  signals.clear();
  arena_.begin_execution();
  search_.choices.begin_execution();
  thread_count_ = 0;
  current_ = 0;
  const auto call_body = [](void* call) { (*static_cast<const std::function<void()>*>(call))(); };
  start_thread(call_body, const_cast<std::function<void()>*>(&body));

  running = {this, false, __builtin_thread_pointer(), false};
  explorer_.switch_to(threads_[0].fiber);
  running = {};

  give_values_back();
  if (outcome_ == Outcome::ended) check_leaks();
  if (search_.choices.has_diverged()) {
    finding_ = Finding{Problem::not_deterministic,
                       "the body did not do what it did before with the same choices: does it use "
                       "time, random numbers, addresses, or what an earlier execution left behind?",
                       trace.text(), search_.choices.taken()};
    outcome_ = Outcome::failed;
  }
  // A failed test, for instance, keeps strings that a thread has made.
  if (outcome_ == Outcome::failed) arena_.keep();
  return outcome_;
}

// --- Threads and turns. ---

ThreadIndex Execution::start_thread(void (*run_call)(void*), void* call) {
  if (thread_count_ == max_threads) fail(Problem::misuse, "a model has at most 12 threads");
  const ThreadIndex index = thread_count_++;
  ModelThread& thread = threads_[index];
  thread.run = run_call;
  thread.call = call;
  thread.waiting = {};
  thread.ended = false;
  thread.started = 0;
  thread.timeouts = 0;
  thread.seen.clear();
  thread.at_least = {};
  thread.change_came = false;
  thread.fruitless_spins = 0;
  thread.mind = {};
  if (index == 0) {
    thread.identity = 1;
  } else {
    thread.identity = mix(me().identity, ++me().started);
    thread.mind.now = me().mind.now;
  }
  thread.hash = thread.identity;
  thread.fiber.begin(&Execution::thread_main);
  return index;
}

void Execution::thread_main() {
  Execution& execution = *running.execution;
  ModelThread& self = execution.me();
  running.in_thread = true;
  try {
    self.run(self.call);
  } catch (const std::exception& exception) {
    running.in_thread = false;
    execution.fail(Problem::exception, std::string("an exception left ") +
                                           name_of_thread(execution.current_) + ": " +
                                           exception.what());
  } catch (...) {
    running.in_thread = false;
    execution.fail(Problem::exception, "an exception left " + name_of_thread(execution.current_));
  }
  running.in_thread = false;
  execution.event(Op::end, nullptr, 0);
  execution.trace.add({.thread = execution.current_, .op = Op::end});
  self.ended = true;
  execution.something_changed();
  execution.step(false);
  std::abort();  // who has ended has no turn
}

bool Execution::is_ready(const ModelThread& thread) const {
  if (thread.ended) return false;
  switch (thread.waiting.what) {
    case Waiting::For::nothing:
      return true;
    case Waiting::For::mutex:
      return mutexes[thread.waiting.index].owner == max_threads;
    case Waiting::For::signal:
      return thread.waiting.at_most_ns != no_limit && thread.timeouts < most_early_timeouts;
    case Waiting::For::token:
      return signals[thread.waiting.index].token;
    case Waiting::For::end:
      return threads_[thread.waiting.index].ended;
    case Waiting::For::change:
      return thread.change_came;
  }
  return false;
}

bool Execution::has_seen_old(const ModelThread& thread) {
  for (const ModelThread::Seen& seen : thread.seen) {
    if (memory[seen.location].newest().place > seen.place) return true;
  }
  return false;
}

/// The thread that has the turn first: then to go on is the first alternative.
void Execution::find_ready() {
  ready_.clear();
  if (is_ready(me())) ready_.push_back(current_);
  for (ThreadIndex i = 0; i < thread_count_; ++i) {
    if (i != current_ && is_ready(threads_[i])) ready_.push_back(i);
  }
}

void Execution::find_spinning() {
  ThreadIndex most_patient = max_threads;
  for (ThreadIndex i = 0; i < thread_count_; ++i) {
    const ModelThread& thread = threads_[i];
    if (thread.ended || thread.waiting.what != Waiting::For::change) continue;
    if (has_seen_old(thread)) ready_.push_back(i);
    if (thread.fruitless_spins < most_fruitless_spins &&
        (most_patient == max_threads ||
         thread.fruitless_spins < threads_[most_patient].fruitless_spins)) {
      most_patient = i;
    }
  }
  if (ready_.empty() && most_patient != max_threads) ready_.push_back(most_patient);
}

void Execution::find_timed() {
  for (ThreadIndex i = 0; i < thread_count_; ++i) {
    const ModelThread& thread = threads_[i];
    if (!thread.ended && thread.waiting.what == Waiting::For::signal &&
        thread.waiting.at_most_ns != no_limit) {
      ready_.push_back(i);
    }
  }
}

void Execution::step(bool is_branch, Waiting waiting) {
  ModelThread& self = me();
  self.waiting = waiting;
  if (++steps_ > search_.options.max_steps) {
    fail(Problem::livelock,
         "more steps than Options::max_steps: an endless loop, or a spin loop without spin_hint()");
  }
  Choices& choices = search_.choices;
  const bool can_go_on = is_ready(self);
  const bool is_decision = !can_go_on || (is_branch && thread_count_ > 1 && !just_decided_);
  if (!is_decision && !choices.is_forced()) {
    choices.pass();
    self.waiting = {};
    return;
  }

  find_ready();
  if (ready_.empty()) find_spinning();
  if (ready_.empty()) find_timed();
  if (ready_.empty()) stuck();
  const unsigned bound = search_.options.preemption_bound;
  const bool is_bounded = bound != Options::unbounded;
  const std::size_t explored =
      can_go_on && (!is_decision || preemptions_ >= bound) ? 1 : ready_.size();
  if (is_decision && choices.is_new() && search_.options.prune) {
    if (!search_.visited.enter(state(is_bounded && can_go_on), left())) end(Outcome::known);
  }
  const ThreadIndex next =
      ready_[choices.choose(Choices::About::thread, explored, ready_.size(), self.hash)];
  if (can_go_on && next != current_) ++preemptions_;
  just_decided_ = true;
  take_turn(next);
  self.waiting = {};
}

void Execution::take_turn(ThreadIndex next) {
  if (next == current_) return;
  ModelThread& from = me();
  current_ = next;
  from.fiber.switch_to(threads_[next].fiber);
}

void Execution::stuck() {
  bool all_ended = true;
  bool any_spins = false;
  std::string message;
  for (ThreadIndex i = 0; i < thread_count_; ++i) {
    if (threads_[i].ended) continue;
    all_ended = false;
    any_spins = any_spins || threads_[i].waiting.what == Waiting::For::change;
    message += "\n    " + name_of_thread(i) + " waits for " + waits_for(i);
  }
  if (all_ended) end(Outcome::ended);
  fail(any_spins ? Problem::livelock : Problem::deadlock, "no thread can go on:" + message);
}

std::string Execution::waits_for(ThreadIndex index) const {
  const Waiting& waiting = threads_[index].waiting;
  switch (waiting.what) {
    case Waiting::For::nothing:
      return "nothing";
    case Waiting::For::mutex: {
      const MutexObject& mutex = mutexes[waiting.index];
      return trace.name_of(mutex.address, "mutex") + ", which " + name_of_thread(mutex.owner) +
             " has";
    }
    case Waiting::For::signal:
      return "a notification of " + trace.name_of(signals[waiting.index].address, "condvar");
    case Waiting::For::token:
      return "somebody to unpark or wake it";
    case Waiting::For::end:
      return "the end of " + name_of_thread(waiting.index);
    case Waiting::For::change:
      return "a store that ends its spinning";
  }
  return "";
}

Hash Execution::state(bool with_current) const {
  Hash hash = mix(memory.hash(), memory.strong_hash(), locks_hash, now_ns);
  for (ThreadIndex i = 0; i < thread_count_; ++i) {
    const ModelThread& thread = threads_[i];
    hash += mix(thread.identity, thread.hash, thread.change_came ? 1 : 0);
  }
  return with_current ? mix(hash, threads_[current_].identity) : hash;
}

Hash Execution::event(Op op, const Object* object, Hash detail, Hash more) {
  ModelThread& self = me();
  just_decided_ = false;
  ++self.mind.now.clock.at[current_];
  self.hash = mix(self.hash, static_cast<Hash>(op), object ? object->name_hash : 0, detail, more);
  return self.hash;
}

Left Execution::left() const noexcept {
  const auto rest = [](unsigned bound, unsigned used) {
    return bound == Options::unbounded ? Left::most : bound - std::min(bound, used);
  };
  return {rest(search_.options.preemption_bound, preemptions_),
          rest(search_.options.old_value_bound, old_values_)};
}

std::size_t Execution::choose_store(std::size_t count) {
  const bool may_be_old = old_values_ < search_.options.old_value_bound;
  const std::size_t chosen =
      search_.choices.choose(Choices::About::store, may_be_old ? count : 1, count, me().hash);
  if (chosen != 0) ++old_values_;
  return chosen;
}

std::size_t Execution::choose_waiter(std::size_t count) {
  return search_.choices.choose(Choices::About::store, count, count, me().hash);
}

void Execution::something_changed(std::int64_t location) {
  for (ThreadIndex i = 0; i < thread_count_; ++i) {
    ModelThread& thread = threads_[i];
    if (i == current_ || thread.waiting.what != Waiting::For::change) continue;
    bool looked_at = thread.seen.empty();
    for (const ModelThread::Seen& seen : thread.seen) {
      looked_at = looked_at || seen.location == location;
    }
    if (looked_at) thread.change_came = true;
  }
}

// --- The end. ---

void Execution::end(Outcome outcome) {
  outcome_ = outcome;
  running.in_thread = false;
  me().fiber.leave_to(explorer_);
}

void Execution::fail(Problem problem, std::string message) {
  running.in_thread = false;
  finding_ = Finding{problem, std::move(message), trace.text(), search_.choices.taken()};
  end(Outcome::failed);
}

void Execution::give_values_back() {
  for (AtomicObject& object : atomics_) {
    if (object.is_from_outside) {
      std::memcpy(object.word.value, &object.first_value, object.word.size);
    }
  }
}

void Execution::check_leaks() {
  const Arena::Block* block = arena_.first_live();
  if (block == nullptr) return;
  finding_ =
      Finding{Problem::leak,
              std::to_string(arena_.live()) + " blocks were not freed, the first of " +
                  std::to_string(block->size) + " bytes, made by " + name_of_thread(block->thread) +
                  " around step " + std::to_string(block->step),
              trace.text(), search_.choices.taken()};
  outcome_ = Outcome::failed;
}

// --- Memory. ---

void* Execution::allocate(std::size_t size, std::size_t alignment) {
  void* memory_of_block = arena_.allocate(current_, steps_, size, alignment);
  if (memory_of_block == nullptr) {
    fail(Problem::misuse, "a thread of a model allocated more than 16 MiB");
  }
  // What is read before it was written should be the same in each execution.
  std::memset(memory_of_block, 0xCD, size < 4096 ? size : 4096);
  return memory_of_block;
}

void Execution::free(void* block) {
  switch (arena_.free(block)) {
    case Arena::Freed::now:
      return;
    case Arena::Freed::before:
      fail(Problem::bad_free, "memory was freed a second time");
    case Arena::Freed::never_made:
      fail(Problem::bad_free, "memory was freed that was not allocated in this execution");
  }
}

}  // namespace rouse::model
