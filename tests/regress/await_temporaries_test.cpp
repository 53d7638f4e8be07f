// Pitfalls 1, GCC 12.2: temporaries in a full expression with co_await. An aggregate-initialised
// one is copied bit by bit and destroyed twice; so every future, awaiter and options type has a
// user-declared constructor, and a capturing lambda is hoisted into a local before the await.
// Written that way, each object is destroyed exactly once, where it was made: run to the end, and
// destroyed at each await point, on both compilers.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "core/support.hpp"

namespace rouse {
namespace {

using test::Life;
using test::Lives;
using test::PendingOnce;

/// A future with things of its own, pending once.
class Operation {
 public:
  using Output = std::string;
  Operation(Life life, std::string text) : life_(std::move(life)), text_(std::move(text)) {}

  Poll<std::string> poll(Context& cx) {
    if (point_.poll(cx).is_pending()) return pending;
    return Poll<std::string>::ready(text_);
  }

 private:
  Life life_;
  std::string text_;
  PendingOnce point_;
};

/// An options type as this library writes them: with a constructor.
class Options {
 public:
  explicit Options(Lives& lives) : life_(lives), name_("a name too long for the small buffer") {}
  Options&& repeat(int count) && {
    repeat_ = count;
    return std::move(*this);
  }
  [[nodiscard]] int count() const { return repeat_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Life life_;
  std::string name_;
  int repeat_ = 1;
};

/// The defaulted argument needs something to count with.
Lives default_lives;

Async<std::string> by_value(Options options) {
  co_await PendingOnce();
  std::string text;
  for (int i = 0; i < options.count(); ++i) text += options.name();
  co_return text;
}
Async<std::size_t> by_reference(const Options& options, const std::string& text) {
  co_await PendingOnce();
  co_return options.name().size() + text.size();
}
Async<std::size_t> with_default(int x, Options options = Options(default_lives)) {
  co_await PendingOnce();
  co_return options.name().size() + static_cast<std::size_t>(x);
}
template <class Fn>
Async<std::string> call(Fn fn) {
  co_await PendingOnce();
  co_return fn();
}
Async<Life> give(Life life) {
  co_await PendingOnce();
  co_return life;
}
Async<std::size_t> count_all(std::vector<Life> lives, std::array<std::string, 2> texts) {
  co_await PendingOnce();
  co_return lives.size() + texts.size();
}

/// Runs `make()` to its end, and destroys it after each number of polls before: nothing may be
/// left, and nothing may end twice.
template <class Make>
void expect_each_destroyed_once(Lives& lives, Make make) {
  const auto report = testing::drop_at_each_poll(
      make, [](std::size_t) {},
      [&](std::size_t k) { EXPECT_EQ(lives.made, lives.ended) << "after " << k << " polls"; });
  EXPECT_GE(report.polls, 2u);
  EXPECT_GT(lives.made, 0);
}

Async<std::size_t> await_operation(Lives& lives) {
  const std::string text = co_await Operation(Life(lives), std::string(50, 'a'));
  co_return text.size();
}

TEST(AwaitTemporaries, AFutureWithAConstructor) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return await_operation(lives); });
}

Async<std::size_t> await_in_expressions(Lives& lives) {
  std::size_t sum = (co_await Operation(Life(lives), std::string(50, 'a'))).size() +
                    (co_await Operation(Life(lives), std::string(60, 'b'))).size();
  if ((co_await Operation(Life(lives), std::string(70, 'c'))).size() == 70) ++sum;
  co_return sum;
}

TEST(AwaitTemporaries, SeveralFuturesInOneExpression) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return await_in_expressions(lives); });
}

Async<std::size_t> pass_options(Lives& lives) {
  const std::string text = co_await by_value(Options(lives).repeat(3));
  const std::size_t size = co_await by_reference(Options(lives), std::string(50, 'x'));
  co_return text.size() + size;
}

TEST(AwaitTemporaries, OptionsPassedToAnAsyncFunction) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return pass_options(lives); });
}

