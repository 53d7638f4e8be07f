// Child: a process that was started here. See process/command.hpp.
//
// A Child that is dropped lets its process run on (unless kill_on_drop was said), and leaves no
// zombie: the runtime it was started in takes note of its end. If that runtime ends first, the next
// Child that is started, waited for or dropped in this process does it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/attempt.hpp"
#include "rouse/core/fallible.hpp"
#include "rouse/io/async_fd.hpp"
#include "rouse/process/child_stdio.hpp"
#include "rouse/process/exit_status.hpp"
#include "rouse/process/output.hpp"
#include "rouse/signal/kind.hpp"

namespace rouse::process {

class ChildWait;

class ROUSE_API Child {
 public:
  /// Made by Command::spawn. `pidfd` is that of the child with the number `pid`.
  Child(io::AsyncFd pidfd, int pid, bool kill_on_drop, std::size_t output_limit) noexcept
      : pidfd_(std::move(pidfd)),
        pid_(pid),
        kill_on_drop_(kill_on_drop),
        output_limit_(output_limit) {}
  /// Not while it is waited for.
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  /// Its number; nothing once its end was seen, for the system gives the number away again.
  [[nodiscard]] std::optional<int> id() const noexcept;

  /// See ChildWait.
  ChildWait wait() noexcept ROUSE_LIFETIMEBOUND;
  Poll<Result<ExitStatus>> poll_wait(Context& cx);
  /// Nothing: it still runs. Does not touch stdin_.
  Result<std::optional<ExitStatus>> try_wait() noexcept;

  /// Writes `input` to stdin_ and closes it, reads stdout_ and stderr_ to their ends, all at once,
  /// and completes as `wait`. Of streams that were not piped, or were taken, nothing is read.
  /// Takes the child: `std::move(child).wait_with_output()`. Dropped midway, what was read is lost;
  /// the process runs on unless kill_on_drop was said. Errors: as `wait`; invalid_argument if there
  /// is input but no stdin_; io::Error::too_long if it wrote more than the Command's output_limit:
  /// then it is killed. That the child does not read all of its input is none.
  [[nodiscard]] Attempt<Output> wait_with_output(std::string input = {}) &&;

  /// Kills it (SIGKILL) and completes as `wait`, at once if it had ended by itself. Dropped midway,
  /// the signal is sent all the same if this was polled. Borrows the child.
  Attempt<ExitStatus> kill();
  /// Sends SIGKILL and does not wait. Errors: as `signal`.
  Result<void> start_kill() noexcept;
  /// Errors: no_such_process if its end was seen; operation_not_permitted; invalid_argument.
  Result<void> signal(signal::Kind kind) noexcept;

  // Those that were piped. Take them as you like: `auto out = std::move(*child.stdout_);`
  std::optional<ChildStdin> stdin_;
  std::optional<ChildStdout> stdout_;
  std::optional<ChildStderr> stderr_;

 private:
  void abandon() noexcept;
  void check_not_moved_from() const noexcept;

  std::optional<io::AsyncFd> pidfd_;  // nothing once it was moved from
  std::optional<ExitStatus> status_;
  int pid_;
  bool kill_on_drop_;
  std::size_t output_limit_;
};

/// Completes when the process has ended, with how it did; each further wait does so at once. First
/// shuts stdin_ down, so that a child that reads to its end is not waited for in vain; while a
/// write to it is pending it does so when that has completed or was dropped. (Who writes now and
/// then takes stdin_ out of the child before; who drops a pending io::copy or another write that is
/// not of stdin_'s members resets it.) It does not read stdout_ and stderr_, and a child that fills
/// one of them waits for a reader: see wait_with_output. Dropped midway, nothing is lost. Any
/// thread; one wait at a time. Errors: no_child_process if somebody else took note of its end
/// (SIGCHLD is ignored, or a wait for any child); io::Error::runtime_ended.
class [[nodiscard("a future does nothing until it is polled: co_await it")]] ChildWait
    : public Fallible<ChildWait, ExitStatus> {
 public:
  explicit ChildWait(Child& child) noexcept : child_(child) {}
  Poll<Result<ExitStatus>> poll_result(Context& cx) {
    if (child_.stdin_) child_.stdin_->shut_down_when_written(cx);
    return child_.poll_wait(cx);
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  Child& child_;
};

inline ChildWait Child::wait() noexcept { return ChildWait(*this); }

}  // namespace rouse::process
