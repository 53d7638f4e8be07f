#include "rouse/exec/await_local_set.hpp"

#include "exec/local/running.hpp"

namespace rouse::internal {

namespace {

/// As between two looks at the inbox: others are to have their turn.
constexpr unsigned polls_at_once = 61;

/// `spawn_local` goes to a core, in the middle of the poll of a task that is none of its own.
class SpawnsLocally {
 public:
  explicit SpawnsLocally(LocalCore& core) noexcept
      : before_(std::exchange(this_thread.local, &core)) {}
  ~SpawnsLocally() { this_thread.local = before_; }
  SpawnsLocally(const SpawnsLocally&) = delete;
  SpawnsLocally& operator=(const SpawnsLocally&) = delete;

 private:
  LocalCore* const before_;
};

/// Owns a core while it lives.
class Owned {
 public:
  explicit Owned(LocalCore& core) noexcept : core_(core) { core.own(); }
  ~Owned() { core_.leave(); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

 private:
  LocalCore& core_;
};

}  // namespace

bool LocalCore::poll_inside(Context& cx, FunctionRef<bool()> first, bool& is_done) {
  const Owned owned(*this);
  // A set that was run beside a runtime waits from now on where this task does.
  if (driver_) driver_->close();
  driver_ = nullptr;
  driver_of_ = nullptr;
  await_with(cx.waker());
  {
    const SpawnsLocally here(*this);
    if (first()) return true;
  }
  {
    const Running running(*this, this_thread.scheduler ? *this_thread.scheduler : *this);
    polled_by_.begin();
    if (has_posts()) drain_inbox();
    poll_up_to(polls_at_once);
    this_thread.task = nullptr;
    polled_by_.end();
  }
  const bool is_idle = !has_work();
  if (!is_idle) cx.waker().wake_by_ref();
  is_done = is_idle && tasks_.empty();
  return false;
}

/// A task may await a set by several futures (in join_all, with a waker each). The last one polled
/// is woken by the set; the others are kept until it ends.
void LocalCore::await_with(const Waker& waker) {
  Waker awaiter = waker;
  std::vector<Waker> kept;  // whose memory, like all wakers, is not freed under the lock
  const Lock lock(mutex_);
  const bool is_another = awaiter_ && !awaiter_.will_wake(awaiter);
  if (is_another || !other_awaiters_.empty()) {  // each once
    kept.reserve(other_awaiters_.size() + 1);
    for (Waker& other : other_awaiters_) {
      const bool is_there = other.will_wake(awaiter) || (is_another && other.will_wake(awaiter_));
      if (!is_there) kept.push_back(std::move(other));
    }
    if (is_another) kept.push_back(std::move(awaiter_));
    std::swap(kept, other_awaiters_);
  }
  std::swap(awaiter_, awaiter);
}

/// The wakers may be those of other futures of the same set: each is polled once more then, and
/// leaves its own here again.
void LocalCore::stop_awaiting() noexcept {
  Waker awaiter;
  std::vector<Waker> others;
  {
    const Lock lock(mutex_);
    std::swap(awaiter_, awaiter);
    std::swap(other_awaiters_, others);
  }
  if (awaiter) std::move(awaiter).wake();
  for (Waker& other : others) std::move(other).wake();
}

}  // namespace rouse::internal

namespace rouse {

using namespace internal;

LocalSet::Turn::~Turn() {
  if (set_) set_->core_->stop_awaiting();
}
bool LocalSet::Turn::poll(Context& cx, FunctionRef<bool()> first) {
  return set_->core_->poll_inside(cx, first, is_done_);
}

}  // namespace rouse
