// Models of channels that go on in another ring: in a model the first has two slots, and of an
// unbounded channel that is empty no larger one is kept.
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

TEST(ChannelRingsModel, AReceiverAndASenderMeetWhileItGrows) {
  check(
      [] {
        auto [tx, rx] = sync::channel<int>(4);
        for (int i = 0; i < 2; ++i) (void)tx.try_send(int{i});
        Thread sender([&] { ensure(tx.try_send(2).has_value(), "there is room"); });
        for (int i = 0; i < 3; ++i) ensure(*block_on(rx.recv()) == i);
        sender.join();
        ensure(tx.capacity() == 4, "all was counted once");
      },
      large);
}

TEST(ChannelRingsModel, WhatIsReceivedMeanwhileMakesRoomInTheLargerRing) {
  check(
      [] {
        auto [tx, rx] = sync::channel<int>(3);
        for (int i = 0; i < 2; ++i) (void)tx.try_send(int{i});
        Thread sender([&] {
          for (int i = 2; i < 4; ++i) (void)block_on(tx.send(i));
        });
        for (int i = 0; i < 4; ++i) ensure(*block_on(rx.recv()) == i);
        sender.join();
        ensure(tx.capacity() == 3, "all was counted once");
      },
      very_large);
}

TEST(ChannelRingsModel, AReservationIsUsedOrGivenBackWhileItGrows) {
  check(
      [] {
        auto [tx, rx] = sync::channel<int>(4);
        auto used = tx.try_reserve();
        auto given_back = tx.try_reserve();
        Thread sender([&] { ensure(tx.try_send(1).has_value(), "there is room"); });
        (void)used.send(2);
        given_back = sync::SendPermit<int>();
        sender.join();
        ensure(*rx.try_recv() + *rx.try_recv() == 3 && !rx.try_recv(), "both, once");
        ensure(tx.capacity() == 4, "all was counted once");
      },
      large);
}

TEST(ChannelRingsModel, NobodyHasMoreRoomThanTheChannel) {
  check(
      [] {
        auto [tx, rx] = sync::channel<int>(3);
        for (int i = 0; i < 2; ++i) (void)tx.try_send(int{i});
        int sent = 0;
        Thread sender([&] { sent += tx.try_send(2) ? 1 : 0; });
        const int here = tx.try_send(3) ? 1 : 0;
        sender.join();
        ensure(here + sent == 1, "there was room for one");
        ensure(rx.size() == 3);
      },
      large);
}

TEST(ChannelRingsModel, OneThatGoesBackToASmallRingLosesNothing) {
  check(
      [] {
        auto [tx, rx] = sync::unbounded<int>();
        for (int i = 0; i < 3; ++i) (void)tx.send(i);
        for (int i = 0; i < 3; ++i) ensure(*rx.try_recv() == i);
        Thread sender([&] {
          for (int i = 3; i < 5; ++i) (void)tx.send(i);
        });
        for (int i = 3; i < 5; ++i) ensure(*block_on(rx.recv()) == i);
        sender.join();
      },
      very_large);
}

TEST(ChannelRingsModel, ARingThatIsUsedAgainServesASenderFromBefore) {
  check(
      [] {
        auto [tx, rx] = sync::unbounded<int>();
        // The sender may look at the first ring, and send when that is the third.
        Thread sender([&] { (void)tx.send(100); });
        for (int i = 0; i < 3; ++i) (void)tx.send(1);
        int sum = 0;
        int count = 0;
        while (const auto message = rx.try_recv()) sum += *message, ++count;
        for (; count < 4; ++count) sum += *block_on(rx.recv());  // in a small ring, if it waits
        sender.join();
        ensure(sum == 103);
      },
      very_large);
}

}  // namespace
}  // namespace rouse::model
