// Names for guards and permits that keep alive what they lock, through a std::shared_ptr. The
// functions that give them (lock_owned, acquire_owned, ...) take any smart pointer.
//
//   struct Session { sync::OwnedSemaphorePermit slot; ... };
//   Session session{co_await sync::Semaphore::acquire_owned(slots)};   // slots: a shared_ptr
#pragma once

#include <memory>

#include "rouse/sync/mutex.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/sync/semaphore.hpp"

namespace rouse::sync {

/// What Semaphore::acquire_owned gives for a std::shared_ptr.
using OwnedSemaphorePermit = BasicPermit<std::shared_ptr<Semaphore>>;
/// What Mutex::lock_owned gives for a std::shared_ptr.
template <class T>
using OwnedMutexGuard = MutexGuard<T, std::shared_ptr<Mutex<T>>>;
/// What RwLock::read_owned gives for a std::shared_ptr.
template <class T>
using OwnedReadGuard = ReadGuard<T, std::shared_ptr<RwLock<T>>>;
/// What RwLock::write_owned gives for a std::shared_ptr.
template <class T>
using OwnedWriteGuard = WriteGuard<T, std::shared_ptr<RwLock<T>>>;

}  // namespace rouse::sync
