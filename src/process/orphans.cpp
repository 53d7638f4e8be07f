#include "process/orphans.hpp"

#include <cstddef>
#include <new>
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
  std::size_t expected = 0;  // children whose end was not seen; there is room for so many
};

/// Never destroyed: a Child may be dropped while the process ends.
Unwatched& unwatched() noexcept {
  alignas(Unwatched) static char memory[sizeof(Unwatched)];
  static auto& list = *new (memory) Unwatched;
  return list;
}

void leave_to_others(io::OwnedFd pidfd) noexcept {
  Unwatched& list = unwatched();
  const Lock lock(list.mutex);
  list.pidfds.push_back(std::move(pidfd));  // it was expected
}

/// Woken by the reactor when the process has ended, or the runtime does.
class Orphan : public RefCounted<Orphan> {
 public:
  void watch(io::AsyncFd pidfd) noexcept {
    {
      const Lock lock(mutex_);
      pidfd_ = std::move(pidfd);
    }
    wake();
  }
  void wake() noexcept {
    // Giving the descriptor up drops the waker, which may be all that keeps this alive.
    const auto alive = RefPtr<Orphan>::share(this);
    const Waker waker = make_waker(alive);
    Context cx(waker);
    // The reactor may wake this before poll_ready has returned.
    const Lock lock(mutex_);
    if (!pidfd_) return;
    const auto look = [&](const Result<io::Ready>& seen) -> Poll<Result<void>> {
      using Done = Poll<Result<void>>;
      if (has_ended(pidfd_->fd())) {
        pidfd_.reset();
        release_orphan_slot();
        return Done::ready(Result<void>());
      }
      if (seen) return Done::ready(Result<void>(std::errc::operation_would_block));
      io::OwnedFd left = std::move(*pidfd_).into_fd();
      pidfd_.reset();
      leave_to_others(std::move(left));
      return Done::ready(Result<void>());
    };
    static_cast<void>(internal::poll_when_ready(*pidfd_, cx, io::Interest::readable, look));
  }

 private:
  Mutex mutex_;
  std::optional<io::AsyncFd> pidfd_;  // nothing: its end was seen, or it is on the list
};

}  // namespace

void reserve_orphan_slot() {
  Unwatched& list = unwatched();
  const Lock lock(list.mutex);
  if (list.expected == list.pidfds.capacity()) list.pidfds.reserve(2 * list.expected + 4);
  ++list.expected;
}

void release_orphan_slot() noexcept {
  Unwatched& list = unwatched();
  const Lock lock(list.mutex);
  --list.expected;
}

void adopt_orphan(io::AsyncFd pidfd) noexcept {
  RefPtr<Orphan> orphan;
  try {
    orphan = make_ref<Orphan>();
  } catch (const std::bad_alloc&) {
    return leave_to_others(std::move(pidfd).into_fd());
  }
  orphan->watch(std::move(pidfd));
}

void reap_orphans() noexcept {
  Unwatched& list = unwatched();
  const Lock lock(list.mutex);
  list.expected -=
      std::erase_if(list.pidfds, [](const io::OwnedFd& pidfd) { return has_ended(pidfd.get()); });
}

}  // namespace rouse::process
