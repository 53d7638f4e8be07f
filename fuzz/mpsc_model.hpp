// A channel's receivers and the plain model of the channel: what is in it, how much room is
// promised, whether it is closed. Both kinds of senders are run against it, in channels.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/sync/channel.hpp"

#include "input.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

class MpscModel {
 public:
  std::deque<int> messages;
  std::size_t reserved = 0;  // room that somebody has and did not use yet
  bool closed = false;
  bool has_receivers = true;

  /// Nothing comes any more.
  [[nodiscard]] bool is_over() const noexcept {
    return closed && reserved == 0 && messages.empty();
  }
};

class Receivers {
 public:
  Receivers(MpscModel& model, sync::Receiver<Token> first) : model_(model) {
    sides_[0].rx.emplace(std::move(first));
  }

  /// One operation of a receiver. True: there may be room now.
  bool step(Input& input) {
    Side& side = sides_.at(input.below(sides_.size()));
    if (!side.rx) {
      if (Side* other = any()) side.rx.emplace(other->rx->clone());
      return false;
    }
    switch (input.below(8)) {
      case 0:
        side.rx->close();
        model_.closed = true;
        return false;
      case 1:
        drop(side);
        return true;
      case 2:
        return take(side.rx->try_recv());
      case 3:
        return recv_many(side, input);
      case 4:
        side.recvs.at(input.below(2)).drop();
        return false;
      default:
        return recv(side, side.recvs.at(input.below(2)), input);
    }
  }
  /// After each operation, of whomever.
  void check() {
    std::size_t pending = 0;
    std::size_t asleep = 0;
    for (const Side& side : sides_) {
      for (const auto& recv : side.recvs) {
        if (recv.is_pending()) ++pending;
        if (recv.is_asleep()) ++asleep;
      }
      if (!side.rx) continue;
      require(side.rx->size() == model_.messages.size(), "the channel knows how many it holds");
      require(side.rx->is_closed() == model_.closed, "the channel knows whether it is closed");
    }
    const std::size_t could_go_on =
        model_.is_over() ? pending : std::min(pending, model_.messages.size());
    require(pending - asleep >= could_go_on, "who could receive was woken");
  }
  void drop_all() {
    for (Side& side : sides_) {
      if (side.rx) drop(side);
    }
  }

 private:
  struct Side {
    std::optional<sync::Receiver<Token>> rx;
    std::array<Slot<sync::Recv<Token>>, 2> recvs;
  };

  Side* any() {
    for (Side& side : sides_) {
      if (side.rx) return &side;
    }
    return nullptr;
  }
  void drop(Side& side) {
    for (auto& recv : side.recvs) recv.drop();
    side.rx.reset();
    if (any() != nullptr) return;
    model_.has_receivers = false;
    model_.closed = true;
    model_.messages.clear();
  }
  /// What a receive gave that does not wait any more.
  bool take(const std::optional<Token>& message) {
    require(message.has_value() == !model_.messages.empty(), "a message if there is one");
    if (!message) return false;
    require(message->id() == model_.messages.front(), "in the order they were sent");
    model_.messages.pop_front();
    return true;
  }
  bool recv(Side& side, Slot<sync::Recv<Token>>& slot, Input& input) {
    if (slot.empty()) slot.fill(side.rx->recv());
    const bool was_asleep = slot.is_asleep();
    const auto message = slot.poll(input);
    if (message) {
      require(*message || model_.is_over(), "the end only when it is over");
      return take(*message);
    }
    require(was_asleep || model_.messages.empty(), "who was woken, or comes new, gets a message");
    require(!model_.is_over(), "nobody waits when it is over");
    return false;
  }
  bool recv_many(Side& side, Input& input) {
    std::vector<Token> got;
    const std::size_t limit = input.below(6);
    Slot<sync::RecvMany<Token>> slot;
    slot.fill(side.rx->recv_many(got, limit));
    const auto count = slot.poll(input);
    slot.drop();
    require(count.has_value() == (limit == 0 || !model_.messages.empty() || model_.is_over()),
            "recv_many waits for the first message only");
    const std::size_t expected = std::min(limit, model_.messages.size());
    require(got.size() == expected && count.value_or(0) == expected, "as many as there are");
    for (Token& token : got) take(std::move(token));
    return true;
  }

  MpscModel& model_;
  std::array<Side, 2> sides_;
};

}  // namespace rouse::fuzz
