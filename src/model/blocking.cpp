// The blocking operations of the seam as steps of an execution: locks, condition variables,
// parkers, threads. Unlocking, notifying and unparking publish what the thread knows to whom they
// let go on.
#include <algorithm>

#include "model/execution.hpp"

namespace rouse::model {
namespace {

void write_down(Op op, const void* object, const Where& where, std::uint64_t other = 0) {
  Execution& run = execution();
  run.trace.add(
      {.thread = run.current(), .op = op, .object = object, .written = other, .where = where});
}

std::uint32_t index_of(const Object& object) noexcept { return object.stamp->index; }

/// The mutex is free and this thread has the turn.
void take(Execution& run, MutexObject& mutex, const Where& where) {
  mutex.owner = run.current();
  const Hash event = run.event(Op::lock, &mutex, mutex.hash);
  run.learn(mutex, true);
  run.continue_history(mutex, event);
  run.me().mind.now.join(mutex.carried);
  write_down(Op::lock, mutex.address, where);
}

void give_back(Execution& run, MutexObject& mutex, const Where& where) {
  if (mutex.owner != run.current()) {
    run.fail(Problem::misuse, run.trace.name_of(mutex.address, "mutex") +
                                  " is unlocked by a thread that does not have it");
  }
  mutex.owner = max_threads;
  const Hash event = run.event(Op::unlock, &mutex, mutex.hash);
  run.learn(mutex, true);
  run.continue_history(mutex, event);
  mutex.carried = run.me().mind.now;
  write_down(Op::unlock, mutex.address, where);
  run.something_changed();
}

}  // namespace

void mutex_lock(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  MutexObject& mutex = run.mutex(address, stamp);
  run.step(mutex.contended, {.what = Waiting::For::mutex, .index = index_of(mutex)});
  take(run, run.mutex(address, stamp), where);
}

bool mutex_try_lock(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  MutexObject& mutex = run.mutex(address, stamp);
  run.learn_tried(mutex);
  run.step(mutex.contended);
  if (mutex.owner == max_threads) {
    take(run, run.mutex(address, stamp), where);
    return true;
  }
  run.event(Op::try_lock_failed, &mutex, mutex.hash);
  run.learn(mutex, true);
  write_down(Op::try_lock_failed, address, where);
  return false;
}

void mutex_unlock(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  MutexObject& mutex = run.mutex(address, stamp);
  run.step(mutex.contended && run.is_tried(mutex));
  give_back(run, mutex, where);
}

void mutex_destroyed(const void* address, Stamp& stamp) noexcept {
  if (!inside()) return;
  const InEngine in_engine;
  execution().mutex_destroyed(address, stamp);
}

bool condition_wait(const void* address, Stamp& stamp, const void* mutex_address,
                    Stamp& mutex_stamp, std::uint64_t at_most_ns, Where where) noexcept {
  if (!inside()) misused("a condition variable was waited for outside of a model");
  const InEngine in_engine;
  Execution& run = execution();
  run.step(true);
  SignalObject& signal = run.signal(address, stamp);
  MutexObject& mutex = run.mutex(mutex_address, mutex_stamp);
  const ThreadIndex self = run.current();
  run.continue_history(signal, run.event(Op::wait, &signal, signal.hash));
  run.learn(signal, true);
  write_down(Op::wait, address, where);
  give_back(run, mutex, where);
  signal.waiting.push_back(self);
  // Whoever notifies makes this a wait for the mutex.
  run.step(false, {.what = Waiting::For::signal,
                   .index = index_of(signal),
                   .mutex = index_of(mutex),
                   .at_most_ns = at_most_ns});
  const auto still = std::find(signal.waiting.begin(), signal.waiting.end(), self);
  const bool is_late = still != signal.waiting.end();
  if (is_late) {
    signal.waiting.erase(still);
    ++run.me().timeouts;
    run.now_ns += at_most_ns;
    run.continue_history(signal, run.event(Op::timed_out, &signal, signal.hash));
    write_down(Op::timed_out, address, where);
    run.step(true, {.what = Waiting::For::mutex, .index = index_of(mutex)});
  } else {
    write_down(Op::woken, address, where);
  }
  take(run, mutex, where);
  return !is_late;
}

void condition_notify(const void* address, Stamp& stamp, bool all, Where where) noexcept {
  if (!inside()) return;  // nobody waits
  const InEngine in_engine;
  Execution& run = execution();
  run.step(true);
  SignalObject& signal = run.signal(address, stamp);
  const Hash event = run.event(all ? Op::notify_all : Op::notify_one, &signal, signal.hash);
  run.learn(signal, true);
  write_down(all ? Op::notify_all : Op::notify_one, address, where);
  const auto let_go_on = [&](ThreadIndex index) {
    Waiting& waiting = run.thread(index).waiting;
    waiting = {.what = Waiting::For::mutex, .index = waiting.mutex};
  };
  if (all) {
    for (const ThreadIndex index : signal.waiting) let_go_on(index);
    signal.waiting.clear();
    run.continue_history(signal, event);
  } else if (!signal.waiting.empty()) {
    const std::size_t chosen = run.choose_waiter(signal.waiting.size());
    let_go_on(signal.waiting[chosen]);
    signal.waiting.erase(signal.waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
    run.continue_history(signal, mix(event, chosen));
  }
  run.something_changed();
}

void condition_destroyed(const void* address, Stamp& stamp) noexcept {
  if (!inside()) return;
  const InEngine in_engine;
  execution().signal_destroyed(address, stamp);
}

void parker_park(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  write_down(Op::park, address, where);
  const std::uint32_t index = index_of(run.signal(address, stamp));
  run.step(true, {.what = Waiting::For::token, .index = index});
  SignalObject& parker = run.signal(address, stamp);
  parker.token = false;
  run.continue_history(parker, run.event(Op::unparked, &parker, parker.hash));
  run.learn(parker, true);
  run.me().mind.now.join(parker.carried);
  write_down(Op::unparked, address, where);
}

void parker_unpark(const void* address, Stamp& stamp, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  run.signal(address, stamp);
  run.step(true);
  SignalObject& parker = run.signal(address, stamp);
  parker.token = true;
  run.continue_history(parker, run.event(Op::unpark, &parker, parker.hash));
  run.learn(parker, true);
  parker.carried.join(run.me().mind.now);
  write_down(Op::unpark, address, where);
  run.something_changed();
}

void parker_destroyed(const void* address, Stamp& stamp) noexcept {
  condition_destroyed(address, stamp);
}

std::uint32_t thread_start(void (*run_call)(void*), void* call, Where where) {
  if (!inside()) misused("a thread was started outside of a model");
  const InEngine in_engine;
  Execution& run = execution();
  run.step(false);
  run.event(Op::start, nullptr, 0);
  const ThreadIndex index = run.start_thread(run_call, call);
  write_down(Op::start, nullptr, where, index);
  return index;
}

void thread_join(std::uint32_t thread, Where where) noexcept {
  const InEngine in_engine;
  Execution& run = execution();
  run.step(false, {.what = Waiting::For::end, .index = thread});
  run.event(Op::join, nullptr, run.thread(thread).hash);
  run.me().mind.now.join(run.thread(thread).mind.now);
  write_down(Op::join, nullptr, where, thread);
}

std::uint32_t current_thread() noexcept { return inside() ? execution().current() : 0; }

std::uint64_t clock_ns() noexcept {
  if (!inside()) return 0;
  const InEngine in_engine;
  Execution& run = execution();
  run.event(Op::spin, nullptr, run.now_ns);
  return run.now_ns;
}

}  // namespace rouse::model
