// Pool<M>: connections that are lent, each to one borrower at a time, and used again.
//
//   Pool<Databases> pool(Databases(address), PoolOptions().max_open(20));
//   auto connection = co_await pool.take();       // first come, first served
//   co_await connection->query("...");
//   connection.mark_clean();                      // it is between two requests: lend it again
//
// `M` is a manager, which knows the protocol; its functions may run on any thread, and at the same
// time:
//
//   connect()            a future of a new connection; bound its time
//   clean(connection)    optional: a future of a bool; brings one that came back dirty between two
//                        requests (reads what is left of an answer, rolls a transaction back)
//   is_clean(connection) optional: whether the protocol says that it is between two requests; must
//                        not throw
//   is_open(connection)  optional: whether an idle one may be lent; must not wait
//
// A connection comes back dirty unless `mark_clean` or `is_clean` says otherwise: a borrower who
// was dropped midway, or threw, leaves no answer to the next one. The janitor, a task of the pool,
// cleans the dirty ones if the manager can, and closes those that are dirty, old, or idle for long.
//
// The last one used is lent first, so that the others become idle and are closed. Who opens one
// does it in its own `take`; if that fails, it alone hears of it, and the next in line tries.
// Threads: any of a runtime.
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/maybe.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/future.hpp"
#include "rouse/core/internal/live.hpp"
#include "rouse/core/internal/movable_until_polled.hpp"
#include "rouse/core/result_future.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/runtime/internal/pool_shared.hpp"
#include "rouse/runtime/pool_options.hpp"
#include "rouse/time/instant.hpp"

namespace rouse {

/// A lent connection: comes back when this is destroyed. Must be the last to use it: what `*` and
/// `->` give is not to be kept. May outlive the pool.
template <class C>
class [[nodiscard("the connection comes back at once: keep it in a variable")]] Pooled {
  using Slot = internal::ConnectionSlot<C>;

 public:
  Pooled(RefPtr<internal::PoolOf<C>> pool, Slot& slot) noexcept
      : pool_(std::move(pool)), slot_(&slot) {}
  Pooled(Pooled&& other) noexcept
      : pool_(std::move(other.pool_)),
        slot_(std::exchange(other.slot_, nullptr)),
        idle_(other.idle_),
        is_clean_(other.is_clean_) {}
  Pooled& operator=(Pooled other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(slot_, other.slot_);
    std::swap(idle_, other.idle_);
    std::swap(is_clean_, other.is_clean_);
    return *this;
  }
  ~Pooled() {
    if (slot_ == nullptr) return;
    const bool is_clean = is_clean_ || pool_->is_between_requests(*slot_->connection);
    pool_->give_back(*slot_, is_clean, idle_);
  }

  /// Whoever uses it makes it dirty.
  C& operator*() noexcept {
    ROUSE_ASSERT(slot_, "use of a Pooled connection that was moved from");
    is_clean_ = false;
    return *slot_->connection;
  }
  C* operator->() noexcept { return &**this; }

  /// The connection is between two requests: the next borrower may have it. Holds until it is used
  /// again. It is closed if it stays idle for so long, or for the pool's own idle_timeout.
  void mark_clean(time::Nanoseconds idle = time::Nanoseconds::max()) noexcept {
    idle_ = idle;
    is_clean_ = true;
  }
  /// Whether somebody had borrowed it before: it may have been closed at the other end meanwhile.
  [[nodiscard]] bool is_reused() const noexcept { return slot_->lends() > 1; }
  /// The connection, which leaves the pool for good.
  [[nodiscard]] C into_inner() && {
    ROUSE_ASSERT(slot_, "into_inner() of a Pooled connection that was moved from");
    C connection(std::move(*slot_->connection));
    pool_->close(*std::exchange(slot_, nullptr));
    return connection;
  }

 private:
  RefPtr<internal::PoolOf<C>> pool_;
  Slot* slot_;
  time::Nanoseconds idle_ = time::Nanoseconds::max();
  bool is_clean_ = false;
};

namespace internal {

/// The last handle that goes closes the pool.
template <class M>
class PoolUsers : public RefCounted<PoolUsers<M>> {
 public:
  PoolUsers(M manager, const PoolOptions& options)
      : shared(make_ref<PoolShared<M>>(std::move(manager), options)) {}
  ~PoolUsers() { shared->core.close(); }

