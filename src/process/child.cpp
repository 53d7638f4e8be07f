// A child's end is told by its pidfd, which the reactor watches: SIGCHLD is left to the program.
#include "rouse/process/child.hpp"

#include <csignal>
#include <string>

#include "rouse/base/assert.hpp"

#include "process/communicate.hpp"
#include "process/orphans.hpp"
#include "sys/process.hpp"

namespace rouse::process {
namespace {

ExitStatus status_of(const sys::ProcessEnd& end) noexcept {
  return end.is_exit ? ExitStatus::exited(end.value)
                     : ExitStatus::killed(end.value, end.core_dumped);
}

}  // namespace

Child::Child(Child&& other) noexcept
    : stdin_(std::exchange(other.stdin_, std::nullopt)),
      stdout_(std::exchange(other.stdout_, std::nullopt)),
      stderr_(std::exchange(other.stderr_, std::nullopt)),
      pidfd_(std::exchange(other.pidfd_, {})),
      status_(other.status_),
      pid_(other.pid_),
      kill_on_drop_(other.kill_on_drop_),
      output_limit_(other.output_limit_) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  stdin_ = std::exchange(other.stdin_, std::nullopt);
  stdout_ = std::exchange(other.stdout_, std::nullopt);
  stderr_ = std::exchange(other.stderr_, std::nullopt);
  pidfd_ = std::exchange(other.pidfd_, {});
  status_ = other.status_;
  pid_ = other.pid_;
  kill_on_drop_ = other.kill_on_drop_;
  output_limit_ = other.output_limit_;
  return *this;
}

Child::~Child() { abandon(); }

void Child::abandon() noexcept {
  if (!pidfd_ || status_) return;
  if (kill_on_drop_) static_cast<void>(start_kill());
  adopt_orphan(*std::move(pidfd_));
  pidfd_.reset();
  reap_orphans();
}

void Child::check_not_moved_from() const noexcept {
  ROUSE_ASSERT(pidfd_, "a process::Child was used after it was moved from");
}

std::optional<int> Child::id() const noexcept {
  check_not_moved_from();
  return status_ ? std::nullopt : std::optional(pid_);
}

Result<std::optional<ExitStatus>> Child::try_wait() noexcept {
  check_not_moved_from();
  if (status_) return status_;
  const auto reaped = sys::reap((*pidfd_).fd());
  if (!reaped) return reaped.error();
  if (!*reaped) return std::optional<ExitStatus>();
  status_ = status_of(**reaped);
  release_orphan_slot();
  reap_orphans();
  return status_;
}

Poll<Result<ExitStatus>> Child::poll_wait(Context& cx) {
  using Waited = Poll<Result<ExitStatus>>;
  check_not_moved_from();
  // Not poll_when_ready: if waitid fails with EAGAIN, that is an error to be told, and none that
  // the descriptor would block.
  for (;;) {
    if (status_) return Waited::ready(*status_);
    const auto polled = (*pidfd_).poll_ready(cx, io::Interest::readable);
    if (polled.is_pending() || !cx.take_budget()) return pending;
    // Also when the runtime has ended: then it is looked at once more.
    const Result<std::optional<ExitStatus>> ended = try_wait();
    if (!ended) return Waited::ready(ended.error());
    if (*ended) return Waited::ready(**ended);
    const Result<io::Ready>& seen = polled.value();
    if (!seen) return Waited::ready(seen.error());
    (*pidfd_).clear_blocked(*seen, io::Interest::readable);
  }
}

AsyncResult<Output> Child::wait_with_output(std::string input) && {
  return communicate(std::move(*this), std::move(input), output_limit_);
}

AsyncResult<ExitStatus> Child::kill() {
  const Result<void> sent = start_kill();
  if (!sent && sent.error() != std::errc::no_such_process) co_return sent.error();
  co_return co_await wait();
}

Result<void> Child::start_kill() noexcept { return signal(signal::Kind(SIGKILL)); }

Result<void> Child::signal(signal::Kind kind) noexcept {
  check_not_moved_from();
  if (status_) return std::errc::no_such_process;
  return sys::send_signal((*pidfd_).fd(), kind.number());
}

}  // namespace rouse::process
