// Models of broadcast channels: a ring of values that every receiver gets, or is told that it
// missed them.
#include "rouse/sync/broadcast.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

/// A value that may be copied by several at a time, and moved by one alone.
struct Tracked {
  explicit Tracked(int number) : cell(number) {}
  Tracked(const Tracked& other) : cell(other.cell.read()) {}
  Tracked(Tracked&& other) noexcept : cell(std::exchange(other.cell.write(), -1)) {}
  Cell<int> cell;
};

TEST(BroadcastModel, AValueThatIsSentArrives) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Thread sender([&] { ensure(tx.send(1).value() == 1); });
    ensure(block_on(rx.recv())->cell.read() == 1);
    sender.join();
  });
}

TEST(BroadcastModel, WhoSeesThatThereIsAValueSeesWhatWasDoneBefore) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Cell<int> data{0};
    Thread sender([&] {
      data.write() = 1;
      (void)tx.send(1);
    });
    if (!rx.empty()) ensure(data.read() == 1);
    sender.join();
  });
}

TEST(BroadcastModel, EveryReceiverGetsEveryValueInOrder) {
  check(
      [] {
        auto [tx, rx] = sync::broadcast<Tracked>(2);
        auto other_rx = rx;
        const auto receive = [](auto& from) {
          for (int i = 1; i <= 2; ++i) ensure(block_on(from.recv())->cell.read() == i);
        };
        (void)tx.send(1);
        (void)tx.send(2);
        Thread other([&] { receive(other_rx); });
        receive(rx);
        other.join();
      },
      {.old_value_bound = 1});
}

TEST(BroadcastModel, TheLastReceiverOfAValueMovesItAfterTheOthersHaveCopiedIt) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    auto other_rx = rx;
    (void)tx.send(1);
    Thread other([&] { ensure(other_rx.try_recv()->cell.read() == 1); });
    ensure(rx.try_recv()->cell.read() == 1);
    other.join();
  });
}

TEST(BroadcastModel, WhatASlowReceiverMissesItIsTold) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Thread sender([&] {
      (void)tx.send(1);
      (void)tx.send(2);
    });
    std::uint64_t got = 0;
    for (int last = 0; last != 2; ++got) {
      const auto received = block_on(rx.recv());
      ensure(received->cell.read() > last, "in their order");
      last = received->cell.read();
      got += received.lagged();
    }
    ensure(got == 2, "received or missed");
    sender.join();
  });
}

TEST(BroadcastModel, AValueIsOverwrittenWhileItIsReceived) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    (void)tx.send(1);
    Thread sender([&] { (void)tx.send(2); });
    const auto received = rx.try_recv();
    const int number = received->cell.read();
    ensure(received.lagged() == (number == 1 ? 0U : 1U));
    sender.join();
  });
}

TEST(BroadcastModel, TheEndComesAfterTheLastValue) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Thread sender([to = std::move(tx)]() mutable {
      const auto mine = std::move(to);
      (void)mine.send(1);
    });
    ensure(block_on(rx.recv())->cell.read() == 1);
    ensure(!block_on(rx.recv()).has_value());
    sender.join();
  });
}

TEST(BroadcastModel, WhatBothSendersDidComesBeforeTheEnd) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    auto copy = tx.clone();
    TwoThatLeave senders(std::move(copy), std::move(tx));
    if (rx.is_closed()) senders.ensure_seen();
    senders.join();
    ensure(rx.is_closed());
  });
}

TEST(BroadcastModel, TwoSendersEachHaveTheirPlace) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(2);
    Thread other([&] { (void)tx.send(1); });
    (void)tx.send(2);
    other.join();
    ensure(rx.try_recv()->cell.read() + rx.try_recv()->cell.read() == 3);
  });
}

TEST(BroadcastModel, AReceiverThatGoesLeavesNoValueBehind) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(2);
    auto other_rx = std::make_optional(rx);
    Thread sender([&] { (void)tx.send(1); });
    other_rx.reset();
    ensure(block_on(rx.recv())->cell.read() == 1);
    sender.join();
  });
}

TEST(BroadcastModel, ACopyOfAReceiverGetsWhatTheOriginalWould) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(2);
    Thread sender([&] { (void)tx.send(1); });
    auto copy = rx;
    ensure(block_on(copy.recv())->cell.read() == 1);
    ensure(block_on(rx.recv())->cell.read() == 1);
    sender.join();
  });
}

TEST(BroadcastModel, AFutureThatIsDroppedLosesNoValue) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Thread sender([&] { (void)tx.send(1); });
    bool received = false;
    {
      auto receiving = rx.recv();
      received = is_ready_for(make_ref<ParkedThread>(), receiving);
    }
    if (!received) ensure(block_on(rx.recv())->cell.read() == 1);
    sender.join();
  });
}

TEST(BroadcastModel, ASenderThatWaitsForTheLastReceiverToGoIsWoken) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Cell<int> data{0};
    Thread receiver([&data, from = std::move(rx)]() mutable {
      const auto mine = std::move(from);
      data.write() = 1;
    });
    block_on(tx.closed());
    ensure(data.read() == 1, "what the receiver did comes before");
    receiver.join();
  });
}

TEST(BroadcastModel, WhoSeesNoReceiverSeesWhatItDid) {
  check([] {
    auto [tx, rx] = sync::broadcast<Tracked>(1);
    Cell<int> data{0};
    Thread receiver([&data, from = std::move(rx)]() mutable {
      const auto mine = std::move(from);
      data.write() = 1;
    });
    if (tx.receiver_count() == 0) ensure(data.read() == 1);
    receiver.join();
  });
}

}  // namespace
}  // namespace rouse::model
