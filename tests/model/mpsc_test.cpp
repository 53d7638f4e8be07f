// Models of bounded channels: a ring that senders claim and a receiver empties, and who waits for
// room or for messages. Every message arrives once, in its sender's order; no slot is filled before
// it was emptied; nobody waits for ever.
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/channel.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

// A sender that finds the ring full looks again and again: see Options::old_value_bound.
const Options large{.old_value_bound = 1};
const Options very_large{.preemption_bound = 2, .old_value_bound = 1};

TEST(ChannelModel, WhatIsSentArrivesOnceThenTheEnd) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        Thread sender([&places, to = std::move(tx)]() mutable {
          const auto mine = std::move(to);
          ensure(block_on(mine.send(Message(places, 1))).has_value());
        });
        ensure(block_on(rx.recv())->number() == 1);
        ensure(!block_on(rx.recv()).has_value(), "the sender is gone");
        sender.join();
      },
      large);
}

TEST(ChannelModel, MessagesArriveInOrderThroughAFullChannel) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        Thread sender([&] {
          for (int i = 0; i < 2; ++i) (void)block_on(tx.send(Message(places, i)));
        });
        for (int i = 0; i < 2; ++i) ensure(block_on(rx.recv())->number() == i);
        sender.join();
      },
      very_large);
}

TEST(ChannelModel, ARingThatGoesRoundIsFilledAfterItWasEmptied) {
  check([] {
    Places places;
    auto [tx, rx] = sync::channel<Message>(2);
    (void)tx.try_send(Message(places, 0));
    Thread sender([&] {
      int number = 1;
      for (int attempt = 0; attempt < 3; ++attempt) {
        if (tx.try_send(Message(places, number))) ++number;
      }
    });
    int expected = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (const auto message = rx.try_recv()) ensure(message->number() == expected++);
    }
    sender.join();
    while (const auto message = rx.try_recv()) ensure(message->number() == expected++);
    ensure(expected >= 2, "there was room for one, at least");
  });
}

TEST(ChannelModel, OfTwoSendersEachHasItsOwnSlot) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        Thread first([&] { ensure(bool(tx.try_send(Message(places, 1))), "there is room"); });
        Thread second([&] { ensure(bool(tx.try_send(Message(places, 2))), "there is room"); });
        const int one = block_on(rx.recv())->number();
        const int other = block_on(rx.recv())->number();
        ensure(one + other == 3, "each arrives once");
        first.join();
        second.join();
      },
      very_large);
}

TEST(ChannelModel, ASenderThatWaitsForRoomIsServed) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        (void)tx.try_send(Message(places, 1));
        Thread sender([&] { ensure(block_on(tx.send(Message(places, 2))).has_value()); });
        ensure(block_on(rx.recv())->number() == 1);
        sender.join();
        ensure(rx.try_recv()->number() == 2);
      },
      large);
}

TEST(ChannelModel, RoomForTwoComesAtOnceAndTheOneBehindItIsServed) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        (void)tx.try_send(Message(places, 0));
        auto many = tx.reserve_many(2);
        auto one = tx.send(Message(places, 3));
        let_wait(many);
        let_wait(one);
        Thread receiver([&] {
          for (int i = 0; i < 3; ++i) ensure(block_on(rx.recv())->number() == i);
        });
        auto permit = block_on(many);
        ensure(permit.size() == 2);
        ensure(permit.send(Message(places, 1)).has_value());
        ensure(permit.send(Message(places, 2)).has_value());
        ensure(block_on(one).has_value());
        receiver.join();
        ensure(rx.try_recv()->number() == 3);
      },
      very_large);
}

TEST(ChannelModel, OneThatWantsTwoAndGivesUpLetsTheOneBehindItIn) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        (void)tx.try_send(Message(places, 0));
        (void)tx.try_send(Message(places, 1));
        auto many = std::make_optional(tx.reserve_many(2));
        auto one = tx.send(Message(places, 2));
        let_wait(*many);
        let_wait(one);
        Thread receiver([&] { ensure(rx.try_recv()->number() == 0); });
        many.reset();
        ensure(block_on(one).has_value());
        receiver.join();
        ensure(rx.try_recv()->number() == 1);
        ensure(rx.try_recv()->number() == 2);
      },
      large);
}

TEST(ChannelModel, AChannelThatHasEndedWasReceivedToItsEnd) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        Thread sender([&places, to = std::move(tx)]() mutable {
          const auto mine = std::move(to);
          (void)mine.try_send(Message(places, 1));
        });
        const bool first = rx.try_recv().has_value();
        if (rx.has_ended()) ensure(first && !rx.try_recv(), "the message comes before the end");
        sender.join();
        if (!first) ensure(rx.try_recv()->number() == 1);
        ensure(rx.has_ended());
      },
      large);
}

TEST(ChannelModel, ASenderThatGivesUpPassesItsRoomOn) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        (void)tx.try_send(Message(places, 0));
        auto first = std::make_optional(tx.send(Message(places, 1)));
        auto second = tx.send(Message(places, 2));
        let_wait(*first);
        let_wait(second);
        Thread receiver([&] { ensure(rx.try_recv()->number() == 0); });
        first.reset();
        ensure(block_on(second).has_value());
        receiver.join();
        ensure(rx.try_recv()->number() == 2);
      },
      large);
}

