// Models of cancellation tokens: a tree under a lock, which is cancelled while it grows and goes.
#include "rouse/sync/cancellation_token.hpp"

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

using sync::CancellationToken;

TEST(CancellationModel, WhoWaitsForItIsWokenAndSeesWhatWasDoneBefore) {
  check([] {
    const CancellationToken token;
    Cell<int> data{0};
    Thread other([&data, copy = token] {
      data.write() = 1;
      copy.cancel();
    });
    block_on(token.cancelled());
    ensure(data.read() == 1);
    other.join();
  });
}

TEST(CancellationModel, WhoSeesItWithoutWaitingSeesWhatWasDoneBefore) {
  check([] {
    const CancellationToken token;
    Cell<int> data{0};
    Thread other([&] {
      data.write() = 1;
      token.cancel();
    });
    if (token.is_cancelled()) ensure(data.read() == 1);
    other.join();
  });
}

TEST(CancellationModel, AChildThatWaitsIsCancelledWithItsParent) {
  check([] {
    const CancellationToken parent;
    const CancellationToken child = parent.child();
    Thread other([&] { parent.cancel(); });
    block_on(child.cancelled());
    other.join();
  });
}

TEST(CancellationModel, AChildThatIsMadeDuringTheCancellationIsCancelled) {
  check([] {
    const CancellationToken parent;
    Thread other([&] { parent.cancel(); });
    const CancellationToken child = parent.child();
    block_on(child.cancelled());
    other.join();
  });
}

TEST(CancellationModel, AGrandchildOfATokenThatGoesIsStillCancelled) {
  check([] {
    const CancellationToken top;
    auto middle = std::make_optional(top.child());
    const CancellationToken below = middle->child();
    Thread other([&] { top.cancel(); });
    middle.reset();
    block_on(below.cancelled());
    other.join();
  });
}

TEST(CancellationModel, TokensThatGoDuringACancellationAreFreedOnce) {
  check([] {
    auto parent = std::make_optional<CancellationToken>();
    auto child = std::make_optional(parent->child());
    Thread canceller([copy = *parent] { copy.cancel(); });
    Thread other([&] { child.reset(); });
    parent.reset();
    canceller.join();
    other.join();
  });
}

TEST(CancellationModel, TheLastTokenFreesTheNodeAfterAllHaveUsedIt) {
  check([] {
    auto token = std::make_optional<CancellationToken>();
    Thread other([copy = *token]() mutable {
      const CancellationToken mine = std::move(copy);
      (void)mine.is_cancelled();
    });
    (void)token->is_cancelled();
    token.reset();
    other.join();
  });
}

TEST(CancellationModel, TwoCancellationsWakeEachWhoWaits) {
  check(
      [] {
        const CancellationToken parent;
        const CancellationToken child = parent.child();
        auto of_parent = parent.cancelled();
        auto of_child = child.cancelled();
        let_wait(of_parent);
        let_wait(of_child);
        Thread first([&] { parent.cancel(); });
        Thread second([&] { child.cancel(); });
        block_on(of_parent);
        block_on(of_child);
        first.join();
        second.join();
      },
      {.preemption_bound = 2, .old_value_bound = 1});
}

TEST(CancellationModel, WhoGivesUpWaitingLeavesTheOthersInLine) {
  check([] {
    const CancellationToken token;
    auto first = std::make_optional(token.cancelled());
    auto second = token.cancelled();
    (void)is_ready_for(make_ref<ParkedThread>(), *first);
    let_wait(second);
    Thread other([&] { token.cancel(); });
    first.reset();
    block_on(second);
    other.join();
  });
}

}  // namespace
}  // namespace rouse::model