  const RefPtr<PoolShared<M>> shared;
};

}  // namespace internal

/// What Pool::take waits for, without its timeout.
template <class M>
class [[nodiscard("a future does nothing until it is polled: co_await it")]] PoolTake
    : public ResultFuture<PoolTake<M>, Pooled<internal::PoolConnection<M>>> {
  using Shared = internal::PoolShared<M>;
  using Slot = typename Shared::Slot;
  using Connection = typename Shared::Connection;
  using Lent = Pooled<Connection>;

 public:
  explicit PoolTake(RefPtr<internal::PoolUsers<M>> users) noexcept : users_(std::move(users)) {}
  PoolTake(PoolTake&&) noexcept = default;
  PoolTake& operator=(PoolTake&&) = delete;
  ~PoolTake() {
    if (!waiter_.is_fresh()) pool().leave(waiter_);
    connecting_.reset();
    if (has_place_) give_up_place();
  }

  Poll<Result<Lent>> poll_result(Context& cx) {
    return poll_steps(cx, [&] { return internal::finish_as_result(connecting_, cx); });
  }
  /// The same; what `connect` throws is thrown as it is.
  Poll<Result<Lent>> poll_or_throw(Context& cx) {
    return poll_steps(cx, [&] {
      return internal::finish(connecting_, cx).map([](Connection&& connection) {
        return Result<Connection>(std::move(connection));
      });
    });
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(PoolTake, "pool", one, &PoolTake::connecting_)

 private:
  template <class PollFn>
  Poll<Result<Lent>> poll_steps(Context& cx, PollFn poll_connecting) {
    using Ready = Poll<Result<Lent>>;
    ROUSE_ASSERT(live_, "take() of a Pool was polled after it was ready or moved from");
    move_check_.set_polled();
    while (!connecting_) {
      const auto turn = pool().core.poll_turn(waiter_, cx);
      if (turn.is_pending()) return pending;
      switch (turn.value()) {
        case internal::PoolTurn::lent: {
          auto& slot = static_cast<Slot&>(waiter_.slot());
          if (pool().is_usable(slot)) return Ready::ready(lend(slot));
          pool().give_up(slot);
          break;
        }
        case internal::PoolTurn::may_open:
          begin_to_open();
          break;
        case internal::PoolTurn::closed:
          return Ready::ready(fail(PoolError::closed));
        case internal::PoolTurn::full:
          return Ready::ready(fail(PoolError::line_full));
      }
    }
    auto connected = poll_connecting();
    if (connected.is_pending()) return pending;
    if (connected.value()) return Ready::ready(open(*std::move(connected).value()));
    give_up_place();
    return Ready::ready(fail(connected.value().error()));
  }

  void begin_to_open() {
    has_place_ = true;
    slot_ = new Slot();
    internal::spawn_janitor(users_->shared);
    connecting_.emplace(pool().manager.connect());
  }
  Result<Lent> open(Connection connection) {
    slot_->connection.emplace(std::move(connection));
    has_place_ = false;
    Slot& slot = *std::exchange(slot_, nullptr);
    if (pool().core.opened(slot)) return lend(slot);
    pool().give_up(slot);
    return fail(PoolError::closed);
  }
  Result<Lent> lend(Slot& slot) {
    pool().core.count_lend(slot);
    live_.end();
    return Lent(RefPtr<internal::PoolOf<Connection>>(users_->shared), slot);
  }
  Result<Lent> fail(std::error_code error) noexcept {
    live_.end();
    return error;
  }
  void give_up_place() noexcept {
    has_place_ = false;
    delete std::exchange(slot_, nullptr);
    pool().core.open_failed();
  }
  [[nodiscard]] Shared& pool() const noexcept { return *users_->shared; }

  RefPtr<internal::PoolUsers<M>> users_;
  internal::PoolWaiter waiter_;
  internal::Live live_;
  internal::MovableUntilPolled move_check_;
  bool has_place_ = false;
  Slot* slot_ = nullptr;  // once it has a place
  internal::Maybe<internal::PoolConnecting<M>> connecting_;
};

/// A cheap handle: copies share the connections. The last one that goes closes the pool.
template <class M>
class Pool {
 public:
  using Connection = internal::PoolConnection<M>;

  /// Opens nothing before it is needed.
  explicit Pool(M manager, const PoolOptions& options = PoolOptions())
      : users_(make_ref<internal::PoolUsers<M>>(std::move(manager), options)) {}

  /// Borrows a connection: a Pooled<Connection>. Completes when all who came before are served and
  /// one is idle, or was opened for this borrower. Keeps the pool open until then.
  /// Cancel safety: dropping it gives up its place in line; a connection that it was given goes to
  /// the next, one that it opens is given up.
  /// Threads: any thread of a runtime.
  /// Errors: PoolError::closed, PoolError::line_full; TimedOut, after PoolOptions::take_timeout or
  /// at the Deadline, as of timeout_or_deadline; what the manager's `connect` fails with.
  [[nodiscard]] TimeoutOrDeadline<PoolTake<M>> take(
      std::source_location where = std::source_location::current()) const {
    return timeout_or_deadline(core().options().take_timeout(), PoolTake<M>(users_), where);
  }

  /// All who wait, now and later, fail. Closes what is idle; what is lent is closed when it comes
  /// back.
  void close() const noexcept { core().close(); }
  /// Whether `close` was called.
  [[nodiscard]] bool is_closed() const noexcept { return core().is_closed(); }
  [[nodiscard]] ConnectionMetrics metrics() const noexcept { return core().metrics(); }
  /// For what all connections share.
  [[nodiscard]] M& manager() const noexcept { return users_->shared->manager; }

 private:
  [[nodiscard]] internal::ConnectionPool& core() const noexcept { return users_->shared->core; }

  RefPtr<internal::PoolUsers<M>> users_;
};

}  // namespace rouse