TEST(ChannelModel, ASenderThatTriesDoesNotOvertakeOneThatWaits) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        (void)tx.try_send(Message(places, 0));
        auto waiting = tx.send(Message(places, 1));
        let_wait(waiting);
        Thread receiver([&] { ensure(rx.try_recv()->number() == 0); });
        ensure(!tx.try_send(Message(places, 2)), "the room is the other one's");
        ensure(block_on(waiting).has_value());
        receiver.join();
        ensure(rx.try_recv()->number() == 1);
      },
      large);
}

TEST(ChannelModel, AReceiverThatGoesRefusesWhoWaits) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        Cell<int> data{0};
        (void)tx.try_send(Message(places, 0));
        Thread receiver([&data, from = std::move(rx)]() mutable {
          data.write() = 1;
          const auto gone = std::move(from);
        });
        // Refused, or it got in before: then it is destroyed with the channel.
        if (!block_on(tx.send(Message(places, 1)))) ensure(data.read() == 1);
        receiver.join();
        ensure(tx.is_closed());
      },
      large);
}

TEST(ChannelModel, WhatWasSentBeforeTheCloseIsReceived) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        bool was_sent = false;
        Thread sender([&] { was_sent = bool(tx.try_send(Message(places, 1))); });
        rx.close();
        const std::optional<Message> received = block_on(rx.recv());
        sender.join();
        ensure(was_sent == received.has_value());
        ensure(!block_on(rx.recv()).has_value(), "it is over");
      },
      large);
}

TEST(ChannelModel, AReservationIsUsedAlsoAfterTheClose) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        auto permit = tx.try_reserve();
        rx.close();
        Thread sender([&] { (void)permit.send(Message(places, 1)); });
        ensure(block_on(rx.recv())->number() == 1);
        ensure(!block_on(rx.recv()).has_value(), "it is over");
        sender.join();
      },
      large);
}

TEST(ChannelModel, AReservationThatIsGivenUpAfterTheCloseEndsTheChannel) {
  check(
      [] {
        auto [tx, rx] = sync::channel<Message>(1);
        auto permit = std::make_optional(tx.try_reserve());
        rx.close();
        Thread sender([&] { permit.reset(); });
        ensure(!block_on(rx.recv()).has_value(), "it is over");
        sender.join();
      },
      large);
}

TEST(ChannelModel, ReservationsOfTwoAreUsedInTheOrderOfTheirMessages) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        (void)tx.try_send(Message(places, 0));
        ensure(rx.try_recv()->number() == 0);
        Thread first([&] {
          auto permit = tx.try_reserve();
          (void)permit.send(Message(places, 1));
        });
        Thread second([&] {
          auto permit = tx.try_reserve();
          (void)permit.send(Message(places, 2));
        });
        first.join();
        second.join();
        ensure(rx.try_recv()->number() + rx.try_recv()->number() == 3, "both are there");
      },
      large);
}

TEST(ChannelModel, ARoomThatOneSawEmptyMayBeUsedByAnother) {
  check([] {
    Places places;
    auto [tx, rx] = sync::channel<Message>(2);
    (void)tx.try_send(Message(places, 0));
    auto early = tx.try_reserve();
    // The room of this one is claimed by whoever sends first.
    Thread receiver([&] { ensure(rx.try_recv()->number() == 0); });
    Thread other([&] { (void)tx.try_send(Message(places, 2)); });
    (void)early.send(Message(places, 1));
    receiver.join();
    other.join();
    int sum = 0;
    while (const auto message = rx.try_recv()) sum += message->number();
    ensure(sum == 1 || sum == 3);
  });
}

TEST(ChannelModel, ARoomThatOneWaitedForMayBeUsedByAnother) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        (void)tx.try_send(Message(places, 0));
        auto early = tx.try_reserve();
        // It has to wait for room, or finds it when it is about to; then it uses that of the early
        // one, which uses the new room.
        Thread other([&] { ensure(block_on(tx.send(Message(places, 2))).has_value()); });
        Thread receiver([&] { ensure(rx.try_recv()->number() == 0); });
        (void)early.send(Message(places, 1));
        receiver.join();
        other.join();
        ensure(rx.try_recv()->number() + rx.try_recv()->number() == 3, "both are there");
      },
      large);
}

TEST(ChannelModel, ARoomThatOneSenderHeardOfIsEmptyForTheOthersToo) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        for (int i = 0; i < 2; ++i) (void)tx.try_send(Message(places, i));
        Thread receiver([&] {
          for (int i = 0; i < 2; ++i) (void)rx.try_recv();
        });
        Thread hears([&] { (void)tx.try_send(Message(places, 2)); });
        auto trusts = tx.send(Message(places, 3));
        (void)is_ready(trusts);
        receiver.join();
        hears.join();
        while (rx.try_recv()) {
        }
      },
      large);
}

TEST(ChannelModel, ASenderThatIsRefusedSeesWhatWasDoneBeforeTheClose) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        Cell<int> data{0};
        Thread receiver([&] {
          data.write() = 1;
          rx.close();
        });
        if (!tx.try_send(Message(places, 1))) ensure(data.read() == 1);
        receiver.join();
      },
      large);
}

}  // namespace
}  // namespace rouse::model
