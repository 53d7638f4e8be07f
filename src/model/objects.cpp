// The objects of an execution: how the engine finds its record of an atomic, a cell or a lock, and
// what it learns and checks at each use. A stamp whose execution is another one belongs to an
// object that was made outside, or in an earlier execution; memory that was freed holds no valid
// stamp.
#include <cstring>
#include <deque>

#include "model/execution.hpp"

namespace rouse::model {

void Execution::check_use(const Object& object, const void* address, const char* kind) {
  if (!object.alive || object.address != address) {
    fail(Problem::use_after_free,
         std::string("use of ") + trace.name_of(address, kind) + ", which was destroyed");
  }
  const Stamp& stamp = *object.stamp;
  if (stamp.creator != current_ && me().mind.now.clock.at[stamp.creator] < stamp.made_at) {
    fail(Problem::data_race, std::string("use of ") + trace.name_of(address, kind) +
                                 ", whose construction by " + name_of_thread(stamp.creator) +
                                 " did not happen before");
  }
}

void Execution::describe(Object& object, const void* address, Stamp& stamp, std::size_t index,
                         const char* kind) {
  const Arena::Block* block = arena_.find(address);
  if ((block != nullptr && !block->live) ||
      (stamp.execution == number_ && stamp.index == Stamp::destroyed)) {
    fail(Problem::use_after_free, std::string("use of ") + trace.name_of(address, kind) +
                                      (block != nullptr && !block->live ? ", whose memory was freed"
                                                                        : ", which was destroyed"));
  }
  if (stamp.execution != number_) stamp = Stamp{.execution = number_};
  stamp.index = static_cast<std::uint32_t>(index);
  object.address = address;
  object.stamp = &stamp;
  object.name_hash = mix(reinterpret_cast<std::uintptr_t>(address), 0x0B1EC7);
  object.contended = !search_.options.prune || search_.contended.contains(address);
}

template <class T>
T& Execution::find(std::deque<T>& objects, const void* address, Stamp& stamp, const char* kind) {
  const bool is_new = stamp.execution != number_ || stamp.index >= objects.size();
  if (is_new) {
    T& object = objects.emplace_back();
    describe(object, address, stamp, objects.size() - 1, kind);
  }
  T& found = objects[stamp.index];
  check_use(found, address, kind);
  return found;
}

AtomicObject& Execution::atomic(const Word& word) {
  const bool is_from_outside = word.stamp->execution != number_;
  const std::size_t count = atomics_.size();
  AtomicObject& object = find(atomics_, word.value, *word.stamp, "atomic");
  if (atomics_.size() == count) return object;
  object.word = word;
  object.is_from_outside = is_from_outside;
  std::memcpy(&object.first_value, word.value, word.size);
  memory.add(object.name_hash, object.first_value, word.stamp->creator, word.stamp->made_at);
  return object;
}

CellObject& Execution::cell(const void* address, Stamp& stamp) {
  return find(cells_, address, stamp, "cell");
}
MutexObject& Execution::mutex(const void* address, Stamp& stamp) {
  return find(mutexes, address, stamp, "mutex");
}
SignalObject& Execution::signal(const void* address, Stamp& stamp) {
  return find(signals, address, stamp, "condvar");
}

void Execution::learn(Object& object, bool is_change) {
  const Clock& now = me().mind.now.clock;
  const Clock& others = is_change ? object.used : object.changed;
  if (!object.contended && now.first_uncovered(others, current_) != max_threads) {
    object.contended = true;
    search_.contended.insert(object.address);
    search_.must_restart = true;
  }
  object.used.at[current_] = now.at[current_];
  if (is_change) object.changed.at[current_] = now.at[current_];
}

void Execution::learn_tried(const MutexObject& mutex) {
  if (search_.tried.insert(mutex.address).second) search_.must_restart = true;
}

/// The record, if there is one.
template <class T>
T* Execution::destroy(std::deque<T>& objects, const void* address, Stamp& stamp, const char* kind) {
  if (stamp.execution == number_ && stamp.index == Stamp::unused) {
    stamp.index = Stamp::destroyed;
    return nullptr;
  }
  const Arena::Block* block = arena_.find(address);
  if (stamp.execution != number_ && (block == nullptr || block->live)) return nullptr;
  T& object = find(objects, address, stamp, kind);
  const ThreadIndex other = me().mind.now.clock.first_uncovered(object.used, current_);
  if (other != max_threads) {
    fail(Problem::data_race, trace.name_of(address, kind) + " is destroyed by " +
                                 name_of_thread(current_) + " while " + name_of_thread(other) +
                                 " may be using it: nothing orders the two");
  }
  object.alive = false;
  return &object;
}

void Execution::atomic_destroyed(const Word& word) {
  destroy(atomics_, word.value, *word.stamp, "atomic");
}
void Execution::cell_destroyed(const void* address, Stamp& stamp) {
  destroy(cells_, address, stamp, "cell");
}
void Execution::mutex_destroyed(const void* address, Stamp& stamp) {
  const MutexObject* mutex = destroy(mutexes, address, stamp, "mutex");
  if (mutex != nullptr && mutex->owner != max_threads) {
    fail(Problem::misuse, trace.name_of(address, "mutex") + " is destroyed while " +
                              name_of_thread(mutex->owner) + " has it");
  }
}
void Execution::signal_destroyed(const void* address, Stamp& stamp) {
  const SignalObject* signal = destroy(signals, address, stamp, "condvar");
  if (signal != nullptr && !signal->waiting.empty()) {
    fail(Problem::misuse, trace.name_of(address, "condvar") + " is destroyed while " +
                              name_of_thread(signal->waiting.front()) + " waits for it");
  }
}

}  // namespace rouse::model
