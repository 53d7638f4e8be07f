// A broadcast channel: each receiver gets every value that is sent while it exists, in order, or is
// told how many it missed; values are kept as long as somebody is to have them, and no longer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/sync/broadcast.hpp"

#include "input.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

using namespace internal;

class BroadcastRun {
 public:
  explicit BroadcastRun(Input& input) : BroadcastRun(input, 1 + input.below(6)) {}

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
  using Tx = sync::BroadcastSender<Token>;
  using Rx = sync::BroadcastReceiver<Token>;
  struct Sending {
    std::optional<Tx> tx;
    Slot<Told<sync::Closed<BroadcastCore>>> closed;
  };
  struct Receiving {
    std::optional<Rx> rx;
    std::size_t next = 0;  // in `sent_`
    std::uint64_t missed = 0;
    Slot<Rx::Recv> recv;
  };

  BroadcastRun(Input& input, std::size_t capacity) : input_(input), capacity_(capacity) {
    auto [tx, rx] = sync::broadcast<Token>(capacity);
    senders_[0].tx.emplace(std::move(tx));
    receivers_[0].rx.emplace(std::move(rx));
  }
  [[nodiscard]] std::size_t sender_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(senders_, [](const Sending& side) { return side.tx.has_value(); }));
  }
  [[nodiscard]] std::size_t receiver_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        receivers_, [](const Receiving& side) { return side.rx.has_value(); }));
  }
  [[nodiscard]] std::size_t oldest() const {
    return sent_.size() > capacity_ ? sent_.size() - capacity_ : 0;
  }

  void step_of(Sending& side) {
    if (!side.tx) {
      for (const Sending& other : senders_) {
        if (other.tx && !side.tx) side.tx.emplace(*other.tx);
      }
      return;
    }
    switch (input_.below(8)) {
      case 0:
        side.closed.drop();
        side.tx.reset();
        return;
      case 1:
        return side.closed.drop();
      case 2:
        if (side.closed.empty()) side.closed.fill(Told(side.tx->closed()));
        return require(side.closed.poll(input_).has_value() == (receiver_count() == 0),
                       "closed when there is no receiver");
      default: {
        const int id = ++ids_;
        const auto told = side.tx->send(Token(id));
        require(told.has_value() == (receiver_count() != 0), "a send needs a receiver");
        if (!told) return require(told.error() == std::errc::broken_pipe, "and says so");
        require(*told == receiver_count(), "it knows how many get it");
        sent_.push_back(id);
      }
    }
  }

  void join(Receiving& side) {
    for (Receiving& other : receivers_) {
      if (!other.rx || side.rx) continue;
      const bool as_copy = input_.flag();
      side.rx.emplace(as_copy ? Rx(*other.rx) : other.rx->resubscribe());
      side.next = as_copy ? other.next : sent_.size();
      side.missed = as_copy ? other.missed : 0;
    }
    for (const Sending& sending : senders_) {
      if (!sending.tx || side.rx) continue;
      side.rx.emplace(sending.tx->subscribe());
      side.next = sent_.size();
      side.missed = 0;
    }
  }
  void step_of(Receiving& side) {
    if (!side.rx) return join(side);
    switch (input_.below(8)) {
      case 0:
        side.recv.drop();
        side.rx.reset();
        return;
      case 1:
        return side.recv.drop();
      case 2: {  // it may be moved at any time
        side.recv.drop();
        Rx moved(*std::move(side.rx));
        side.rx.emplace(std::move(moved));
        return;
      }
      case 3:
      case 4:
        return received(side, side.rx->try_recv());
      default: {
        if (side.recv.empty()) side.recv.fill(side.rx->recv());
        const bool could = side.next != sent_.size() || sender_count() == 0;
        const auto polled = side.recv.poll(input_);
        require(polled.has_value() == could, "ready when there is a value, or none can come");
        if (polled) received(side, *polled);
      }
    }
  }
  void received(Receiving& side, const sync::Received<Token>& value) {
    require(value.has_value() == (side.next != sent_.size()), "a value if there is one");
    if (!value) return;
    const std::size_t first = std::max(side.next, oldest());
    require(value.lagged() == first - side.next, "it is told how many it missed");
    require(value->id() == sent_[first], "each value once, in order");
    side.missed += value.lagged();
    side.next = first + 1;
  }

  void check() {
    std::size_t first_kept = sent_.size();
    for (const Receiving& side : receivers_) {
      if (!side.rx) continue;
      const bool could = side.next != sent_.size() || sender_count() == 0;
      require(!side.recv.is_asleep() || !could, "a receiver that could go on was woken");
      require(side.rx->size() == sent_.size() - std::max(side.next, oldest()),
              "it knows its values");
      require(side.rx->missed() == side.missed, "it knows what it missed");
      require(side.rx->is_closed() == (sender_count() == 0), "it knows that the senders are gone");
      first_kept = std::min(first_kept, std::max(side.next, oldest()));
    }
    for (const Sending& side : senders_) {
      require(!side.closed.is_asleep() || receiver_count() != 0, "who waits for the end was woken");
    }
    require(Token::alive == sent_.size() - first_kept,
            "values are kept for those who wait for them");
  }

  Input& input_;
  std::size_t capacity_;
  std::array<Sending, 2> senders_;
  std::array<Receiving, 3> receivers_;
  std::vector<int> sent_;
  int ids_ = 0;
};

}  // namespace rouse::fuzz
