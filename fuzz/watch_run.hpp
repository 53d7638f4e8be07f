// A watch channel: receivers see the latest value, each version at most once, and who waits for a
// change, for a value or for the end of the receivers is woken.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "rouse/sync/watch.hpp"

#include "input.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

using namespace internal;

class WatchRun {
 public:
  explicit WatchRun(Input& input) : WatchRun(input, sync::watch<Token>(Token(0))) {}

  void step() {
    if (input_.flag()) {
      step_of(senders_.at(input_.below(senders_.size())));
    } else {
      step_of(receivers_.at(input_.below(receivers_.size())));
    }
    check();
  }
  void finish() {}

 private:
  using Tx = sync::WatchSender<Token>;
  using Rx = sync::WatchReceiver<Token>;
  struct AtLeast {
    explicit AtLeast(int id) noexcept : least(id) {}
    bool operator()(const Token& token) const { return token.id() >= least; }
    int least;
  };
  struct Sending {
    std::optional<Tx> tx;
    Slot<Told<sync::Closed<WatchCore>>> closed;
  };
  struct Receiving {
    void stop_waiting() {
      changed.drop();
      wait_for.drop();
    }
    std::optional<Rx> rx;
    std::uint64_t seen = 0;
    int wanted = 0;  // by wait_for
    Slot<Rx::Changed> changed;
    Slot<Rx::WaitFor<AtLeast>> wait_for;
  };

  WatchRun(Input& input, std::pair<Tx, Rx> ends) : input_(input) {
    senders_[0].tx.emplace(std::move(ends.first));
    receivers_[0].rx.emplace(std::move(ends.second));
  }
  [[nodiscard]] std::size_t sender_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(senders_, [](const Sending& side) { return side.tx.has_value(); }));
  }
  [[nodiscard]] std::size_t receiver_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        receivers_, [](const Receiving& side) { return side.rx.has_value(); }));
  }
  Tx* any_sender() {
    for (Sending& side : senders_) {
      if (side.tx) return &*side.tx;
    }
    return nullptr;
  }

  void changed_to(int id) {
    value_ = id;
    ++version_;
  }
  void step_of(Sending& side) {
    if (!side.tx) {
      if (Tx* other = any_sender()) side.tx.emplace(*other);
      return;
    }
    const int next = value_ + static_cast<int>(input_.below(3));
    switch (input_.below(6)) {
      case 0:
        side.closed.drop();
        side.tx.reset();
        return;
      case 1: {
        const Result<void> sent = side.tx->send(Token(next));
        require(sent.has_value() == (receiver_count() != 0), "a send needs a receiver");
        if (sent) changed_to(next);
        return;
      }
      case 2:
        require(side.tx->send_replace(Token(next))->id() == value_, "the value that was before");
        return changed_to(next);
      case 3: {
        const bool modify = input_.flag();
        const bool did = side.tx->send_if_modified([&](Token& token) {
          token = Token(next);
          return modify;
        });
        require(did == modify, "send_if_modified says what the function said");
        if (modify) changed_to(next);
        return;
      }
      case 4:
        return side.closed.drop();
      default:
        if (side.closed.empty()) side.closed.fill(Told(side.tx->closed()));
        require(side.closed.poll(input_).has_value() == (receiver_count() == 0),
                "closed when there is no receiver");
    }
  }

  void subscribe(Receiving& side) {
    if (Tx* tx = any_sender()) {
      side.rx.emplace(tx->subscribe());
      side.seen = version_;
    }
  }
  void step_of(Receiving& side) {
    if (!side.rx) return subscribe(side);
    switch (input_.below(8)) {
      case 0:
        side.stop_waiting();
        side.rx.reset();
        return;
      case 1:
        require(side.rx->borrow()->id() == value_, "borrow gives the latest value");
        return;
      case 2:
        side.stop_waiting();
        require(side.rx->borrow_and_update()->id() == value_, "and so does borrow_and_update");
        side.seen = version_;
        return;
      case 3:
        side.stop_waiting();
        side.rx->mark_changed();
        side.seen = UINT64_MAX;
        return;
      case 4:
        return side.stop_waiting();
      case 5:
        return wait_for(side);
      default:
        return changed(side);
    }
  }
  void changed(Receiving& side) {
    side.wait_for.drop();
    if (side.changed.empty()) side.changed.fill(side.rx->changed());
    const auto polled = side.changed.poll(input_);
    const bool is_new = side.seen != version_;
    require(polled.has_value() == (is_new || sender_count() == 0),
            "ready if there is news or an end");
    if (!polled) return;
    require(polled->has_value() == is_new, "news come before the end");
    side.seen = version_;
  }
  void wait_for(Receiving& side) {
    side.changed.drop();
    if (side.wait_for.empty()) {
      side.wanted = value_ + static_cast<int>(input_.below(4));
      side.wait_for.fill(side.rx->wait_for(AtLeast(side.wanted)));
    }
    const auto polled = side.wait_for.poll(input_);
    side.seen = version_;
    const bool is_there = value_ >= side.wanted;
    require(polled.has_value() == (is_there || sender_count() == 0),
            "ready if it is there, or never");
    if (polled) require(polled->has_value() == is_there, "the value if it is there");
    if (polled && *polled) require((**polled)->id() == value_, "and the latest");
  }

  void check() {
    for (const Sending& side : senders_) {
      require(!side.closed.is_asleep() || receiver_count() != 0, "who waits for the end was woken");
      if (!side.tx) continue;
      require(side.tx->receiver_count() == receiver_count(), "it knows its receivers");
    }
    for (const Receiving& side : receivers_) {
      const bool is_over = sender_count() == 0;
      require(!side.changed.is_asleep() || (side.seen == version_ && !is_over),
              "who waits for a change was woken");
      require(!side.wait_for.is_asleep() || (value_ < side.wanted && !is_over),
              "who waits for a value was woken");
      if (!side.rx) continue;
      require(side.rx->is_closed() == is_over, "it knows that the senders are gone");
      require(side.rx->has_changed() == (side.seen != version_), "it knows what it has seen");
    }
    const bool is_gone = sender_count() + receiver_count() == 0;
    require(Token::alive == (is_gone ? 0U : 1U), "one value is kept, the latest");
  }

  Input& input_;
  std::array<Sending, 2> senders_;
  std::array<Receiving, 3> receivers_;
  int value_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace rouse::fuzz
