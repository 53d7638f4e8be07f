// What the tests of stream/ share: a Feed, a stream that is fed by hand from any thread, and the
// contracts that every adapter has to keep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/stream.hpp"
#include "rouse/testing/counting_waker.hpp"

#include "future/helpers.hpp"

namespace rouse::test {

/// The handle; `stream()` gives the stream that reads what it was fed.
template <class T = int>
class Feed {
  struct Event {
    std::optional<T> item;
    const char* error = nullptr;
  };
  struct State {
    std::mutex mutex;
    std::deque<Event> events;  // without item and error: the end
    Waker waker;
    int polls = 0;
    int alive = 0;
    bool has_ended = false;
  };

 public:
  class Read {
   public:
    using Item = T;
    explicit Read(std::shared_ptr<State> state) : state_(std::move(state)) {
      const std::lock_guard lock(state_->mutex);
      ++state_->alive;
    }
    Read(Read&& other) noexcept : Read(other.state_) {}
    ~Read() {
      Waker dropped;
      const std::lock_guard lock(state_->mutex);
      std::swap(dropped, state_->waker);
      --state_->alive;
    }

    PollNext<T> poll_next(Context& cx) {
      const std::lock_guard lock(state_->mutex);
      ++state_->polls;
      EXPECT_FALSE(state_->has_ended) << "polled after its end";
      if (state_->events.empty()) {
        keep_waker(state_->waker, cx);
        return pending;
      }
      Event event = std::move(state_->events.front());
      state_->events.pop_front();
      if (event.error) throw TestError(event.error);
      state_->has_ended = !event.item;
      return PollNext<T>::ready(std::move(event.item));
    }

   private:
    std::shared_ptr<State> state_;
  };

  Read stream() { return Read(state_); }

  void give(T item) { add(Event{std::optional<T>(std::move(item)), nullptr}); }
  void fail(const char* what) { add(Event{std::nullopt, what}); }
  void end() { add(Event{}); }

  int polls() const { return state_->polls; }
  int alive() const { return state_->alive; }

