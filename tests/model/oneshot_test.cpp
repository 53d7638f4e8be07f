// Models of oneshot channels: one word in which both sides end, wait and stop waiting.
#include "rouse/sync/oneshot.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/cell.hpp"
#include "rouse/base/thread.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"

#include "model/waiting.hpp"

namespace rouse::model {
namespace {

const Options all{.preemption_bound = Options::unbounded};

using Box = std::unique_ptr<Cell<int>>;
Box box(int value) { return std::make_unique<Cell<int>>(value); }

TEST(OneshotModel, WhatIsSentArrives) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(box(1)); });
        const std::optional<Box> received = block_on(rx);
        ensure(received && (*received)->read() == 1);
        sender.join();
      },
      all);
}

TEST(OneshotModel, WhatIsThereIsTakenWithoutWaiting) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(box(1)); });
        if (const std::optional<Box> received = rx.try_recv()) {
          ensure((*received)->read() == 1);
        }
        sender.join();
      },
      all);
}

TEST(OneshotModel, ASenderThatGoesIsNoticed) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<int>();
        Thread sender([to = std::move(tx)]() mutable { const auto gone = std::move(to); });
        ensure(!block_on(rx).has_value());
        sender.join();
      },
      all);
}

TEST(OneshotModel, AReceiverThatGoesDropsWhatWasSent) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(box(1)); });
        {
          const auto gone = std::move(rx);
        }
        sender.join();
      },
      all);
}

TEST(OneshotModel, AReceiverThatGoesWhileItWaitsDropsItsWaker) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread receiver([from = std::move(rx)]() mutable {
          auto waiting = std::move(from);
          (void)is_ready_for(make_ref<ParkedThread>(), waiting);
        });
        (void)tx.send(box(1));
        receiver.join();
      },
      all);
}

TEST(OneshotModel, TheWakerOfTheLatestPollIsWoken) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        let_wait(rx);
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(box(1)); });
        const std::optional<Box> received = block_on(rx);
        ensure(received && (*received)->read() == 1);
        sender.join();
      },
      all);
}

TEST(OneshotModel, AFutureOfItThatIsDroppedLosesNothing) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread sender([to = std::move(tx)]() mutable { (void)to.send(box(1)); });
        bool was_ready = false;
        {
          auto receiving = rx.recv();
          was_ready = is_ready(receiving);
        }
        ensure(was_ready != block_on(rx).has_value(), "by one of the two");
        sender.join();
      },
      all);
}

TEST(OneshotModel, AValueThatWasSentBeforeTheCloseIsReceivedAndOneAfterItIsRefused) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        bool was_sent = false;
        Thread sender([&was_sent, to = std::move(tx)]() mutable {
          was_sent = static_cast<bool>(to.send(box(1)));
        });
        rx.close();
        const std::optional<Box> received = block_on(rx);
        if (received) ensure((*received)->read() == 1);
        sender.join();
        ensure(was_sent == received.has_value());
      },
      all);
}

TEST(OneshotModel, ASenderThatWaitsForTheCloseIsWoken) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<int>();
        Cell<int> data{0};
        Thread receiver([&data, from = std::move(rx)]() mutable {
          data.write() = 1;
          from.close();
        });
        block_on(tx.closed());
        ensure(data.read() == 1, "it sees what was done before the close");
        receiver.join();
      },
      all);
}

TEST(OneshotModel, ASenderThatWaitsIsWokenWhenTheReceiverGoes) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread receiver([from = std::move(rx)]() mutable { const auto gone = std::move(from); });
        block_on(tx.closed());
        ensure(!tx.send(box(1)), "nobody receives it");
        receiver.join();
      },
      all);
}

TEST(OneshotModel, ASenderThatWaitedForTheCloseMaySendAfterAll) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread sender([to = std::move(tx)]() mutable {
          {
            auto closed = to.closed();
            (void)is_ready_for(make_ref<ParkedThread>(), closed);
          }
          (void)to.send(box(1));
        });
        const std::optional<Box> received = block_on(rx);
        ensure(received && (*received)->read() == 1);
        sender.join();
      },
      all);
}

TEST(OneshotModel, BothWaitAndOneOfThemGoes) {
  check(
      [] {
        auto [tx, rx] = sync::oneshot<Box>();
        Thread sender([to = std::move(tx)]() mutable {
          auto waiting = std::move(to);
          auto closed = waiting.closed();
          (void)is_ready_for(make_ref<ParkedThread>(), closed);
        });
        ensure(!block_on(rx).has_value(), "the sender went without sending");
        sender.join();
      },
      all);
}

TEST(BlockOnModel, TheThreadThatSleepsIsWoken) {
  check([] {
    auto [tx, rx] = sync::oneshot<int>();
    Thread sender([to = std::move(tx)]() mutable { (void)to.send(1); });
    ensure(rouse::block_on(rx) == 1);
    sender.join();
  });
}

}  // namespace
}  // namespace rouse::model
