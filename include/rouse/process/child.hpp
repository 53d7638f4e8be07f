// Child: a started process. See process/command.hpp.
//
// Dropping a Child lets its process run on (unless kill_on_drop was set), and leaves no zombie: the
// runtime in which it was started reaps it. If that runtime ends first, the next Child that is
// started, waited for or dropped in this process reaps it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/result.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/process/child_stdio.hpp"
#include "rouse/process/exit_status.hpp"
#include "rouse/process/output.hpp"
#include "rouse/signal/kind.hpp"

namespace rouse::process {

class ChildWait;

class ROUSE_API Child {
 public:
  /// Created by Command::spawn. `pidfd` is that of the child with the number `pid`.
  Child(io::AsyncFd pidfd, int pid, bool kill_on_drop, std::size_t output_limit) noexcept
      : pidfd_(std::in_place, std::move(pidfd)),
        pid_(pid),
        kill_on_drop_(kill_on_drop),
        output_limit_(output_limit) {}
  /// Not while it is waited for.
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  /// Its process id; empty once its end was seen, since the system may reuse the number.
  [[nodiscard]] std::optional<int> id() const noexcept;

  /// See ChildWait.
  ChildWait wait() noexcept ROUSE_LIFETIMEBOUND;
  Poll<Result<ExitStatus>> poll_wait(Context& cx);
  /// Empty: it still runs. Does not touch stdin_.
  Result<std::optional<ExitStatus>> try_wait() noexcept;

  /// Writes `input` to stdin_ and closes it, reads stdout_ and stderr_ to end of file, all
  /// concurrently, and completes as `wait`. It skips streams that were not piped, or were taken
  /// out. Consumes the child: `std::move(child).wait_with_output()`.
  /// Cancel safety: if dropped midway, what was read is lost; the process runs on unless
  /// kill_on_drop was set.
  /// Errors: as `wait`; invalid_argument if there is input but no stdin_; io::Error::too_long if it
  /// wrote more than the Command's output_limit: then it is killed. It is no error if the child
  /// does not read all of its input.
  [[nodiscard]] AsyncResult<Output> wait_with_output(std::string input = {}) &&;

  /// Kills it (SIGKILL) and completes as `wait`, at once if it had already ended. Borrows the
  /// child.
  /// Cancel safety: if dropped after its first poll, the signal is still sent.
  AsyncResult<ExitStatus> kill();
  /// Sends SIGKILL and does not wait.
  /// Errors: as `signal`.
  Result<void> start_kill() noexcept;
  /// Errors: no_such_process if its end was seen; operation_not_permitted; invalid_argument.
  Result<void> signal(signal::Kind kind) noexcept;

  // Those that were piped. Take them as you like: `auto out = std::move(*child.stdout_);`
  std::optional<ChildStdin> stdin_;    ///< what it reads
  std::optional<ChildStdout> stdout_;  ///< what it writes
  std::optional<ChildStderr> stderr_;  ///< what it writes there
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Child, nullptr, one, &Child::pidfd_)

 private:
  void abandon() noexcept;
  void check_not_moved_from() const noexcept;

  internal::Maybe<io::AsyncFd> pidfd_;  // nothing once it was moved from
  std::optional<ExitStatus> status_;
  int pid_;
  bool kill_on_drop_;
  std::size_t output_limit_;
};

/// Completes when the process has ended, with its status; each further wait completes at once.
/// First shuts down stdin_, so that a child that reads until end of file does end; if a write to it
/// is pending, only after that write has completed or was dropped. (If you write now and then, take
/// stdin_ out of the child first.) A pending write that is not one of stdin_'s members (io::copy,
/// a BufWriter, the free io::write_all) counts as pending even when it was dropped: write
/// `child.stdin_.reset()` before you wait. It does not read stdout_ and stderr_, and a child that
/// fills one of these pipes waits for a reader: see wait_with_output.
/// Cancel safety: dropping it loses nothing.
/// Threads: any; one wait at a time.
/// Errors: no_child_process if somebody else reaped it (SIGCHLD is ignored, or a wait for any
/// child); io::Error::runtime_ended.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ChildWait
    : public ResultFuture<ChildWait, ExitStatus> {
 public:
  explicit ChildWait(Child& child) noexcept : child_(&child) {}
  Poll<Result<ExitStatus>> poll_result(Context& cx) {
    if (child_->stdin_) child_->stdin_->shut_down_when_written(cx);
    return child_->poll_wait(cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(ChildWait, "process", one, &ChildWait::child_)

 private:
  Child* child_;
};

inline ChildWait Child::wait() noexcept { return ChildWait(*this); }

}  // namespace rouse::process
