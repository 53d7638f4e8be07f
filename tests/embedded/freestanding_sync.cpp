#include "freestanding_sync.hpp"

#include <optional>
#include <utility>

#include "rouse/embedded/static_executor.hpp"
#include "rouse/sync/barrier.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/once_cell.hpp"

namespace {
using rouse::Context;
using rouse::pending;
using rouse::Poll;
using namespace rouse::sync;

constexpr int rounds = 500;

/// All wakes come from tasks: there is nothing to wait for.
template <std::size_t N>
void run(rouse::StaticExecutor<N>& executor) noexcept {
  executor.run([](const auto&) {});
}

/// Waits for `mine` and notifies the other, again and again.
class Player {
 public:
  using Output = void;
  Player(Notify& mine, Notify& other) noexcept : mine_(mine), other_(other) {}

  Poll<> poll(Context& cx) noexcept {
    while (count_ < rounds) {
      if (!waiting_) waiting_.emplace(mine_);
      if (waiting_->poll(cx).is_pending()) return pending;
      waiting_.reset();
      ++count_;
      other_.notify_one();
    }
    return Poll<>::ready();
  }
  int count() const noexcept { return count_; }

 private:
  Notify& mine_;
  Notify& other_;
  std::optional<Notify::Notified> waiting_;
  int count_ = 0;
};

/// Adds ones, and lets the other tasks run while it has the lock.
class Adder {
 public:
  using Output = void;
  explicit Adder(Mutex<int>& total) noexcept : total_(total) {}

  Poll<> poll(Context& cx) noexcept {
    while (count_ < rounds) {
      if (!guard_) {
        if (!locking_) locking_.emplace(total_.lock());
        auto locked = locking_->poll(cx);
        if (locked.is_pending()) return pending;
        locking_.reset();
        guard_.emplace(std::move(locked).value());
        cx.waker().wake_by_ref();
        return pending;
      }
      ++**guard_;
      ++count_;
      guard_.reset();
    }
    return Poll<>::ready();
  }

 private:
  Mutex<int>& total_;
  std::optional<LockFuture<int, Mutex<int>*>> locking_;
  std::optional<MutexGuard<int>> guard_;
  int count_ = 0;
};

/// Meets the others, again and again.
class Walker {
 public:
  using Output = void;
  Walker(Barrier& barrier, int& leaders) noexcept : barrier_(barrier), leaders_(leaders) {}

  Poll<> poll(Context& cx) noexcept {
    while (count_ < rounds) {
      if (!waiting_) waiting_.emplace(barrier_);
      const auto met = waiting_->poll(cx);
      if (met.is_pending()) return pending;
      waiting_.reset();
      ++count_;
      if (met.value().is_leader()) ++leaders_;
    }
    return Poll<>::ready();
  }

 private:
  Barrier& barrier_;
  int& leaders_;
  std::optional<Barrier::Wait> waiting_;
  int count_ = 0;
};

/// Gives its value at its second poll.
class Slow {
 public:
  using Output = int;
  explicit Slow(int value) noexcept : value_(value) {}
  Poll<int> poll(Context& cx) noexcept {
    if (polled_) return Poll<int>::ready(value_);
    polled_ = true;
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  int value_;
  bool polled_ = false;
};

struct MakeSlow {
  Slow operator()() const noexcept { return Slow(value); }
  int value;
};

/// Keeps what it got.
class Asker {
 public:
  using Output = void;
  Asker(OnceCell<int>& cell, int own) noexcept : get_(cell, MakeSlow{own}) {}

  Poll<> poll(Context& cx) noexcept {
    const auto got = get_.poll(cx);
    if (got.is_pending()) return pending;
    value = got.value();
    return Poll<>::ready();
  }
  int value = 0;

 private:
  OnceCell<int>::GetOrInit<MakeSlow> get_;
};
}  // namespace

bool notify_works() noexcept {
  rouse::StaticExecutor<2> executor;
  Notify ping;
  Notify pong;
  Player first(ping, pong);
  Player second(pong, ping);
  ping.notify_one();
  if (!executor.spawn(first) || !executor.spawn(second)) return false;
  run(executor);
  return first.count() == rounds && second.count() == rounds;
}

bool mutex_works() noexcept {
  rouse::StaticExecutor<3> executor;
  Mutex<int> total(0);
  Adder first(total);
  Adder second(total);
  Adder third(total);
  if (!executor.spawn(first) || !executor.spawn(second) || !executor.spawn(third)) return false;
  run(executor);
  return total.get_mut() == 3 * rounds;
}

bool barrier_works() noexcept {
  rouse::StaticExecutor<3> executor;
  Barrier barrier(3);
  int leaders = 0;
  Walker first(barrier, leaders);
  Walker second(barrier, leaders);
  Walker third(barrier, leaders);
  if (!executor.spawn(first) || !executor.spawn(second) || !executor.spawn(third)) return false;
  run(executor);
  return leaders == rounds;
}

bool once_cell_works() noexcept {
  rouse::StaticExecutor<2> executor;
  OnceCell<int> cell;
  Asker first(cell, 1);
  Asker second(cell, 2);
  if (!executor.spawn(first) || !executor.spawn(second)) return false;
  run(executor);
  return first.value == 1 && second.value == 1;
}
