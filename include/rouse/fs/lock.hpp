// Locks of whole files, between programs and between Files (flock): an exclusive one, or several
// shared ones. They are advisory: who does not ask is not kept out.
//
//   auto file = co_await fs::OpenOptions().write().create().open("app.lock");
//   co_await fs::lock(file);
//   ...                        // until fs::unlock(file), or until the File is dropped
//
// A lock belongs to the open file: a second File of the same path has none, one of try_clone shares
// it. A File that has a lock and asks for one of the other kind gives up the first, even if it does
// not get the second.
// Cancel safety, of all: if dropped midway, the file is not locked (unlock: it may or may not be).
// Threads: tasks of a runtime.
// Errors, of all: the system's; operation_canceled if the runtime has ended.
#pragma once

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/fs/file.hpp"

namespace rouse::fs {

/// Completes when nobody else has a lock, and this file an exclusive one. The system can't tell
/// when that is so: it tries again, after 1 ms at first and at most every 50 ms. Not fair.
[[nodiscard]] ROUSE_API AsyncResult<void> lock(const File& file);
/// The same for a shared lock: completes when nobody has an exclusive one.
[[nodiscard]] ROUSE_API AsyncResult<void> lock_shared(const File& file);
/// As `lock`, without waiting: false if somebody has a lock.
[[nodiscard]] ROUSE_API AsyncResult<bool> try_lock(const File& file);
/// As lock_shared, without waiting: false if somebody has an exclusive lock.
[[nodiscard]] ROUSE_API AsyncResult<bool> try_lock_shared(const File& file);
/// Completes when this file has no lock. That it had none is no error.
[[nodiscard]] ROUSE_API AsyncResult<void> unlock(const File& file);

}  // namespace rouse::fs
