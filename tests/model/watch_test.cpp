// Models of watch channels: values that are replaced while others look, wait and go.
#include "rouse/sync/watch.hpp"

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

/// A value that is written once and read by many.
struct Tracked {
  explicit Tracked(int number) : cell(number) {}
  Tracked(const Tracked& other) : cell(other.cell.read()) {}
  Cell<int> cell;
};

TEST(WatchModel, AChangeIsNotLost) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Thread sender([&] { (void)tx.send(1); });
    ensure(block_on(rx.changed()).has_value());
    ensure(rx.borrow_and_update()->cell.read() == 1);
    sender.join();
  });
}

TEST(WatchModel, TheLastOfTwoChangesIsSeen) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Thread sender([&] {
      (void)tx.send(1);
      (void)tx.send(2);
    });
    int last = 0;
    while (last != 2) {
      ensure(block_on(rx.changed()).has_value());
      const int now = rx.borrow_and_update()->cell.read();
      ensure(now > last, "values are seen once, in their order");
      last = now;
    }
    sender.join();
  });
}

TEST(WatchModel, WhoSeesAVersionWithoutTheLockFindsItsValue) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Cell<int> data{0};
    Thread sender([&] {
      data.write() = 1;
      (void)tx.send(1);
    });
    if (rx.has_changed()) ensure(data.read() == 1, "and what was done before");
    sender.join();
  });
}

TEST(WatchModel, AReceiverThatWaitsSeesTheEnd) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Cell<int> data{0};
    Thread sender([&data, to = std::move(tx)]() mutable {
      const auto mine = std::move(to);
      data.write() = 1;
    });
    ensure(!block_on(rx.changed()).has_value());
    ensure(data.read() == 1, "what the sender did comes before");
    sender.join();
  });
}

TEST(WatchModel, WhatWasSentLastIsSeenBeforeTheEnd) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Thread sender([to = std::move(tx)]() mutable {
      const auto mine = std::move(to);
      (void)mine.send(1);
    });
    ensure(block_on(rx.changed()).has_value());
    ensure(rx.borrow_and_update()->cell.read() == 1);
    ensure(!block_on(rx.changed()).has_value());
    sender.join();
  });
}

TEST(WatchModel, WhatBothSendersDidComesBeforeTheEnd) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    auto copy = tx.clone();
    TwoThatLeave senders(std::move(copy), std::move(tx));
    if (rx.is_closed()) senders.ensure_seen();
    senders.join();
    ensure(rx.is_closed());
  });
}

TEST(WatchModel, OfTwoModificationsNoneIsLost) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    const auto add_one = [&] { tx.send_modify([](Tracked& value) { value.cell.write()++; }); };
    Thread other(add_one);
    add_one();
    other.join();
    ensure(rx.borrow()->cell.read() == 2);
  });
}

TEST(WatchModel, TwoReceiversBothSeeAChange) {
  check(
      [] {
        auto [tx, rx] = sync::watch<Tracked>(0);
        auto other_rx = rx;
        const auto see = [](auto& from) {
          ensure(block_on(from.changed()).has_value());
          ensure(from.borrow_and_update()->cell.read() == 1);
        };
        Thread other([&] { see(other_rx); });
        Thread sender([&] { (void)tx.send(1); });
        see(rx);
        other.join();
        sender.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(WatchModel, ABorrowedValueStaysWhileItIsReplaced) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Thread sender([&] { (void)tx.send(1); });
    const auto borrowed = rx.borrow();
    const int before = borrowed->cell.read();
    sender.join();
    ensure(borrowed->cell.read() == before, "it is a snapshot");
  });
}

TEST(WatchModel, AFutureThatIsDroppedLosesNoChange) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Thread sender([&] { (void)tx.send(1); });
    bool seen = false;
    {
      auto changed = rx.changed();
      seen = is_ready_for(make_ref<ParkedThread>(), changed);
    }
    if (!seen) ensure(block_on(rx.changed()).has_value());
    sender.join();
  });
}

TEST(WatchModel, ASenderThatWaitsForTheLastReceiverToGoIsWoken) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
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

TEST(WatchModel, WhoSeesNoReceiverSeesWhatAllOfThemDid) {
  check([] {
    auto [tx, rx] = sync::watch<Tracked>(0);
    Cell<int> first_data{0};
    Cell<int> second_data{0};
    Thread first([&, from = rx]() mutable {
      const auto mine = std::move(from);
      first_data.write() = 1;
    });
    Thread second([&, from = std::move(rx)]() mutable {
      const auto mine = std::move(from);
      second_data.write() = 1;
    });
    if (tx.is_closed()) ensure(first_data.read() == 1 && second_data.read() == 1);
    first.join();
    second.join();
    ensure(tx.is_closed());
  });
}

}  // namespace
}  // namespace rouse::model
