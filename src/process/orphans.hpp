// Orphans: child processes whose Child was dropped before they ended. Somebody must reap them, or
// they stay as zombies.
//
// Their descriptor stays registered with the Child's reactor, and the waker it is polled with
// reaps. When that reactor closes, or there is no memory for that, the descriptor goes to a list of
// the process, which `reap_orphans` checks. The list reserves room for every child before it is
// started, since dropping a Child must not fail.
#pragma once

#include "rouse/io/async_fd.hpp"

namespace rouse::process {

/// Before a child is started: it may become an orphan. Throws std::bad_alloc.
void reserve_orphan_slot();
/// It has not been started, or its end was seen.
void release_orphan_slot() noexcept;

/// Any thread.
void adopt_orphan(io::AsyncFd pidfd) noexcept;
/// Reaps those on the list that have ended.
void reap_orphans() noexcept;

}  // namespace rouse::process
