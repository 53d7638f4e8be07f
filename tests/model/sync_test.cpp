// Models of channels and of blocking on a future, as users use them.
#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/thread.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/model/block_on.hpp"
#include "rouse/model/model.hpp"
#include "rouse/sync/channel.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/sync/oneshot.hpp"

namespace rouse::model {
namespace {

TEST(OneshotModel, WhatIsSentArrives) {
  check([] {
    auto [tx, rx] = sync::oneshot<std::unique_ptr<int>>();
    Thread sender([to = std::move(tx)]() mutable { (void)to.send(std::make_unique<int>(1)); });
    const std::optional<std::unique_ptr<int>> received = block_on(rx);
    ensure(received && **received == 1);
    sender.join();
  });
}

TEST(OneshotModel, ASenderThatGoesIsNoticed) {
  check([] {
    auto [tx, rx] = sync::oneshot<int>();
    Thread sender([to = std::move(tx)]() mutable { const auto gone = std::move(to); });
    ensure(!block_on(rx).has_value());
    sender.join();
  });
}

TEST(OneshotModel, AReceiverThatGoesLeaksNothing) {
  check([] {
    auto [tx, rx] = sync::oneshot<std::unique_ptr<int>>();
    Thread sender([to = std::move(tx)]() mutable { (void)to.send(std::make_unique<int>(1)); });
    {
      const auto gone = std::move(rx);
    }
    sender.join();
  });
}

TEST(NotifyModel, ANotificationIsNotLost) {
  check([] {
    sync::Notify notify;
    Thread other([&] { notify.notify_one(); });
    block_on(notify.notified());
    other.join();
  });
}

TEST(ChannelModel, MessagesArriveInOrderThroughAFullChannel) {
  check(
      [] {
        auto [tx, rx] = sync::channel<int>(1);
        Thread sender([to = std::move(tx)]() mutable {
          for (int i = 0; i < 2; ++i) (void)block_on(to.send(i));
        });
        for (int i = 0; i < 2; ++i) ensure(block_on(rx.recv()) == i);
        ensure(!block_on(rx.recv()).has_value(), "the sender is gone");
        sender.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
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
