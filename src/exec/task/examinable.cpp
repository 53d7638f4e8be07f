#include "exec/task/examinable.hpp"

#include <new>
#include <utility>

#include "exec/task/debug_layout.hpp"
#include "sys/process_fork.hpp"

namespace rouse::internal {

alignas(Examinables) char examinables_place[sizeof(Examinables)];

namespace {

Examinables& list() noexcept {
  static Examinables& made = *new (examinables_place) Examinables;
  return made;
}

/// In a forked child the threads of these schedulers do not exist, nor does who examined them.
void leave_to_parent() noexcept {
  list().all.move_to(list().of_parent);
  new (&list().examiner) Mutex;
  list().mutex.unlock();
}
[[maybe_unused]] const bool forks_are_watched =
    model_checker || sys::at_process_fork([] { list().mutex.lock(); },
                                          [] { list().mutex.unlock(); }, leave_to_parent);

}  // namespace

// A model examines what it made, and needs no list.

void Examinable::enroll() noexcept {
  if constexpr (!model_checker) {
    keep_debug_layout();
    const Lock lock(list().mutex);
    number_ = ++list().made;
    insert_before(list().all);
  }
}

void Examinable::withdraw() noexcept {
  if constexpr (model_checker) return;
  const Lock lock(list().mutex);
  unlink();
}

ExamineAll::ExamineAll() noexcept { list().examiner.lock(); }

ExamineAll::~ExamineAll() { list().examiner.unlock(); }

EveryScheduler::~EveryScheduler() {
  if (current_ != nullptr) current_->release_examined();
}

Examinable* EveryScheduler::next() noexcept {
  Examinable* const before = std::exchange(current_, nullptr);
  {
    const Lock lock(list().mutex);
    const RingHead& all = list().all;
    // `before` has a reference, so it is in the list.
    RingLink* link = before == nullptr ? all.next() : before->RingLink::next();
    for (; link != &all && current_ == nullptr; link = link->next()) {
      auto* const entry = static_cast<Examinable*>(link);
      if (entry->try_add_ref()) current_ = entry;
    }
  }
  // Not under the lock: it may have been the last reference.
  if (before != nullptr) before->release_examined();
  return current_;
}

}  // namespace rouse::internal
