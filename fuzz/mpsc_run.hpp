// The senders of a bounded and of an unbounded channel against MpscModel. Room is given to those
// who wait in the order they came, and nobody overtakes them; what a permit holds is kept for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/sync/channel.hpp"

#include "input.hpp"
#include "mpsc_model.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

class BoundedRun {
 public:
  explicit BoundedRun(Input& input) : BoundedRun(input, 1 + input.below(5)) {}

  void step() {
    if (input_.flag()) {
      if (receivers_.step(input_)) give_room();
      if (model_.closed) refuse_all();
    } else {
      step_of(sides_.at(input_.below(sides_.size())));
    }
    check();
  }
  void finish() {
    receivers_.drop_all();
    refuse_all();
    check();
  }

 private:
  using Tx = sync::Sender<Token>;
  enum class Waits : std::uint8_t { no, in_line, has_room, refused };
  struct Side {
    std::optional<Tx> tx;
    Slot<sync::Send<Token>> send;
    Slot<sync::Reserve<Token>> reserve;
    int sending = 0;  // the message of `send`
    Waits send_waits = Waits::no;
    Waits reserve_waits = Waits::no;
  };

  BoundedRun(Input& input, std::size_t capacity)
      : BoundedRun(input, sync::channel<Token>(capacity)) {}
  BoundedRun(Input& input, std::pair<Tx, sync::Receiver<Token>> ends)
      : input_(input),
        capacity_(ends.first.max_capacity()),
        weak_(ends.first.downgrade()),
        receivers_(model_, std::move(ends.second)) {
    sides_[0].tx.emplace(std::move(ends.first));
  }

  [[nodiscard]] std::size_t free_room() const {
    return capacity_ - model_.messages.size() - model_.reserved;
  }
  [[nodiscard]] std::size_t senders() const {
    const auto has_tx = [](const Side& side) { return side.tx.has_value(); };
    return permits_.size() + static_cast<std::size_t>(std::ranges::count_if(sides_, has_tx));
  }

  void step_of(Side& side) {
    if (!side.tx) return upgrade(side);
    switch (input_.below(8)) {
      case 0:
        return drop(side);
      case 1:
        return try_send(side);
      case 2:
        return try_reserve(side);
      case 3:
        return use_permit();
      case 4:
        leave(side.send, side.send_waits);
        return leave(side.reserve, side.reserve_waits);
      case 5:
        return reserve(side);
      default:
        return send(side);
    }
  }
  void upgrade(Side& side) {
    const bool can = senders() != 0;
    side.tx = weak_.upgrade();
    require(side.tx.has_value() == can, "a weak sender is of use while there is a sender");
  }
  void sent(int id) { model_.messages.push_back(id); }

  /// What somebody gets who does not wait: room that nobody waits for.
  [[nodiscard]] bool has_room_now() const {
    return !model_.closed && line_.empty() && free_room() > 0;
  }
  void try_send(Side& side) {
    const bool can = has_room_now();
    const int id = ++ids_;
    Token token(id);
    const Result<void> result = side.tx->try_send(std::move(token));
    require(result.has_value() == can, "try_send sends if there is room that nobody waits for");
    if (can) return sent(id);
    // NOLINTNEXTLINE(bugprone-use-after-move): it is not moved if it is not sent
    require(token.id() == id, "try_send leaves a value that it did not send");
    require(result.error() == (model_.closed ? std::errc::broken_pipe
                                             : std::errc::resource_unavailable_try_again),
            "try_send says why not");
  }
  void try_reserve(Side& side) {
    const bool can = has_room_now();
    auto permit = side.tx->try_reserve();
    require(static_cast<bool>(permit) == can, "try_reserve gives room that nobody waits for");
    if (!can) return;
    ++model_.reserved;
    permits_.push_back(std::move(permit));
  }
  void use_permit() {
    if (permits_.empty()) return;
    auto permit = std::move(permits_.back());
    permits_.pop_back();
    --model_.reserved;
    if (input_.flag()) {
      require(permit.send(Token(++ids_)).has_value(), "a permit can always be used");
      sent(ids_);
    }
    {
      const auto dropped = std::move(permit);
    }
    give_room();
    close_if_alone();
  }

  /// Polls a future that waits for room. What it gives, if it is ready; `had_room`: it took room.
  template <class F>
  auto poll(Slot<F>& slot, Waits& waits, bool& had_room) {
    const bool is_new = !slot.is_pending();
    if (is_new && has_room_now()) {
      ++model_.reserved;
      waits = Waits::has_room;
    } else if (is_new) {
      waits = model_.closed ? Waits::refused : Waits::in_line;
      if (!model_.closed) line_.push_back(&waits);
    }
    auto output = slot.poll(input_);
    require(output.has_value() == (waits != Waits::in_line),
            "ready when it has room, or never can");
    had_room = waits == Waits::has_room;
    if (output) waits = Waits::no;
    return output;
  }
  void send(Side& side) {
    if (side.send.empty()) side.send.fill(side.tx->send(Token(side.sending = ++ids_)));
    bool had_room = false;
    const auto output = poll(side.send, side.send_waits, had_room);
    if (!output) return;
    require(output->has_value() == had_room, "a send fails only if the channel is closed");
    if (!had_room) return require(output->error() == std::errc::broken_pipe, "and says so");
    --model_.reserved;
    sent(side.sending);
  }
  void reserve(Side& side) {
    if (side.reserve.empty()) side.reserve.fill(side.tx->reserve());
    bool had_room = false;
    auto output = poll(side.reserve, side.reserve_waits, had_room);
    if (!output) return;
    require(static_cast<bool>(*output) == had_room,
            "a permit has room unless the channel is closed");
    if (had_room) permits_.push_back(*std::move(output));
  }
  template <class F>
  void leave(Slot<F>& slot, Waits& waits) {
    slot.drop();
    std::erase(line_, &waits);
    if (std::exchange(waits, Waits::no) == Waits::has_room) --model_.reserved;
    give_room();
  }
  void drop(Side& side) {
    leave(side.send, side.send_waits);
    leave(side.reserve, side.reserve_waits);
    side.tx.reset();
    close_if_alone();
  }
  void close_if_alone() {
    if (senders() == 0) model_.closed = true;
  }

  void give_room() {
    while (!model_.closed && !line_.empty() && free_room() > 0) {
      *line_.front() = Waits::has_room;
      line_.pop_front();
      ++model_.reserved;
    }
  }
  void refuse_all() {
    for (Waits* waits : line_) *waits = Waits::refused;
    line_.clear();
  }
  void check() {
    receivers_.check();
    for (const Side& side : sides_) {
      if (side.tx && model_.has_receivers) {
        require(side.tx->capacity() == free_room(), "the channel knows its room");
        require(side.tx->strong_count() == senders(), "and its senders");
      }
      const bool send_could = side.send.is_pending() && side.send_waits != Waits::in_line;
      const bool reserve_could = side.reserve.is_pending() && side.reserve_waits != Waits::in_line;
      require(!send_could || !side.send.is_asleep(), "a sender that could go on was woken");
      require(!reserve_could || !side.reserve.is_asleep(), "also one that reserves");
    }
  }

  Input& input_;
  std::size_t capacity_;
  sync::WeakSender<Tx> weak_;
  MpscModel model_;
  Receivers receivers_;
  std::array<Side, 3> sides_;
  std::vector<sync::SendPermit<Token>> permits_;
  std::deque<Waits*> line_;
  int ids_ = 0;
};

}  // namespace rouse::fuzz
