// What must not be done to a coroutine says so at once.
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"

namespace rouse {
namespace {

Async<void> waits() { co_await pending_forever<void>(); }

struct Pair {
  std::optional<Async<void>> child = waits();
  std::optional<Async<void>> parent;
  static Async<void> await(std::optional<Async<void>>& other) { co_await *other; }

  Pair() {
    parent = await(child);
    Context cx(Waker::noop());
    EXPECT_TRUE(parent->poll(cx).is_pending());
  }
  Pair(const Pair&) = delete;
  ~Pair() { parent.reset(); }  // first, as it awaits the child
};

TEST(AsyncMisuseDeathTest, MovingACoroutineThatAnotherAwaitsSaysSo) {
  Pair pair;
  EXPECT_DEATH(
      { Async<void> moved = std::move(*pair.child); }, "while another coroutine awaits it");
}

TEST(AsyncMisuseDeathTest, DestroyingACoroutineThatAnotherAwaitsSaysSo) {
  Pair pair;
  EXPECT_DEATH(pair.child.reset(), "while another coroutine awaits it.*\n.*waits");
}

TEST(AsyncMisuseDeathTest, ACoroutineThatDestroysItselfSaysSo) {
  std::optional<Async<void>> self;
  auto suicide = [&]() -> Async<void> {
    self.reset();
    co_return;
  };
  self = suicide();
  Context cx(Waker::noop());
  EXPECT_DEATH((void)self->poll(cx), "destroyed while it runs");
}

TEST(AsyncMisuseDeathTest, ACoroutineThatPollsItselfSaysSo) {
  std::optional<Async<void>> self;
  auto polls_itself = [&]() -> Async<void> {
    Context cx(Waker::noop());
    (void)self->poll(cx);
    co_return;
  };
  self = polls_itself();
  Context cx(Waker::noop());
  EXPECT_DEATH((void)self->poll(cx), "or runs it: poll a future from one place");
}

TEST(AsyncMisuse, VisitingACoroutineWhileItRunsShowsItselfAlone) {
  std::optional<Async<void>> self;
  int visited = 0;
  auto child = []() -> Async<void> { co_return; };
  auto looks_at_itself = [&]() -> Async<void> {
    co_await child();
    self->visit_awaits([&](const std::source_location&) { ++visited; });
  };
  self = looks_at_itself();
  Context cx(Waker::noop());
  EXPECT_TRUE(self->poll(cx).is_ready());
  EXPECT_EQ(visited, 1);
}

}  // namespace
}  // namespace rouse
