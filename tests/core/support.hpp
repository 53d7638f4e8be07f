// What the tests of core share: leaf futures with a script, and objects that tell of their end.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rouse/core/future.hpp"

namespace rouse::test {

/// Polls once with a waker that does nothing.
template <Future F>
Poll<output_t<F>> poll_once(F& future) {
  Context cx(Waker::noop());
  return future.poll(cx);
}

/// Pending `times` times, waking itself each time, then ready with `value`.
template <class T>
class ReadyAfter {
 public:
  using Output = T;
  ReadyAfter(int times, T value) : left_(times), value_(std::move(value)) {}

  Poll<T> poll(Context& cx) {
    if (left_-- == 0) return Poll<T>::ready(std::move(value_));
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  int left_;
  T value_;
};

/// Pending once, waking itself: an await point.
class PendingOnce {
 public:
  using Output = void;
  PendingOnce() noexcept {}

  Poll<void> poll(Context& cx) {
    if (std::exchange(polled_, true)) return Poll<void>::ready();
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  bool polled_ = false;
};

/// Pending until its `k`-th poll, which throws std::runtime_error(what).
class ThrowsAt {
 public:
  using Output = int;
  explicit ThrowsAt(int k, std::string what = "leaf") : left_(k), what_(std::move(what)) {}

  Poll<int> poll(Context& cx) {
    if (--left_ == 0) throw std::runtime_error(what_);
    cx.waker().wake_by_ref();
    return pending;
  }

 private:
  int left_;
  std::string what_;
};

/// How many objects were made, and how many ended.
struct Lives {
  int made = 0;
  int ended = 0;
  [[nodiscard]] int alive() const { return made - ended; }
};

/// An object whose life is counted, copies and moved-from ones too. It knows its own address, so
/// that a copy made bit by bit is noticed too.
class Life {
 public:
  explicit Life(Lives& lives) : lives_(&lives) { ++lives_->made; }
  Life(const Life& other) : lives_(other.lives_) { ++lives_->made; }
  Life(Life&& other) noexcept : lives_(other.lives_) { ++lives_->made; }
  Life& operator=(const Life&) = delete;
  ~Life() {
    if (self_ == this) ++lives_->ended;
  }

 private:
  Lives* lives_;
  const Life* self_ = this;
};

/// Writes its name into a log when it ends.
class Note {
 public:
  Note(std::vector<std::string>& log, std::string name) : log_(log), name_(std::move(name)) {}
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
  ~Note() { log_.push_back(name_); }

 private:
  std::vector<std::string>& log_;
  std::string name_;
};

}  // namespace rouse::test
