// Orphans: child processes whose Child was dropped before their end. Somebody must take note of
// that (reap them), or they stay as zombies.
//
// Their descriptor stays with the reactor that watched it for the Child, and the waker it is polled
// with reaps. When that reactor closes, or there is no memory for that, the descriptor goes to a
// list of the process, which `reap_orphans` looks through. The list has room for every child there
// is, from before its start on, since a Child must not fail to be dropped.
#pragma once

#include "rouse/io/async_fd.hpp"

namespace rouse::process {

/// Before a child is started: it may become an orphan. Throws std::bad_alloc.
void expect_orphan();
/// It has not been started, or its end was seen.
void forget_orphan() noexcept;

/// Any thread.
void adopt_orphan(io::AsyncFd pidfd) noexcept;
/// Reaps those on the list that have ended.
void reap_orphans() noexcept;

}  // namespace rouse::process
