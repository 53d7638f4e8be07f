// Models of channels: unbounded ones, which grow; several receivers; and how channels end.
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

// See mpsc_test.cpp.
const Options large{.old_value_bound = 1};
const Options very_large{.preemption_bound = 2, .old_value_bound = 1};

// --- Unbounded: in a model the first ring has two slots. ---

TEST(UnboundedModel, WhatIsSentArrivesInOrder) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::unbounded<Message>();
        Thread sender([&] {
          for (int i = 0; i < 2; ++i) (void)tx.send(Message(places, i));
        });
        for (int i = 0; i < 2; ++i) ensure(block_on(rx.recv())->number() == i);
        sender.join();
      },
      very_large);
}

TEST(UnboundedModel, AReceiverFollowsIntoTheLargerRing) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::unbounded<Message>();
        for (int i = 0; i < 2; ++i) (void)tx.send(Message(places, i));
        Thread sender([&] { (void)tx.send(Message(places, 2)); });
        for (int i = 0; i < 3; ++i) ensure(block_on(rx.recv())->number() == i);
        sender.join();
      },
      large);
}

TEST(UnboundedModel, TwoSendersThatFindItFullGoOnInOneLargerRing) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::unbounded<Message>();
        for (int i = 0; i < 2; ++i) (void)tx.send(Message(places, 0));
        Thread first([&] { (void)tx.send(Message(places, 1)); });
        Thread second([&] { (void)tx.send(Message(places, 2)); });
        first.join();
        second.join();
        int sum = 0;
        int count = 0;
        for (; const auto message = rx.try_recv(); ++count) sum += message->number();
        ensure(count == 4 && sum == 3, "each arrives once");
      },
      large);
}

TEST(UnboundedModel, AReceiverThatWaitsWhileItGrowsIsWoken) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::unbounded<Message>();
        auto receiving = rx.recv();
        let_wait(receiving);
        Thread first([&] {
          for (int i = 0; i < 3; ++i) (void)tx.send(Message(places, i));
        });
        ensure(block_on(receiving)->number() == 0);
        first.join();
        for (int i = 1; i < 3; ++i) ensure(rx.try_recv()->number() == i);
      },
      large);
}

TEST(UnboundedModel, WhatIsLeftInItIsDestroyed) {
  check(
      [] {
        auto [tx, rx] = sync::unbounded<std::unique_ptr<int>>();
        Thread sender([to = std::move(tx)]() mutable {
          const auto mine = std::move(to);
          (void)mine.send(std::make_unique<int>(1));
        });
        {
          const auto gone = std::move(rx);
        }
        sender.join();
      },
      large);
}

// --- Several receivers. ---

TEST(ReceiversModel, EachMessageGoesToOneOfThem) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        auto other_rx = rx.clone();
        for (int i = 1; i <= 2; ++i) (void)tx.try_send(Message(places, i));
        int of_other = 0;
        Thread other([&] { of_other = block_on(other_rx.recv())->number(); });
        const int mine = block_on(rx.recv())->number();
        other.join();
        ensure(mine + of_other == 3);
      },
      large);
}

TEST(ReceiversModel, OneThatGivesUpPassesItsMessageOn) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        auto other_rx = rx.clone();
        auto first = std::make_optional(rx.recv());
        auto second = other_rx.recv();
        let_wait(*first);
        let_wait(second);
        Thread sender([&] { (void)tx.try_send(Message(places, 1)); });
        first.reset();
        ensure(block_on(second)->number() == 1);
        sender.join();
      },
      large);
}

TEST(ReceiversModel, WhoIsLeftAloneSeesWhatTheOtherTook) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(2);
        auto other_rx = std::make_optional(rx.clone());
        for (int i = 1; i <= 2; ++i) (void)tx.try_send(Message(places, i));
        Thread other([&] {
          ensure(other_rx->try_recv().has_value());
          other_rx.reset();
        });
        ensure(rx.try_recv().has_value(), "there were two");
        other.join();
        ensure(!rx.try_recv().has_value());
      },
      large);
}

