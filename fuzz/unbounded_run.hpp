// The senders of an unbounded channel against MpscModel: many messages, so that its ring grows.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "rouse/sync/channel.hpp"

#include "input.hpp"
#include "mpsc_model.hpp"
#include "slot.hpp"

namespace rouse::fuzz {

class UnboundedRun {
 public:
  explicit UnboundedRun(Input& input) : UnboundedRun(input, sync::unbounded<Token>()) {}

  void step() {
    if (input_.flag()) {
      receivers_.step(input_);
    } else {
      step_of(senders_.at(input_.below(senders_.size())));
    }
    receivers_.check();
  }
  void finish() {
    receivers_.drop_all();
    receivers_.check();
  }

 private:
  using Tx = sync::UnboundedSender<Token>;

  UnboundedRun(Input& input, std::pair<Tx, sync::Receiver<Token>> ends)
      : input_(input), weak_(ends.first.downgrade()), receivers_(model_, std::move(ends.second)) {
    senders_[0].emplace(std::move(ends.first));
  }

  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(senders_[0].has_value()) +
           static_cast<std::size_t>(senders_[1].has_value());
  }
  void step_of(std::optional<Tx>& tx) {
    if (!tx) {
      const bool can = count() != 0;
      tx = weak_.upgrade();
      require(tx.has_value() == can, "a weak sender is of use while there is a sender");
      return;
    }
    if (input_.below(8) == 0) {
      tx.reset();
      if (count() == 0) model_.closed = true;
      return;
    }
    require(tx->strong_count() == count(), "the channel knows its senders");
    for (std::size_t more = input_.below(3) == 0 ? input_.below(80) : 1; more != 0; --more) {
      const auto sent = tx->send(Token(++ids_));
      require(sent.has_value() != model_.closed, "there is room unless it is closed");
      if (sent) model_.messages.push_back(ids_);
      if (!sent) require(sent.error() == std::errc::broken_pipe, "and says so");
    }
  }

  Input& input_;
  sync::WeakSender<Tx> weak_;
  MpscModel model_;
  Receivers receivers_;
  std::array<std::optional<Tx>, 2> senders_;
  int ids_ = 0;
};

}  // namespace rouse::fuzz
