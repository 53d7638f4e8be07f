// What models of futures that wait have in common: how they get in line before the threads start,
// and memory whose uses one after the other are checked.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "rouse/base/cell.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/core/context.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

namespace rouse::model {

/// Polls once, with a waker that does nothing: now the future waits, if it has to.
template <class F>
bool is_ready(F& future) {
  Context cx(Waker::noop());
  return future.poll(cx).is_ready();
}

/// The same with a waker that is counted: one that is dropped never, or twice, is found.
template <class F>
bool is_ready_for(const RefPtr<ParkedThread>& thread, F& future) {
  const Waker waker = make_waker(thread);
  Context cx(waker);
  return future.poll(cx).is_ready();
}

/// Gets the future in line.
template <class F>
void let_wait(F& future) {
  ensure(!is_ready(future), "it has to wait");
}

/// Two threads that write something each and then give an end of a channel up.
template <class End>
class TwoThatLeave {
 public:
  TwoThatLeave(End first, End second)
      : first_([this, end = std::move(first)]() mutable { leave(std::move(end), first_data_); }),
        second_(
            [this, end = std::move(second)]() mutable { leave(std::move(end), second_data_); }) {}

  void ensure_seen() const { ensure(first_data_.read() == 1 && second_data_.read() == 1); }
  void join() {
    first_.join();
    second_.join();
  }

 private:
  static void leave(End /*goes last*/, Cell<int>& data) { data.write() = 1; }

  Cell<int> first_data_{0};
  Cell<int> second_data_{0};
  Thread first_;
  Thread second_;
};

/// Memory that is used for one object after the other, as are a ring's slots. Each beginning and
/// end of an object is a write to the cell of its address: two that nothing orders are a data race.
class Places {
 public:
  void write(const void* address) { at(address).write() += 1; }
  void read(const void* address) { (void)at(address).read(); }

 private:
  struct Place {
    const void* address = nullptr;
    Cell<int> uses{0};
  };
  Cell<int>& at(const void* address) {
    for (Place& place : places_) {
      if (place.address == nullptr) place.address = address;
      if (place.address == address) return place.uses;
    }
    ensure(false, "a model with more objects than places");
    return places_[0].uses;
  }

  std::array<Place, 64> places_;
};

/// A message whose places are checked.
class Message {
 public:
  Message(Places& places, int number) noexcept : places_(&places), number_(number) {
    places_->write(this);
  }
  Message(Message&& other) noexcept : places_(other.places_), number_(other.number_) {
    places_->read(&other);
    places_->write(this);
  }
  Message& operator=(Message&&) = delete;
  ~Message() { places_->write(this); }

  [[nodiscard]] int number() const noexcept {
    places_->read(this);
    return number_;
  }

 private:
  Places* places_;
  int number_;
};

}  // namespace rouse::model
