// watch<T>(initial): a changing value that tasks observe. Receivers see the latest value; they
// never see values that were replaced before they looked.
//
//   auto [tx, rx] = sync::watch<Config>(Config());
//   (void)tx.send(load_config());                                 // any thread, does not wait
//   while (co_await rx.changed()) use(*rx.borrow_and_update());   // ends when all senders are gone
//
// The value is never locked: `borrow` returns a snapshot that shares its memory, and a send
// replaces the current one. So a borrow may be held as long as you like, even across an await; it
// only keeps that version alive. Both sides may be copied.
// Threads: any, but one thread at a time per object.
#pragma once

#include <cstddef>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/base/internal/block_pool.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/sync/closed.hpp"
#include "rouse/sync/internal/watch_core.hpp"

namespace rouse::internal {

/// One version of the value.
template <class T>
struct WatchValue : RefCounted<WatchValue<T>> {
  static_assert(std::is_object_v<T>,
                "watch<T> of a reference or of void: use a pointer or a Notify");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "watch<T> of an over-aligned T: watch a std::shared_ptr");

  template <class... Args>
  explicit WatchValue(Args&&... args) : value(std::forward<Args>(args)...) {}
  static void* operator new(std::size_t size) { return internal::allocate_block(size); }
  static void operator delete(void* block, std::size_t size) noexcept {
    internal::free_block(block, size);
  }

  T value;
};

}  // namespace rouse::internal

namespace rouse::sync {

/// A version of the value, which never changes. Not empty unless moved from.
template <class T>
class WatchRef {
 public:
  explicit WatchRef(RefPtr<internal::WatchValue<T>> value) noexcept : value_(std::move(value)) {}
  const T& operator*() const noexcept ROUSE_LIFETIMEBOUND { return get(); }
  const T* operator->() const noexcept ROUSE_LIFETIMEBOUND { return &get(); }

 private:
  const T& get() const noexcept {
    ROUSE_ASSERT(value_, "use of a WatchRef that was moved from: use the one it went to");
    return value_->value;
  }
  RefPtr<internal::WatchValue<T>> value_;
};

}  // namespace rouse::sync

namespace rouse::internal {

/// What senders and receivers share.
template <class T>
class WatchShared : public internal::WatchCore, public RefCounted<WatchShared<T>> {
 public:
  using Value = RefPtr<WatchValue<T>>;

  explicit WatchShared(Value initial) noexcept : value_(std::move(initial)) {}

  /// The latest value.
  Value get() noexcept {
    const internal::SpinGuard guard(lock());
    return value_;
  }
  Value get(Version& version_of_it) noexcept {
    const internal::SpinGuard guard(lock());
    version_of_it = version();
    return value_;
  }
  /// Returns the previous value.
  Value replace(Value next) noexcept {
    lock().lock();
    std::swap(value_, next);
    publish_and_unlock();
    return next;
  }
  /// False: the value is no longer `expected`; nothing happened.
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

}  // namespace rouse::internal

namespace rouse::sync {

template <class T>
class WatchReceiver;

/// Copies send to the same receivers. The channel is closed when the last sender is destroyed.
template <class T>
class WatchSender {
 public:
  explicit WatchSender(RefPtr<internal::WatchShared<T>> counted) noexcept
      : shared_(std::move(counted)) {}
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

  /// Replaces the value and wakes all receivers.
  /// Errors: errc::broken_pipe if there is no receiver; the channel's value is unchanged
  /// (send_replace replaces it anyway), and `value` is left untouched.
  template <class U = T>
  Result<void> send(U&& value) const {
    if (shared().receivers() == 0) return std::errc::broken_pipe;
    (void)send_replace(std::forward<U>(value));
    return {};
  }
  /// The same, with or without receivers. Returns the previous value.
  template <class U = T>
  WatchRef<T> send_replace(U&& value) const {
    return WatchRef<T>(shared().replace(make_ref<internal::WatchValue<T>>(std::forward<U>(value))));
  }
  /// Sends a copy of the value, changed by `fn(T&)`, with or without receivers. `fn` is called
  /// again, on a new copy, if another sender sent meanwhile. If it throws, the value is unchanged.
  template <class Fn>
  void send_modify(Fn&& fn) const {
    send_if_modified([&](T& value) {
      fn(value);
      return true;
    });
  }
  /// The same, if `fn(T&)` returns true; otherwise nothing happens. Returns what `fn` returned.
  template <class Fn>
  bool send_if_modified(Fn&& fn) const {
    static_assert(std::is_copy_constructible_v<T>,
                  "send_modify changes a copy of the value, and this T can't be copied: use send");
    for (;;) {
      const auto before = shared().get();
      auto after = make_ref<internal::WatchValue<T>>(std::as_const(before->value));
      if (!fn(after->value)) return false;
      if (shared().replace_if(before, std::move(after))) return true;
    }
  }

