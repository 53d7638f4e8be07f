// FuturesOrdered<F>: a growing queue of futures that run concurrently, and the stream of their
// outputs, in the order in which the futures were pushed.
//
//   FuturesOrdered<Async<Page>> pages;
//   for (const auto& url : urls) pages.push_back(fetch(url));
//   while (auto page = co_await pages.next()) show(*page);
//
// As FuturesUnordered it polls only woken children and may be moved at any time. An output that is
// there before its turn waits. poll_next throws in its turn what a child threw; the others
// continue. A push while somebody waits wakes them.
// Cancel safety: dropping `next()` loses nothing; dropping the queue drops all children, and the
// outputs that wait for their turn.
// Threads: one task at a time pushes and polls.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/base/internal/box.hpp"
#include "rouse/core/internal/outcome.hpp"
#include "rouse/core/stream.hpp"
#include "rouse/future/futures_unordered.hpp"

namespace rouse {

namespace internal {

/// A future whose outcome goes to its place.
template <Future F>
class Placed {
 public:
  using Output = void;

  Placed(F&& future, Outcome<output_t<F>>& place) : future_(std::move(future)), place_(place) {}

  Poll<void> poll(Context& cx) {
    if (!poll_into(place_, future_, cx)) return pending;
    return Poll<void>::ready();
  }
  [[nodiscard]] bool borrows() const noexcept { return future_borrows(future_); }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(Placed, nullptr, one, &Placed::future_)

 private:
  F future_;
  Outcome<output_t<F>>& place_;
};

}  // namespace internal

template <Future F>
class [[nodiscard]] FuturesOrdered {
  using Place = internal::Outcome<output_t<F>>;

 public:
  /// Unit for void, a pointer for a reference.
  using Item = stored_t<output_t<F>>;

  FuturesOrdered() noexcept = default;
  FuturesOrdered(FuturesOrdered&& other) noexcept
      : places_(std::move(other.places_)),
        taken_(std::exchange(other.taken_, 0)),
        running_(std::move(other.running_)) {}
  FuturesOrdered& operator=(FuturesOrdered&& other) noexcept {
    const FuturesOrdered old(std::move(*this));
    running_ = std::move(other.running_);
    places_ = std::move(other.places_);
    taken_ = std::exchange(other.taken_, 0);
    return *this;
  }

  /// Children that run, and outputs that wait for their turn.
  [[nodiscard]] std::size_t size() const noexcept { return places_.size() - taken_; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// Whether a child borrows: see Async::borrows.
  [[nodiscard]] bool borrows() const noexcept { return running_.borrows(); }

  /// Behind all others. The next poll_next polls the future for the first time.
  void push_back(F future) {
    add(std::move(future), [this](auto&& placed) { running_.push(std::move(placed)); });
  }
  /// The same for a caller that polls the queue before anybody waits for it again: wakes nobody.
  void push_before_poll(F future) {
    add(std::move(future), [this](auto&& placed) { running_.push_before_poll(std::move(placed)); });
  }

  /// The output of the first child, or an empty optional if there are no children. Throws what the
  /// child threw.
  PollNext<Item> poll_next(Context& cx) {
    // A child that is destroyed there may clear the queue.
    while (!empty() && !places_[taken_]->is_set()) {
      if (running_.poll_next(cx).is_pending()) return pending;
    }
    if (empty()) return PollNext<Item>::ready(std::nullopt);
    const internal::Box<Place> place = std::move(places_[taken_++]);
    if (2 * taken_ >= places_.size()) {  // seldom enough: an element moves once on average
      places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    if (place->is_error()) std::rethrow_exception(place->error());
    return PollNext<Item>::ready(std::move(place->stored()));
  }

  /// A future of what poll_next gives. Borrows the queue, which must neither move nor be destroyed
  /// before it.
  [[nodiscard]] Next<FuturesOrdered> next() noexcept { return Next<FuturesOrdered>(*this); }

  /// Drops all children and outputs. A waiter is woken: there is nothing left to wait for.
  void clear() noexcept {
    FuturesOrdered old(std::move(*this));
    old.running_.clear();
  }
  /// For a dump: see base/shape.hpp.
  ROUSE_SHAPE(FuturesOrdered, "FuturesOrdered", one, &FuturesOrdered::running_)

 private:
  template <class Push>
  void add(F&& future, Push push) {
    places_.push_back(internal::make_box<Place>());
    try {
      push(internal::Placed<F>(std::move(future), *places_.back()));
    } catch (...) {
      places_.pop_back();
      throw;
    }
  }

  std::vector<internal::Box<Place>> places_;
  std::size_t taken_ = 0;                          // so many of them, from the first on, are empty
  FuturesUnordered<internal::Placed<F>> running_;  // destroyed before the places it refers to
};

}  // namespace rouse
