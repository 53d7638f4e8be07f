// watch<T>(initial): a value that changes, and tasks that want to know. Receivers see the latest
// value; what was replaced before they looked they never see.
//
//   auto [tx, rx] = sync::watch<Config>(Config());
//   (void)tx.send(load_config());                                 // any thread, does not wait
//   while (co_await rx.changed()) use(*rx.borrow_and_update());   // ends when all senders are gone
//
// The value is never locked: `borrow` gives a snapshot that shares its memory, and a send puts a
// new one in its place. So a borrow may be held as long as one likes, also across an await; it only
// keeps that version alive. Both sides may be copied. Any thread, but one object by one thread at a
// time.
#pragma once

#include <cstddef>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/block_pool.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/closed.hpp"
#include "rouse/sync/watch_core.hpp"

namespace rouse::sync {

/// One version of the value.
template <class T>
struct WatchValue : RefCounted<WatchValue<T>> {
  static_assert(std::is_object_v<T>,
                "watch<T> of a reference or of void: use a pointer or a Notify");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "watch<T> of an over-aligned T: watch a std::shared_ptr");

  template <class... Args>
  explicit WatchValue(Args&&... args) : value(std::forward<Args>(args)...) {}
  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* block, std::size_t size) noexcept { free_block(block, size); }

  T value;
};

/// A version of the value, which stays as it is. Not empty unless moved from.
template <class T>
class WatchRef {
 public:
  explicit WatchRef(RefPtr<WatchValue<T>> value) noexcept : value_(std::move(value)) {}
  const T& operator*() const noexcept ROUSE_LIFETIMEBOUND { return get(); }
  const T* operator->() const noexcept ROUSE_LIFETIMEBOUND { return &get(); }

 private:
  const T& get() const noexcept {
    ROUSE_ASSERT(value_, "use of a WatchRef that was moved from: use the one it went to");
    return value_->value;
  }
  RefPtr<WatchValue<T>> value_;
};

template <class T>
class WatchShared : public WatchCore, public RefCounted<WatchShared<T>> {
 public:
  using Value = RefPtr<WatchValue<T>>;

  explicit WatchShared(Value initial) noexcept : value_(std::move(initial)) {}

  Value get() noexcept {
    const SpinGuard guard(lock());
    return value_;
  }
  Value get(Version& version_of_it) noexcept {
    const SpinGuard guard(lock());
    version_of_it = version();
    return value_;
  }
  /// Gives the value that was there before.
  Value replace(Value next) noexcept {
    lock().lock();
    std::swap(value_, next);
    publish_and_unlock();
    return next;
  }
  /// False: the value is not `expected` any more; nothing happened.
  bool replace_if(const Value& expected, Value next) noexcept {
    lock().lock();
    if (value_ != expected) {
      lock().unlock();
      return false;
    }
    std::swap(value_, next);
    publish_and_unlock();
    return true;
  }

 private:
  Value value_;  // guarded by the lock
};

template <class T>
class WatchReceiver;

