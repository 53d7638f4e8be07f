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
      { [[maybe_unused]] Async<void> moved = std::move(*pair.child); },
      "while another coroutine awaits it");
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

TEST(AsyncMisuseDeathTest, ALeafThatDestroysWhoAwaitsItInALaterPollSaysSo) {
  std::optional<Async<void>> self;
  int polls = 0;
  auto awaits_a_leaf = [&]() -> Async<void> {
    auto leaf = poll_fn([&](Context&) {
      if (++polls == 2) self.reset();
      return Poll<void>(pending);
    });
    co_await leaf;
  };
  auto awaits_a_coroutine = [&]() -> Async<void> { co_await awaits_a_leaf(); };
  Context cx(Waker::noop());
  for (int depth = 0; depth < 2; ++depth) {
    polls = 0;
    self = depth == 0 ? awaits_a_leaf() : awaits_a_coroutine();
    ASSERT_TRUE(self->poll(cx).is_pending());
    EXPECT_DEATH((void)self->poll(cx), "destroyed while it runs, by itself or by a future");
  }
}

TEST(AsyncMisuseDeathTest, ALeafThatPollsWhoAwaitsItInALaterPollSaysSo) {
  std::optional<Async<void>> self;
  int polls = 0;
  auto awaits_a_leaf = [&]() -> Async<void> {
    auto leaf =
        poll_fn([&](Context& cx) { return ++polls == 2 ? self->poll(cx) : Poll<void>(pending); });
    co_await leaf;
  };
  self = awaits_a_leaf();
  Context cx(Waker::noop());
  ASSERT_TRUE(self->poll(cx).is_pending());
  EXPECT_DEATH((void)self->poll(cx), "or runs it: poll a future from one place");
}

TEST(AsyncMisuseDeathTest, AwaitingACoroutineThatRunsSaysSo) {
  std::optional<Async<void>> ancestor;
  auto awaits_ancestor = [&]() -> Async<void> { co_await *ancestor; };
  auto root = [&]() -> Async<void> { co_await awaits_ancestor(); };
  auto later = [&]() -> Async<void> {
    auto once = [first = true](Context&) mutable {
      return std::exchange(first, false) ? Poll<void>(pending) : Poll<void>::ready();
    };
    auto leaf = poll_fn(once);
    co_await leaf;
    co_await awaits_ancestor();
  };
  Context cx(Waker::noop());
  ancestor = awaits_ancestor();
  EXPECT_DEATH((void)ancestor->poll(cx), "awaited again, by two at once, by itself");
  ancestor = root();
  EXPECT_DEATH((void)ancestor->poll(cx), "awaited again, by two at once, by itself");
  ancestor = later();
  ASSERT_TRUE(ancestor->poll(cx).is_pending());
  EXPECT_DEATH((void)ancestor->poll(cx), "awaited again, by two at once, by itself");
  // And one in the middle of the chain.
  auto outermost = [&]() -> Async<void> { co_await *ancestor; };
  ancestor = root();
  auto polled = outermost();
  EXPECT_DEATH((void)polled.poll(cx), "awaited again, by two at once");
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
