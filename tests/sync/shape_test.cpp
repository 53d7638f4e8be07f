// What the futures of sync/ say that they wait for: base/shape.hpp.
#include "rouse/base/shape.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/sync/barrier.hpp"
#include "rouse/sync/broadcast.hpp"
#include "rouse/sync/cancellation_token.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/mutex.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/once_cell.hpp"
#include "rouse/sync/oneshot.hpp"
#include "rouse/sync/rw_lock.hpp"
#include "rouse/sync/semaphore.hpp"
#include "rouse/sync/set_once.hpp"
#include "rouse/sync/task_tracker.hpp"
#include "rouse/sync/watch.hpp"
#include "rouse/testing/gate.hpp"

#include "support/shape_text.hpp"

namespace rouse::test {
namespace {

/// Polls a future, or reads a stream, that has to wait. Expects one leaf, and gives what it names.
template <class F>
const void* shape_names(F& future, sight::Wait kind, const char* label) {
  Context cx(Waker::noop());
  if constexpr (requires { future.poll(cx); }) {
    EXPECT_TRUE(future.poll(cx).is_pending());
  } else {
    EXPECT_TRUE(future.poll_next(cx).is_pending());
  }
  const ShapeText shape(future);
  EXPECT_EQ(shape.text(), label);
  EXPECT_EQ(shape.kind(0), kind);
  return shape.template field<const void*>(0);
}
template <class F>
const void* shape_of_temporary(F future, sight::Wait kind, const char* label) {
  return shape_names(future, kind, label);
}
template <class F>
std::string shape_after_poll(F& future) {
  Context cx(Waker::noop());
  EXPECT_TRUE(future.poll(cx).is_pending());
  return ShapeText(future).text();
}

TEST(SyncShape, Mutex) {
  sync::Mutex<int> mutex;
  const auto guard = mutex.try_lock();
  EXPECT_EQ(shape_of_temporary(mutex.lock(), sight::Wait::lock, "Mutex"), &mutex);
  auto owner = std::make_shared<sync::Mutex<int>>();
  const auto held = owner->try_lock();
  EXPECT_EQ(shape_of_temporary(sync::Mutex<int>::lock_owned(owner), sight::Wait::permits, "Mutex"),
            owner.get());
}

TEST(SyncShape, RwLock) {
  sync::RwLock<int> lock;
  const auto guard = lock.try_write();
  EXPECT_EQ(shape_of_temporary(lock.read(), sight::Wait::shared, "RwLock"), &lock);
  EXPECT_EQ(shape_of_temporary(lock.write(), sight::Wait::lock, "RwLock"), &lock);
}

TEST(SyncShape, ALockBeginsWithItsPermits) {
  const auto free_permits = [](const void* lock) {
    return static_cast<const internal::Permits*>(lock)->available();
  };
  sync::Mutex<std::string> mutex;
  EXPECT_EQ(free_permits(&mutex), 1U);
  const auto locked = mutex.try_lock();
  EXPECT_EQ(free_permits(&mutex), 0U);
  sync::RwLock<std::string> lock(sync::MaxReaders(3));
  const auto reads = lock.try_read();
  EXPECT_EQ(free_permits(&lock), 2U);
  const sync::Semaphore semaphore(7);
  EXPECT_EQ(free_permits(&semaphore), 7U);
}

TEST(SyncShape, Semaphore) {
  sync::Semaphore semaphore(1);
  EXPECT_EQ(shape_of_temporary(semaphore.acquire(2), sight::Wait::permits, "Semaphore"),
            &semaphore);
  EXPECT_EQ(shape_of_temporary(semaphore.acquire(2).result(), sight::Wait::permits, "Semaphore"),
            &semaphore);
  auto owner = std::make_shared<sync::Semaphore>(0U);
  EXPECT_EQ(
      shape_of_temporary(sync::Semaphore::acquire_owned(owner), sight::Wait::permits, "Semaphore"),
      owner.get());
}

TEST(SyncShape, Channel) {
  auto [tx, rx] = sync::channel<int>(1);
  const void* const queue = &tx.queue();
  std::vector<int> messages;
  EXPECT_EQ(shape_of_temporary(rx.recv(), sight::Wait::receive, "channel"), queue);
  EXPECT_EQ(shape_of_temporary(rx.recv_many(messages, 2), sight::Wait::receive, "channel"), queue);
  EXPECT_EQ(shape_names(rx, sight::Wait::receive, "channel"), queue);
  EXPECT_TRUE(tx.try_send(1));
  EXPECT_EQ(shape_of_temporary(tx.send(2), sight::Wait::send, "channel"), queue);
  EXPECT_EQ(shape_of_temporary(tx.reserve(), sight::Wait::send, "channel"), queue);
  EXPECT_EQ(shape_of_temporary(tx.reserve_many(1), sight::Wait::send, "channel"), queue);
  EXPECT_EQ(shape_of_temporary(tx.reserve_owned(), sight::Wait::send, "channel"), queue);
  EXPECT_EQ(shape_of_temporary(tx.closed(), sight::Wait::notify, "closed"),
            static_cast<internal::ChannelCore*>(&tx.queue()));
}

TEST(SyncShape, Oneshot) {
  auto [tx, rx] = sync::oneshot<int>();
  const void* const block = shape_names(rx, sight::Wait::receive, "oneshot");
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(shape_of_temporary(rx.recv(), sight::Wait::receive, "oneshot"), block);
  EXPECT_EQ(shape_of_temporary(tx.closed(), sight::Wait::notify, "closed"), block);
}

TEST(SyncShape, Watch) {
  auto [tx, rx] = sync::watch<int>(1);
  const void* const shared = shape_of_temporary(rx.changed(), sight::Wait::receive, "watch");
  EXPECT_NE(shared, nullptr);
  EXPECT_EQ(
      shape_of_temporary(rx.wait_for([](int x) { return x == 2; }), sight::Wait::receive, "watch"),
      shared);
  EXPECT_EQ(shape_names(rx, sight::Wait::receive, "watch"), shared);
  EXPECT_EQ(shape_of_temporary(tx.closed(), sight::Wait::notify, "closed"), shared);
}

TEST(SyncShape, Broadcast) {
  auto [tx, rx] = sync::broadcast<int>(1);
  const void* const core = shape_of_temporary(rx.recv(), sight::Wait::receive, "broadcast");
  EXPECT_NE(core, nullptr);
  EXPECT_EQ(shape_names(rx, sight::Wait::receive, "broadcast"), core);
  EXPECT_EQ(shape_of_temporary(tx.closed(), sight::Wait::notify, "closed"), core);
}

TEST(SyncShape, Notify) {
  sync::Notify notify;
  EXPECT_EQ(shape_of_temporary(notify.notified(), sight::Wait::notify, "Notify"), &notify);
}

TEST(SyncShape, Barrier) {
  sync::Barrier barrier(2);
  EXPECT_EQ(shape_of_temporary(barrier.wait(), sight::Wait::notify, "Barrier"), &barrier);
}

TEST(SyncShape, CancellationToken) {
  const sync::CancellationToken token;
  const auto copy = token;
  const void* const node =
      shape_of_temporary(token.cancelled(), sight::Wait::notify, "CancellationToken");
  EXPECT_NE(node, nullptr);
  EXPECT_EQ(shape_of_temporary(copy.cancelled(), sight::Wait::notify, "CancellationToken"), node);
  EXPECT_NE(shape_of_temporary(token.child().cancelled(), sight::Wait::notify, "CancellationToken"),
            node);
  testing::Gate<int> gate;
  auto until = token.run_until_cancelled(gate.wait());
  EXPECT_EQ(shape_after_poll(until), "run_until_cancelled(CancellationToken, Gate)");
}

TEST(SyncShape, TaskTracker) {
  const sync::TaskTracker tracker;
  const void* const shared = shape_of_temporary(tracker.wait(), sight::Wait::notify, "TaskTracker");
  EXPECT_NE(shared, nullptr);
  testing::Gate<int> gate;
  EXPECT_EQ(shape_of_temporary(tracker.track_future(gate.wait()), sight::Wait::notify, "Gate"),
            &gate);
}

TEST(SyncShape, OnceCell) {
  testing::Gate<int> gate;
  sync::OnceCell<int> cell;
  const auto init = [&] { return gate.wait(); };
  const auto init_now = [] { return 1; };
  auto makes = cell.get_or_init(init);
  EXPECT_EQ(shape_after_poll(makes), "get_or_init(OnceCell, Gate)");
  auto waits = cell.get_or_init(init);
  EXPECT_EQ(shape_after_poll(waits), "get_or_init(OnceCell)");
  auto waits_too = cell.get_or_init(init_now);
  EXPECT_EQ(shape_after_poll(waits_too), "get_or_init(OnceCell)");
  EXPECT_EQ(ShapeText(waits_too).kind(0), sight::Wait::init);
  EXPECT_EQ(ShapeText(waits_too).field<const void*>(0), &cell);
}

TEST(SyncShape, SetOnce) {
  sync::SetOnce<int> value;
  EXPECT_EQ(shape_of_temporary(value.wait(), sight::Wait::cell, "SetOnce"), &value);
}

Async<> shape_locks(sync::Mutex<int>& mutex) { const auto guard = co_await mutex.lock(); }

TEST(SyncShape, InACoroutine) {
  sync::Mutex<int> mutex;
  const auto guard = mutex.try_lock();
  auto locks = shape_locks(mutex);
  EXPECT_EQ(shape_after_poll(locks), "Mutex @1");
  EXPECT_EQ(ShapeText(locks).field<const void*>(0), &mutex);
}

}  // namespace
}  // namespace rouse::test