/// Copies send to the same receivers. When the last one goes the channel is closed.
template <class T>
class WatchSender {
 public:
  explicit WatchSender(RefPtr<WatchShared<T>> counted) noexcept : shared_(std::move(counted)) {}
  WatchSender(const WatchSender& other) noexcept : shared_(other.shared_) {
    if (shared_) shared_->add_sender();
  }
  WatchSender(WatchSender&&) noexcept = default;
  WatchSender& operator=(WatchSender other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~WatchSender() {
    if (shared_) shared_->remove_sender();
  }

  /// Replaces the value and wakes all receivers. The error is errc::broken_pipe: there is no
  /// receiver, and the value stayed as it was (send_replace replaces it all the same).
  template <class U = T>
  Result<void> send(U&& value) const {
    if (shared().receivers() == 0) return std::errc::broken_pipe;
    (void)send_replace(std::forward<U>(value));
    return {};
  }
  /// The same, receivers or not. Gives the value that was there before.
  template <class U = T>
  WatchRef<T> send_replace(U&& value) const {
    return WatchRef<T>(shared().replace(make_ref<WatchValue<T>>(std::forward<U>(value))));
  }
  /// Sends a copy of the value that `fn(T&)` has changed, receivers or not. `fn` is called again,
  /// on a new copy, if another sender sent meanwhile. What it throws leaves the value as it was.
  template <class Fn>
  void send_modify(Fn&& fn) const {
    send_if_modified([&](T& value) {
      fn(value);
      return true;
    });
  }
  /// The same, if `fn(T&)` returns true; else nothing happens. Returns what `fn` returned.
  template <class Fn>
  bool send_if_modified(Fn&& fn) const {
    static_assert(std::is_copy_constructible_v<T>,
                  "send_modify changes a copy of the value, and this T can't be copied: use send");
    for (;;) {
      const auto before = shared().get();
      auto after = make_ref<WatchValue<T>>(std::as_const(before->value));
      if (!fn(after->value)) return false;
      if (shared().replace_if(before, std::move(after))) return true;
    }
  }

  /// The latest value.
  [[nodiscard]] WatchRef<T> borrow() const noexcept { return WatchRef<T>(shared().get()); }
  /// A receiver that has seen the value that is there now.
  [[nodiscard]] WatchReceiver<T> subscribe() const noexcept {
    shared().add_receiver();
    return WatchReceiver<T>(shared_);
  }
  [[nodiscard]] std::size_t receiver_count() const noexcept { return shared().receivers(); }
  /// Whether there is no receiver now. `subscribe` makes one.
  [[nodiscard]] bool is_closed() const noexcept { return receiver_count() == 0; }
  /// Completes when there is no receiver. Dropped midway, it loses nothing. Borrows the sender.
  [[nodiscard]] Closed<WatchCore> closed() const noexcept { return Closed<WatchCore>(shared()); }
  /// Another sender, as a copy.
  [[nodiscard]] WatchSender clone() const noexcept { return *this; }

 private:
  WatchShared<T>& shared() const noexcept {
    ROUSE_ASSERT(shared_, "use of a watch sender that was moved from: use the one it went to");
    return *shared_;
  }

  RefPtr<WatchShared<T>> shared_;
};

/// Knows which value it has seen; a copy has seen the same. A stream of values: each that is there
/// when it is asked and was not seen before. It may be moved at any time.
template <class T>
class WatchReceiver {
 public:
  using Item = T;
  class Changed;
  template <class Predicate>
  class WaitFor;

  explicit WatchReceiver(RefPtr<WatchShared<T>> counted) noexcept
      : shared_(std::move(counted)), seen_(shared_->version()) {}
  WatchReceiver(const WatchReceiver& other) noexcept : shared_(other.shared_), seen_(other.seen_) {
    if (shared_) shared_->add_receiver();
  }
  WatchReceiver(WatchReceiver&& other) noexcept : seen_(other.seen_) {
    other.leave();
    shared_ = std::move(other.shared_);
  }
  WatchReceiver& operator=(WatchReceiver other) noexcept {
    leave();
    std::swap(shared_, other.shared_);
    seen_ = other.seen_;
    return *this;
  }
  ~WatchReceiver() {
    if (!shared_) return;
    stop_waiting();
    shared_->remove_receiver();
  }

  /// The latest value. Does not count as seen.
  [[nodiscard]] WatchRef<T> borrow() const noexcept { return WatchRef<T>(shared().get()); }
  /// The latest value, which counts as seen from here on.
  [[nodiscard]] WatchRef<T> borrow_and_update() noexcept {
    return WatchRef<T>(shared().get(seen_));
  }

  /// Completes when there is a value that was not seen, which then counts as seen. The error is
  /// errc::broken_pipe: all is seen and the senders are gone.
  /// Dropped midway, it loses nothing. Borrows the receiver; one such future at a time.
  [[nodiscard]] Changed changed() noexcept { return Changed(*this); }
  /// Completes with the first value that has `predicate(const T&)`, maybe the one that is there,
  /// which then counts as seen. With nothing once none can come: the senders are gone. Throws what
  /// the predicate throws. Dropped midway, it loses nothing. Borrows the receiver.
  template <class Predicate>
  [[nodiscard]] WaitFor<std::decay_t<Predicate>> wait_for(Predicate&& predicate) {
    return WaitFor<std::decay_t<Predicate>>(*this, std::forward<Predicate>(predicate));
  }
  /// As a stream: the latest value as soon as it was not seen, nothing once the senders are gone.
  Poll<std::optional<T>> poll_next(Context& cx) {
    const auto change = poll_change(cx);
    if (change == Change::none) return pending;
    if (change == Change::closed) return Poll<std::optional<T>>::ready(std::nullopt);
    return Poll<std::optional<T>>::ready(*borrow_and_update());
  }

