// The blocking half of the atomic seam: see base/atomic.hpp.
#pragma once

#if defined(ROUSE_MODEL)
#include <mutex>
#else
#include <condition_variable>
#include <mutex>
#include <thread>
#endif

#include "rouse/base/atomic.hpp"
#include "rouse/base/internal/durations.hpp"
#if defined(ROUSE_MODEL)
#include "rouse/model/internal/thread.hpp"
#endif

namespace rouse {
#if defined(ROUSE_MODEL)
inline namespace model_checked {

using Mutex = model::CheckedMutex;
using CondVar = model::CheckedCondVar;
using Thread = model::CheckedThread;
using Lock = std::unique_lock<Mutex>;

/// In a model time passes when the scheduler says so.
inline bool wait_for(CondVar& condition, Lock& lock, std::chrono::nanoseconds time,
                     model::Where where = model::Where::current()) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
  return condition.wait_at_most(
      lock, time < longest ? static_cast<std::uint64_t>(time.count()) : model::no_limit, where);
}

}  // namespace model_checked
#else
inline namespace native {

using Mutex = std::mutex;
using CondVar = std::condition_variable;
using Thread = std::thread;
using Lock = std::unique_lock<Mutex>;

/// Waits for a notification, for at most `time`. Any duration is valid, even one that no clock can
/// be set to. False: the time has passed. True may be a spurious wake, as with any wait.
inline bool wait_for(CondVar& condition, Lock& lock, std::chrono::nanoseconds time) {
  using std::chrono::steady_clock;
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
  const auto until = steady_clock::now() + (time < longest ? time : longest);
  return condition.wait_until(lock, until) == std::cv_status::no_timeout || time > longest;
}

}  // namespace native
#endif
}  // namespace rouse