TEST(ReceiversModel, WhatOneTakesIsNotCountedAgainstTheOther) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        auto other_rx = rx.clone();
        Thread sender([&] { (void)tx.try_send(Message(places, 1)); });
        Thread other([&] { (void)other_rx.try_recv(); });
        ensure(rx.size() <= 1, "it is taken after it was sent");
        sender.join();
        other.join();
      },
      large);
}

TEST(ReceiversModel, AllWhoWaitSeeTheEnd) {
  check(
      [] {
        auto [tx, rx] = sync::channel<Message>(1);
        auto other_rx = rx.clone();
        auto first = rx.recv();
        auto second = other_rx.recv();
        let_wait(first);
        let_wait(second);
        Thread sender([to = std::move(tx)]() mutable { const auto gone = std::move(to); });
        ensure(!block_on(first).has_value());
        ensure(!block_on(second).has_value());
        sender.join();
      },
      large);
}

TEST(ReceiversModel, OneThatMovesWhileItWaitsIsPolledAtItsNewPlace) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        struct Next {
          using Output = std::optional<Message>;
          sync::Receiver<Message>& from;
          Poll<Output> poll(Context& cx) { return from.poll_next(cx); }
        };
        {
          Next next{rx};
          let_wait(next);
        }
        Thread sender([&] { (void)tx.try_send(Message(places, 1)); });
        auto moved = std::move(rx);
        ensure(block_on(Next{moved})->number() == 1);
        sender.join();
      },
      large);
}

/// One poll of a task, by an executor.
template <class F>
auto poll_as_task(F future) {
  Context cx(Waker::noop(), Context::task_budget, nullptr);
  auto polled = future.poll(cx);
  cx.run_poll_ends();
  return polled;
}

TEST(ReceiversModel, WhoWaitsForRoomIsServedAtTheEndOfAPollOfOneOfThem) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(5);
        auto other_rx = rx.clone();
        for (int i = 0; i < 5; ++i) (void)tx.try_send(Message(places, i));
        auto first = tx.send(Message(places, 5));
        auto second = tx.send(Message(places, 6));
        let_wait(first);
        let_wait(second);
        Thread other([&] { ensure(poll_as_task(other_rx.recv()).is_ready()); });
        ensure(poll_as_task(rx.recv()).is_ready());
        other.join();
        ensure(is_ready(first) && is_ready(second), "there is room for both");
      },
      {.preemption_bound = 2, .old_value_bound = 2});
}

// --- Ends. ---

TEST(ChannelEndModel, WhatAllSendersDidComesBeforeTheEnd) {
  check(
      [] {
        auto [tx, rx] = sync::channel<Message>(1);
        auto copy = tx.clone();
        TwoThatLeave senders(std::move(copy), std::move(tx));
        ensure(!block_on(rx.recv()).has_value());
        senders.ensure_seen();
        senders.join();
      },
      very_large);
}

TEST(ChannelEndModel, ASenderThatWaitsForTheEndIsWoken) {
  check(
      [] {
        auto [tx, rx] = sync::channel<Message>(1);
        Cell<int> data{0};
        Thread receiver([&data, from = std::move(rx)]() mutable {
          data.write() = 1;
          const auto gone = std::move(from);
        });
        block_on(tx.closed());
        ensure(data.read() == 1);
        receiver.join();
      },
      large);
}

TEST(ChannelEndModel, WhoSeesTheEndSeesWhatAllReceiversDid) {
  check(
      [] {
        auto [tx, rx] = sync::channel<Message>(1);
        auto copy = rx.clone();
        TwoThatLeave receivers(std::move(copy), std::move(rx));
        block_on(tx.closed());
        receivers.ensure_seen();
        receivers.join();
      },
      very_large);
}

TEST(ChannelEndModel, AWeakSenderIsASenderWhileThereIsAnother) {
  check(
      [] {
        Places places;
        auto [tx, rx] = sync::channel<Message>(1);
        bool was_sent = false;
        Thread other([&, weak = tx.downgrade()] {
          if (const auto sender = weak.upgrade()) {
            was_sent = bool(sender->try_send(Message(places, 1)));
            ensure(was_sent, "while there is a sender it is open");
          }
        });
        {
          const auto gone = std::move(tx);
        }
        const auto received = block_on(rx.recv());
        other.join();
        ensure(was_sent == received.has_value());
      },
      large);
}

}  // namespace
}  // namespace rouse::model
