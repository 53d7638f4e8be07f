// Orphans: child processes whose Child was dropped before their end. Somebody must take note of
// that (reap them), or they stay as zombies.
//
// Their descriptor stays with the reactor that watched it for the Child, and the waker it is polled
// with reaps. When that reactor closes, the descriptor goes to a list of the process, which
// `reap_orphans` looks through.
#pragma once

#include "rouse/io/async_fd.hpp"

namespace rouse::process {

/// Any thread.
void adopt_orphan(io::AsyncFd pidfd) noexcept;
/// Reaps those on the list that have ended.
void reap_orphans() noexcept;

}  // namespace rouse::process
