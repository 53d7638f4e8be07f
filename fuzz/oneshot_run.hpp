// Oneshot channels, one after another: each value is received once or dropped once, and who waits
// is woken when the other side sends, closes or goes.
#pragma once

#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "rouse/sync/oneshot.hpp"

#include "input.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

class OneshotRun {
 public:
  explicit OneshotRun(Input& input) : input_(input) { begin(); }

  void step() {
    if (!tx_ && !rx_) begin();
    if (input_.flag() ? !rx_.has_value() : tx_.has_value()) {
      if (tx_) step_of_sender();
    } else if (rx_) {
      step_of_receiver();
    }
    require(!recv_.is_asleep() || !can_receive(), "a receiver that could go on was woken");
    require(!closed_.is_asleep() || !refuses_, "who waits for the close was woken");
    require(Token::alive == (holds_value_ ? 1U : 0U), "a value lives until it is taken or dropped");
  }
  void finish() {}

 private:
  using Tx = sync::OneshotSender<Token>;
  using Rx = sync::OneshotReceiver<Token>;

  void begin() {
    auto [tx, rx] = sync::oneshot<Token>();
    tx_.emplace(std::move(tx));
    rx_.emplace(std::move(rx));
    holds_value_ = refuses_ = is_over_ = false;
  }
  [[nodiscard]] bool can_receive() const { return holds_value_ || is_over_ || !tx_; }

  void step_of_sender() {
    switch (input_.below(4)) {
      case 0:
        closed_.drop();
        tx_.reset();
        return;
      case 1: {
        closed_.drop();
        const Result<void> sent = tx_->send(Token(7));
        require(sent.has_value() == !refuses_, "a send fails only if nobody receives");
        if (!sent) require(sent.error() == std::errc::broken_pipe, "and says so");
        holds_value_ = sent.has_value();
        require(tx_->is_closed(), "after a send it is closed");
        tx_.reset();
        return;
      }
      case 2:
        return closed_.drop();
      default:
        if (closed_.empty()) closed_.fill(Told(tx_->closed()));
        require(closed_.poll(input_).has_value() == refuses_, "closed when the receiver says so");
        require(tx_->is_closed() == refuses_, "and not before");
    }
  }
  void received(const std::optional<Token>& value) {
    require(value.has_value() == holds_value_, "the value, if there is one");
    if (value) require(value->id() == 7, "as it was sent");
    holds_value_ = false;
    is_over_ = refuses_ = true;
  }
  void step_of_receiver() {
    switch (input_.below(6)) {
      case 0:
        recv_.drop();
        rx_.reset();
        holds_value_ = false;
        refuses_ = true;
        return;
      case 1:
        recv_.drop();
        rx_->close();
        refuses_ = true;
        if (!holds_value_) is_over_ = true;
        return;
      case 2: {
        recv_.drop();
        const bool could = can_receive();
        const auto value = rx_->try_recv();
        if (could) return received(value);
        return require(!value, "nothing is there yet");
      }
      case 3: {  // it may be moved at any time
        recv_.drop();
        Rx moved(*std::move(rx_));
        rx_.emplace(std::move(moved));
        return;
      }
      case 4:
        return recv_.drop();
      default:
        if (recv_.empty()) recv_.fill(rx_->recv());
        const bool could = can_receive();
        const auto polled = recv_.poll(input_);
        require(polled.has_value() == could, "ready when the value is there, or none can come");
        if (polled) received(*polled);
    }
  }

  Input& input_;
  std::optional<Tx> tx_;
  std::optional<Rx> rx_;
  Slot<Told<Tx::Closed>> closed_;
  Slot<Rx::Recv> recv_;
  bool holds_value_ = false;  // sent, and neither taken nor dropped
  bool refuses_ = false;      // the receiver closed, has its value, or is gone
  bool is_over_ = false;      // nothing comes any more, whatever the sender does
};

}  // namespace rouse::fuzz
