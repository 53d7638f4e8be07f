#include "process/orphans.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/context.hpp"
#include "rouse/core/waker.hpp"

#include "sys/process.hpp"

namespace rouse::process {
namespace {

bool has_ended(int pidfd) noexcept {
  const auto reaped = sys::reap(pidfd);
  return !reaped || reaped->has_value();  // an error: somebody else has reaped it
}

/// Those that no reactor watches.
struct Unwatched {
  Mutex mutex;
  std::vector<io::OwnedFd> pidfds;
};

/// Never destroyed: a Child may be dropped while the process ends.
Unwatched& unwatched() {
  static auto& list = *new Unwatched;
  return list;
}

/// Woken by the reactor when the process has ended, or the runtime does.
class Orphan : public RefCounted<Orphan> {
 public:
  explicit Orphan(io::AsyncFd pidfd) noexcept : pidfd_(std::move(pidfd)) {}

  void wake() noexcept { watch(); }
  void watch() noexcept {
    // Giving the descriptor up drops the waker, which may be all that keeps this alive.
    const auto alive = RefPtr<Orphan>::share(this);
    const Waker waker = make_waker(alive);
    Context cx(waker);
    // The reactor may wake this before poll_ready has returned.
    const Lock lock(mutex_);
    while (pidfd_) {
      const auto polled = pidfd_->poll_ready(cx, io::Interest::readable);
      if (polled.is_pending()) return;
      const Result<io::Ready>& seen = polled.value();
      if (has_ended(pidfd_->fd())) {
        pidfd_.reset();
      } else if (seen) {
        pidfd_->clear_blocked(*seen, io::Interest::readable);
      } else {
        leave_to_others();
      }
    }
  }

 private:
  void leave_to_others() {
    io::OwnedFd pidfd = std::move(*pidfd_).into_fd();
    pidfd_.reset();
    const Lock lock(unwatched().mutex);
    unwatched().pidfds.push_back(std::move(pidfd));
  }

  Mutex mutex_;
  std::optional<io::AsyncFd> pidfd_;  // nothing: its end was seen, or it is on the list
};

}  // namespace

void adopt_orphan(io::AsyncFd pidfd) noexcept { make_ref<Orphan>(std::move(pidfd))->watch(); }

void reap_orphans() noexcept {
  const Lock lock(unwatched().mutex);
  std::erase_if(unwatched().pidfds,
                [](const io::OwnedFd& pidfd) { return has_ended(pidfd.get()); });
}

}  // namespace rouse::process
