// What all handles, borrowers and the janitor of a Pool share; and the janitor: a task that cleans
// what came back dirty, and closes what is worn or was idle for too long. So neither a borrower nor
// a destructor ever waits for that.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/future.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/futures_unordered.hpp"
#include "rouse/runtime/internal/connection_pool.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/time/internal/timer_entry.hpp"
#include "rouse/time/timeout.hpp"

namespace rouse::internal {

/// What a manager's `connect` gives.
template <class M>
using PoolConnecting = decltype(std::declval<M&>().connect());
template <class M>
using PoolConnection = output_t<PoolConnecting<M>>;

template <class M>
inline constexpr bool cleans = requires(M& manager, PoolConnection<M>& connection) {
  { manager.clean(connection) } -> Future;
};

template <class C>
class ConnectionSlot : public PoolSlot {
 public:
  Maybe<C> connection;
};

/// What a lent connection knows of its pool.
template <class C>
class PoolOf : public RefCounted<PoolOf<C>> {
 public:
  using Slot = ConnectionSlot<C>;

  explicit PoolOf(const PoolOptions& options) noexcept : core(options) {}
  virtual ~PoolOf() = default;

  /// What the protocol says of a connection that comes back.
  [[nodiscard]] virtual bool is_between_requests(C& connection) = 0;

  void give_back(Slot& slot, bool is_clean, time::Nanoseconds idle) noexcept {
    if (!core.give_back(slot, is_clean, idle)) close(slot);
  }
  void give_up(Slot& slot) noexcept {
    if (!core.give_up(slot)) close(slot);
  }
  void leave(PoolWaiter& waiter) noexcept {
    if (PoolSlot* slot = core.leave(waiter)) close(static_cast<Slot&>(*slot));
  }
  /// Of a lent one.
  void close(Slot& slot) noexcept {
    delete &slot;
    core.closed();
  }

  ConnectionPool core;
};

template <class M>
class PoolShared final : public PoolOf<PoolConnection<M>> {
 public:
  using Connection = PoolConnection<M>;
  using Slot = ConnectionSlot<Connection>;
  using PoolOf<Connection>::core;

  PoolShared(M given, const PoolOptions& options)
      : PoolOf<Connection>(options), manager(std::move(given)) {}

  bool is_between_requests(Connection& connection) override {
    if constexpr (requires { manager.is_clean(connection); }) {
      return manager.is_clean(connection);
    } else {
      return false;
    }
  }
  /// Whether one that was idle, or just came back, may be lent.
  bool is_usable(Slot& slot) {
    if (!core.is_fresh(slot)) return false;
    if constexpr (requires { manager.is_open(*slot.connection); }) {
      return manager.is_open(*slot.connection);
    } else {
      return true;
    }
  }

  M manager;
};

/// A connection that the janitor has.
template <class M>
class TidiedSlot {
  using Shared = PoolShared<M>;
  using Slot = typename Shared::Slot;

 public:
  TidiedSlot(Shared& pool, Slot& slot) noexcept : pool_(&pool), slot_(&slot) {}
  TidiedSlot(TidiedSlot&& other) noexcept
      : pool_(other.pool_), slot_(std::exchange(other.slot_, nullptr)) {}
  TidiedSlot& operator=(TidiedSlot&&) = delete;
  ~TidiedSlot() {
    if (slot_ == nullptr) return;
    delete slot_;
    pool_->core.tidied_away();
  }

  auto& connection() const noexcept { return *slot_->connection; }
  void keep() noexcept {
    if (pool_->core.cleaned(*slot_)) slot_ = nullptr;
  }

 private:
  Shared* pool_;
  Slot* slot_;
};

/// Completes when the pool is closed and all connections are gone.
template <class M>
class PoolJanitor {
  using Shared = PoolShared<M>;
  using Slot = typename Shared::Slot;

 public:
  using Output = void;

  explicit PoolJanitor(RefPtr<Shared> pool) noexcept : pool_(std::move(pool)) {}
  PoolJanitor(PoolJanitor&&) noexcept = default;
  PoolJanitor& operator=(PoolJanitor&&) = delete;
  ~PoolJanitor() {
    if (!pool_) return;
    cleaning_.clear();
    RingHead left;
    pool_->core.end_janitor(left);
    while (!left.empty()) {
      auto& slot = static_cast<Slot&>(*left.next());
      slot.unlink();
      const TidiedSlot<M> closed(*pool_, slot);
    }
  }

  Poll<> poll(Context& cx) {
    for (;;) {
      news_.reset();
      news_.emplace(pool_->core.news());
      const time::Instant next = pool_->core.sweep();
      tidy();
      while (is_ready_with_some(cx)) {
      }
      if (pool_->core.is_over()) return Poll<>::ready();
      timer_.reset(next);
      if ((*news_).poll(cx).is_pending() && !timer_.poll(cx)) return pending;
    }
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(PoolJanitor, "pool_janitor", any_of, &PoolJanitor::news_, &PoolJanitor::timer_)

 private:
  void tidy() {
    while (PoolSlot* slot = pool_->core.next_to_tidy()) {
      TidiedSlot<M> tidied(*pool_, static_cast<Slot&>(*slot));
      if constexpr (cleans<M>) {
        if (slot->is_worn()) continue;
        try {
          cleaning_.push(clean(*pool_, std::move(tidied)));
        } catch (const std::bad_alloc&) {  // it is closed
        }
      }
    }
  }
  /// One was cleaned or closed.
  bool is_ready_with_some(Context& cx) {
    if (cleaning_.empty()) return false;
    return cleaning_.poll_next(cx).is_ready();
  }
  static Async<void> clean(Shared& pool, TidiedSlot<M> slot) {
    try {
      const auto time = pool.core.options().clean_timeout();
      const bool is_clean = co_await timeout(time, pool.manager.clean(slot.connection()));
      if (is_clean) slot.keep();
    } catch (...) {  // whatever is wrong with it: it is closed
    }
  }

  RefPtr<Shared> pool_;
  FuturesUnordered<Async<void>> cleaning_;
  Maybe<sync::Notify::Notified> news_;
  TimerEntry timer_{time::Instant::max()};
};

/// Makes sure that there is one.
template <class M>
void spawn_janitor(const RefPtr<PoolShared<M>>& pool) {
  if (!pool->core.needs_janitor()) return;
  PoolJanitor<M> janitor(pool);  // if it can't be spawned, its destructor says that there is none
  task::Builder().name("pool janitor").spawn(std::move(janitor)).detach();
}

}  // namespace rouse::internal