 private:
  void add(Event event) {
    Waker waker;
    {
      const std::lock_guard lock(state_->mutex);
      state_->events.push_back(std::move(event));
      waker = std::exchange(state_->waker, Waker());
    }
    if (waker) std::move(waker).wake();
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

using Feeds = std::vector<Feed<int>>;
using Gates = std::vector<Gate<int>>;

/// Polls once with a waker that does nothing.
template <Stream S>
PollNext<item_t<S>> poll_next_once(S& stream) {
  Context cx(Waker::noop());
  return stream.poll_next(cx);
}

/// All items of a stream that never waits.
template <Stream S>
std::vector<item_t<S>> read_ready(S stream) {
  std::vector<item_t<S>> items;
  for (;;) {
    auto polled = poll_next_once(stream);
    EXPECT_TRUE(polled.is_ready());
    if (polled.is_pending() || !polled.value()) return items;
    items.push_back(*std::move(polled).value());
  }
}

/// Reads a stream made over feeds as an executor would: it is polled when it was woken. The feeds
/// are fed in turn, an event each time the stream waits.
class Reading {
 public:
  explicit Reading(Feeds& feeds) : feeds_(feeds) { waker_.emplace(); }

  int polls_in_vain = 0;           ///< so many polls that nobody asked for, each time it waits
  bool changes_waker = false;      ///< each poll comes with another waker
  std::size_t fail_at = SIZE_MAX;  ///< this event is an exception
  std::size_t max_polls = SIZE_MAX;

  /// What came out, in words.
  template <Stream S>
  std::vector<std::string> run(S& stream) {
    std::vector<std::string> seen;
    while (poll_until_pending(stream, seen)) {
      const std::size_t before = waker_->count();
      while (waker_->count() == before) {
        if (fed_ == event_count()) {
          ADD_FAILURE() << "waits, but nothing is left that could wake it";
          return seen;
        }
        feed_next();
      }
    }
    return seen;
  }

  std::size_t event_count() const { return feeds_.size() * 5; }
  std::size_t clones() const { return waker_->clones(); }

 private:
  void feed_next() {
    const std::size_t event = fed_++;
    Feed<int>& feed = feeds_[event % feeds_.size()];
    if (event == fail_at) return feed.fail("fed");
    if (event / feeds_.size() == 4) return feed.end();
    feed.give(static_cast<int>(event));
  }

  /// False: it has ended, or was polled often enough.
  template <Stream S>
  bool poll_until_pending(S& stream, std::vector<std::string>& seen) {
    for (int vain = polls_in_vain;;) {
      if (polls_++ == max_polls) return false;
      if (changes_waker) waker_.emplace();
      const std::size_t wakes = waker_->count();
      Context cx(waker_->waker());
      try {
        const auto polled = stream.poll_next(cx);
        if (polled.is_pending()) {
          if (waker_->count() == wakes && vain-- <= 0) return true;
          continue;
        }
        if (!polled.value()) return false;
        seen.push_back(::testing::PrintToString(*polled.value()));
      } catch (const TestError& error) {
        seen.emplace_back(error.what());
      }
    }
  }

  Feeds& feeds_;
  std::optional<testing::CountingWaker> waker_;
  std::size_t fed_ = 0;
  std::size_t polls_ = 0;
};

/// `make(Feeds&)` returns the stream. Every adapter has to keep:
///  (a) no wake is lost, polls in vain and other wakers change nothing;
///  (b) destroyed after its k-th poll, for every k, no stream and no waker is left;
///  (c) an exception comes out once, and the stream goes on to its end;
///  (d) no stream inside is polled after its end, also if the adapter is.
template <class Make>
void check_stream_contracts(std::size_t count, Make make) {
  std::vector<std::string> expected;
  {
    Feeds feeds(count);
    auto stream = make(feeds);
    static_assert(!std::is_aggregate_v<decltype(stream)>);
    static_assert(std::move_constructible<decltype(stream)>);
    expected = Reading(feeds).run(stream);
    EXPECT_FALSE(poll_next_once(stream).value()) << "polled after its end";
    for (Feed<int>& feed : feeds) EXPECT_EQ(feed.alive(), 0) << "ended, but not dropped";
  }
  {
    SCOPED_TRACE("polls in vain");
    Feeds feeds(count);
    auto stream = make(feeds);
    Reading reading(feeds);
    reading.polls_in_vain = 2;
    EXPECT_EQ(reading.run(stream), expected);
  }
  {
    SCOPED_TRACE("another waker each time");
    Feeds feeds(count);
    auto stream = make(feeds);
    Reading reading(feeds);
    reading.changes_waker = true;
    EXPECT_EQ(reading.run(stream), expected);
  }
  const std::size_t events = count * 5;
  for (std::size_t polls = 0; polls <= 2 * events; ++polls) {
    SCOPED_TRACE("dropped after poll " + std::to_string(polls));
    Feeds feeds(count);
    Reading reading(feeds);
    {
      auto stream = make(feeds);
      reading.max_polls = polls;
      reading.run(stream);
    }
    for (Feed<int>& feed : feeds) EXPECT_EQ(feed.alive(), 0);
    EXPECT_EQ(reading.clones(), 0U);
  }
  for (std::size_t at = 0; at < count * 4; ++at) {
    SCOPED_TRACE("event " + std::to_string(at) + " is an exception");
    Feeds feeds(count);
    auto stream = make(feeds);
    Reading reading(feeds);
    reading.fail_at = at;
    const auto seen = reading.run(stream);
    EXPECT_LE(std::count(seen.begin(), seen.end(), "fed"), 1);
    EXPECT_FALSE(poll_next_once(stream).value());
  }
}

}  // namespace rouse::test