Async<std::size_t> use_default() { co_return co_await with_default(1); }

TEST(AwaitTemporaries, ADefaultedArgument) {
  default_lives = Lives();
  expect_each_destroyed_once(default_lives, [] { return use_default(); });
}

Async<std::size_t> pass_hoisted_lambda(Lives& lives) {
  const auto lambda = [life = Life(lives), text = std::string(50, 'l')] { return text; };
  const std::string copied = co_await call(lambda);
  co_return copied.size();
}

TEST(AwaitTemporaries, AHoistedCapturingLambda) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return pass_hoisted_lambda(lives); });
}

Async<std::size_t> pass_children(Lives& lives) {
  const Life a = co_await give(Life(lives));
  const Life b = co_await give(co_await give(Life(lives)));
  [[maybe_unused]] const AnyFuture<Life> unused = give(Life(lives));
  const Life c = co_await AnyFuture<Life>(give(Life(lives)));
  co_return 1;
}

TEST(AwaitTemporaries, ChildrenOfChildrenAndErasedOnes) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return pass_children(lives); });
}

Async<std::size_t> pass_containers(Lives& lives) {
  std::array<std::string, 2> texts{std::string(50, 'a'), std::string(50, 'b')};  // hoisted
  co_return co_await count_all(std::vector<Life>(3, Life(lives)), texts);
}

TEST(AwaitTemporaries, ContainersAsArguments) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return pass_containers(lives); });
}

Async<std::size_t> choose(Lives& lives, bool first) {
  // Not `first ? co_await a : b`: GCC 12 destroys the result twice.
  std::string text;
  if (first) {
    text = co_await Operation(Life(lives), std::string(50, 'a'));
  } else {
    text = co_await by_value(Options(lives));
  }
  co_return text.size();
}

TEST(AwaitTemporaries, AChoiceWrittenAsAnIf) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return choose(lives, true); });
  expect_each_destroyed_once(lives, [&] { return choose(lives, false); });
}

Async<std::size_t> throw_past_temporaries(Lives& lives) {
  std::size_t caught = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      const std::string text = co_await Operation(Life(lives), std::string(50, 'a'));
      (void)co_await test::ThrowsAt(i + 1, text + std::string(50, 'b'));
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  co_return caught;
}

TEST(AwaitTemporaries, AnExceptionPastThem) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return throw_past_temporaries(lives); });
}

/// Neither copied nor moved: awaiting a variable must not touch it.
class Pinned {
 public:
  using Output = const Pinned*;
  Pinned() noexcept = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  Poll<const Pinned*> poll(Context& cx) {
    if (point_.poll(cx).is_pending()) return pending;
    return Poll<const Pinned*>::ready(this);
  }

 private:
  PendingOnce point_;
};

Async<bool> await_pinned() {
  Pinned named;
  const Pinned* seen = co_await named;
  co_return seen == &named&& co_await Pinned() != &named;
}

TEST(AwaitTemporaries, AnAwaitedVariableIsNeitherCopiedNorMoved) {
  auto future = await_pinned();
  EXPECT_TRUE(test::poll_once(future).is_pending());
  EXPECT_TRUE(test::poll_once(future).is_pending());
  EXPECT_TRUE(test::poll_once(future).value());
}

/// Pitfalls 1, clang 14 and 16: a frame suspended inside a braced initialisation leaks the members
/// that were built before when it is destroyed. (GCC 12 destroys them twice: not written here.)
class Holder {
 public:
  Holder(Life a, Life b) : a_(std::move(a)), b_(std::move(b)) {}

 private:
  Life a_;
  Life b_;
};
Async<std::size_t> await_inside_braces(Lives& lives) {
  const Holder holder{Life(lives), co_await give(Life(lives))};
  co_await PendingOnce();
  co_return 1;
}

TEST(AwaitTemporaries, AnAwaitInsideTheBracesOfAConstructorCall) {
  Lives lives;
  expect_each_destroyed_once(lives, [&] { return await_inside_braces(lives); });
}

}  // namespace
}  // namespace rouse