  [[nodiscard]] bool has_changed() const noexcept { return shared().version() != seen_; }
  /// The value counts as not seen: `changed` completes at once.
  void mark_changed() noexcept { seen_ = ~WatchCore::Version{0}; }
  void mark_unchanged() noexcept { seen_ = shared().version(); }
  /// Whether all senders are gone. The value is still there.
  [[nodiscard]] bool is_closed() const noexcept { return shared().is_closed(); }

 private:
  using Change = WatchCore::Change;
  struct Waiting : Waiter {};

  Change poll_change(Context& cx) {
    return cx.take_budget() ? shared().poll_change(waiter_, seen_, cx) : Change::none;
  }
  void stop_waiting() noexcept {
    if (shared_) shared_->stop_watching(waiter_);
  }
  /// Whoever waits with this very object must ask it again wherever it went.
  void leave() noexcept {
    if (shared_) shared_->move_watcher(waiter_);
  }
  WatchShared<T>& shared() const noexcept {
    ROUSE_ASSERT(shared_, "use of a watch receiver that was moved from: use the one it went to");
    return *shared_;
  }

  RefPtr<WatchShared<T>> shared_;
  WatchCore::Version seen_;
  Waiting waiter_;
};

template <class T>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] WatchReceiver<T>::
    Changed {
 public:
  using Output = Result<void>;

  explicit Changed(WatchReceiver& receiver) noexcept : receiver_(&receiver) {}
  Changed(Changed&& other) noexcept : receiver_(std::exchange(other.receiver_, nullptr)) {}
  ~Changed() {
    if (receiver_) receiver_->stop_waiting();
  }

  Poll<Output> poll(Context& cx) {
    const auto change = receiver_->poll_change(cx);
    if (change == Change::none) return pending;
    if (change == Change::closed) return Poll<Output>::ready(std::errc::broken_pipe);
    receiver_->mark_unchanged();
    return Poll<Output>::ready(Output());
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  WatchReceiver* receiver_;
};

template <class T>
template <class Predicate>
class [[nodiscard(
    "a future does nothing until it is polled: co_await it or spawn it")]] WatchReceiver<T>::
    WaitFor {
 public:
  using Output = std::optional<WatchRef<T>>;

  WaitFor(WatchReceiver& receiver, Predicate predicate)
      : receiver_(&receiver), predicate_(std::move(predicate)) {}
  WaitFor(WaitFor&& other) noexcept(std::is_nothrow_move_constructible_v<Predicate>)
      : receiver_(std::exchange(other.receiver_, nullptr)),
        predicate_(std::move(other.predicate_)) {}
  ~WaitFor() {
    if (receiver_) receiver_->stop_waiting();
  }

  Poll<Output> poll(Context& cx) {
    for (;;) {
      if (!std::exchange(looked_, true) || receiver_->has_changed()) {
        WatchRef<T> value = receiver_->borrow_and_update();
        if (predicate_(*value)) return Poll<Output>::ready(std::move(value));
      }
      const auto change = receiver_->poll_change(cx);
      if (change == Change::none) return pending;
      if (change == Change::closed) return Poll<Output>::ready(std::nullopt);
    }
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  WatchReceiver* receiver_;
  [[no_unique_address]] Predicate predicate_;
  bool looked_ = false;
};

/// A new channel that holds a T made of `initial`, which its receiver has seen.
template <class T, class U = T>
[[nodiscard]] std::pair<WatchSender<T>, WatchReceiver<T>> watch(U&& initial) {
  auto shared = make_ref<WatchShared<T>>(make_ref<WatchValue<T>>(std::forward<U>(initial)));
  WatchReceiver<T> receiver(shared);
  return std::pair<WatchSender<T>, WatchReceiver<T>>(WatchSender<T>(std::move(shared)),
                                                     std::move(receiver));
}

}  // namespace rouse::sync