  /// The latest value.
  [[nodiscard]] WatchRef<T> borrow() const noexcept { return WatchRef<T>(shared().get()); }
  /// A receiver that has seen the current value.
  [[nodiscard]] WatchReceiver<T> subscribe() const noexcept {
    shared().add_receiver();
    return WatchReceiver<T>(shared_);
  }
  /// How many receivers there are now.
  [[nodiscard]] std::size_t receiver_count() const noexcept { return shared().receivers(); }
  /// Whether there is no receiver now. `subscribe` makes one.
  [[nodiscard]] bool is_closed() const noexcept { return receiver_count() == 0; }
  /// Completes when there is no receiver. Borrows the sender.
  /// Cancel safety: dropping it loses nothing.
  [[nodiscard]] Closed<internal::WatchCore> closed() const noexcept {
    return Closed<internal::WatchCore>(shared());
  }
  /// Another sender, as a copy.
  [[nodiscard]] WatchSender clone() const noexcept { return *this; }

 private:
  internal::WatchShared<T>& shared() const noexcept {
    ROUSE_ASSERT(shared_, "use of a watch sender that was moved from: use the one it went to");
    return *shared_;
  }

  RefPtr<internal::WatchShared<T>> shared_;
};

/// Knows which value it has seen; a copy has seen the same. As a stream it gives each value that is
/// current when it is polled and that it has not seen before. It may be moved at any time.
template <class T>
class WatchReceiver {
 public:
  using Item = T;
  class Changed;
  template <class Predicate>
  class WaitFor;

  explicit WatchReceiver(RefPtr<internal::WatchShared<T>> counted) noexcept
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

  /// The latest value. Does not mark it as seen.
  [[nodiscard]] WatchRef<T> borrow() const noexcept { return WatchRef<T>(shared().get()); }
  /// The latest value, marked as seen.
  [[nodiscard]] WatchRef<T> borrow_and_update() noexcept {
    return WatchRef<T>(shared().get(seen_));
  }

  /// Completes when there is an unseen value, and marks it as seen. Borrows the receiver.
  /// Cancel safety: dropping it loses nothing.
  /// Threads: one such future at a time.
  /// Errors: errc::broken_pipe if everything is seen and all senders are gone.
  [[nodiscard]] Changed changed() noexcept { return Changed(*this); }
  /// Completes with the first value for which `predicate(const T&)` is true, maybe the current one,
  /// and marks it as seen; with an empty optional once none can come: all senders are gone. Throws
  /// what the predicate throws. Borrows the receiver.
  /// Cancel safety: dropping it loses nothing.
  template <class Predicate>
  [[nodiscard]] WaitFor<std::decay_t<Predicate>> wait_for(Predicate&& predicate) {
    return WaitFor<std::decay_t<Predicate>>(*this, std::forward<Predicate>(predicate));
  }
  /// As a stream: the latest value as soon as it is unseen, an empty optional once all senders are
  /// gone.
  Poll<std::optional<T>> poll_next(Context& cx) {
    const auto change = poll_change(cx);
    if (change == Change::none) return pending;
    if (change == Change::closed) return Poll<std::optional<T>>::ready(std::nullopt);
    return Poll<std::optional<T>>::ready(*borrow_and_update());
  }

  /// Whether there is an unseen value.
  [[nodiscard]] bool has_changed() const noexcept { return shared().version() != seen_; }
  /// Marks the value as unseen: `changed` completes at once.
  void mark_changed() noexcept { seen_ = ~internal::WatchCore::Version{0}; }
  /// Marks the current value as seen.
  void mark_unchanged() noexcept { seen_ = shared().version(); }
  /// Whether all senders are gone. The value is still there.
  [[nodiscard]] bool is_closed() const noexcept { return shared().is_closed(); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(WatchReceiver, "watch", receive, &WatchReceiver::shared_)

 private:
  using Change = internal::WatchCore::Change;
  struct Waiting : internal::Waiter {};

  Change poll_change(Context& cx) {
    return cx.take_budget() ? shared().poll_change(waiter_, seen_, cx) : Change::none;
  }
  void stop_waiting() noexcept {
    if (shared_) shared_->stop_watching(waiter_);
  }
  /// Wakes a waiter of this object, which must poll it at its new place.
  void leave() noexcept {
    if (shared_) shared_->move_watcher(waiter_);
  }
  internal::WatchShared<T>& shared() const noexcept {
    ROUSE_ASSERT(shared_, "use of a watch receiver that was moved from: use the one it went to");
    return *shared_;
  }

  RefPtr<internal::WatchShared<T>> shared_;
  internal::WatchCore::Version seen_;
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
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Changed, nullptr, one, &Changed::receiver_)

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
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(WaitFor, nullptr, one, &WaitFor::receiver_)

 private:
  WatchReceiver* receiver_;
  [[no_unique_address]] Predicate predicate_;
  bool looked_ = false;
};

/// A new channel that holds a T constructed from `initial`; its receiver has seen it.
template <class T, class U = T>
[[nodiscard]] std::pair<WatchSender<T>, WatchReceiver<T>> watch(U&& initial) {
  auto shared = make_ref<internal::WatchShared<T>>(
      make_ref<internal::WatchValue<T>>(std::forward<U>(initial)));
  WatchReceiver<T> receiver(shared);
  return std::pair<WatchSender<T>, WatchReceiver<T>>(WatchSender<T>(std::move(shared)),
                                                     std::move(receiver));
}

}  // namespace rouse::sync
