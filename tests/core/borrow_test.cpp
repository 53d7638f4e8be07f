// Which coroutines borrow: a table of parameter types. Spawn refuses those that do.
#include "rouse/core/internal/borrow.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/borrowed.hpp"

#include "core/support.hpp"

namespace rouse {

using namespace internal;
namespace {

template <class... Parameters>
Async<> take(Parameters...) {
  co_return;
}

/// Whether a coroutine with exactly these parameters borrows.
template <class... Parameters>
bool borrows(Parameters... arguments) {
  return take<Parameters...>(static_cast<Parameters>(arguments)...).borrows();
}

TEST(Borrow, ValuesDoNot) {
  EXPECT_FALSE(take<>().borrows());
  EXPECT_FALSE(borrows<int>(1));
  EXPECT_FALSE(borrows<std::string>("text"));
  EXPECT_FALSE((borrows<const std::string>("text")));
  EXPECT_FALSE((take<std::unique_ptr<int>>(nullptr).borrows()));
  EXPECT_FALSE((take<std::shared_ptr<int>>(nullptr).borrows()));
  EXPECT_FALSE((take<std::vector<int>, std::optional<int>>({}, {}).borrows()));
  EXPECT_FALSE((take<std::function<void()>>({}).borrows()));
  EXPECT_FALSE((take<std::nullptr_t>(nullptr).borrows()));
}

TEST(Borrow, ReferencesDo) {
  std::string text;
  EXPECT_TRUE(take<std::string&>(text).borrows());
  EXPECT_TRUE(take<const std::string&>(text).borrows());
  EXPECT_TRUE(take<std::string&&>(std::move(text)).borrows());
  int number = 0;
  EXPECT_TRUE(take<int&>(number).borrows());
}

TEST(Borrow, PointersDo) {
  int number = 0;
  EXPECT_TRUE(take<int*>(&number).borrows());
  EXPECT_TRUE((take<int* const>(&number).borrows()));
  EXPECT_TRUE(take<const char*>("text").borrows());
  EXPECT_TRUE(take<void*>(&number).borrows());
}

TEST(Borrow, ViewsDo) {
  EXPECT_TRUE(take<std::string_view>("text").borrows());
  EXPECT_TRUE(take<std::span<int>>({}).borrows());
  EXPECT_TRUE((take<std::span<const std::byte, 0>>({}).borrows()));
  int number = 0;
  EXPECT_TRUE(take<std::reference_wrapper<int>>(number).borrows());
  EXPECT_TRUE(take<std::reference_wrapper<const int>>(number).borrows());
}

int function(int x) { return x; }

TEST(Borrow, FunctionsLiveForEver) {
  EXPECT_FALSE(take<int (*)(int)>(&function).borrows());
  EXPECT_FALSE(take<int (&)(int)>(function).borrows());
}

TEST(Borrow, OneOfManyIsEnough) {
  int number = 0;
  EXPECT_TRUE((take<int, std::string, int*>(1, "text", &number).borrows()));
  EXPECT_TRUE((take<int&, std::string, int>(number, "text", 1).borrows()));
}

class Member {
 public:
  Async<int> get() { co_return value_; }
  Async<int> get_const() const { co_return value_; }
  static Async<int> get_static(int x) { co_return x; }

 private:
  int value_ = 5;
};
class Memberless {
 public:
  Async<int> get() { co_return 1; }
};

TEST(Borrow, MemberFunctionsBorrowThis) {
  Member member;
  EXPECT_TRUE(member.get().borrows());
  EXPECT_TRUE(member.get_const().borrows());
}

TEST(Borrow, MemberFunctionsOfAClassWithoutMembersDoNot) {
  Memberless memberless;
  EXPECT_FALSE(memberless.get().borrows());
}

TEST(Borrow, StaticMemberFunctionsDoNot) { EXPECT_FALSE(Member::get_static(1).borrows()); }

TEST(Borrow, LambdasWithCapturesBorrowTheirClosure) {
  int x = 1;
  // NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): that is what is asked
  const auto by_value = [x]() -> Async<int> { co_return x; };
  EXPECT_TRUE(by_value().borrows());
  const auto by_reference = [&x]() -> Async<int> { co_return x; };
  EXPECT_TRUE(by_reference().borrows());
  const auto by_default = [=]() -> Async<int> { co_return x; };
  EXPECT_TRUE(by_default().borrows());
  const auto by_default_reference = [&]() -> Async<int> { co_return x; };
  EXPECT_TRUE(by_default_reference().borrows());
  const auto generic = [x](auto y) -> Async<int> { co_return x + y; };
  EXPECT_TRUE(generic(1).borrows());
  // NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)
}

TEST(Borrow, LambdasWithoutCapturesDoNot) {
  const auto plain = []() -> Async<int> { co_return 1; };
  EXPECT_FALSE(plain().borrows());
  const auto with_value = [](std::string text) -> Async<std::string> { co_return text; };
  EXPECT_FALSE(with_value("text").borrows());
  const auto generic = [](auto x) -> Async<int> { co_return x; };
  EXPECT_FALSE(generic(1).borrows());
  const auto capture_default_unused = [=]() -> Async<int> { co_return 1; };
  EXPECT_FALSE(capture_default_unused().borrows());
}

TEST(Borrow, LambdasWithoutCapturesBorrowWhatTheyAreGiven) {
  int x = 1;
  const auto by_reference = [](int& y) -> Async<int> { co_return y; };
  EXPECT_TRUE(by_reference(x).borrows());
  const auto generic = [](auto&& y) -> Async<int> { co_return y; };
  EXPECT_TRUE(generic(x).borrows());
  EXPECT_TRUE(generic(1).borrows());
}

class Opaque;
Async<> pass_on(Opaque&) { co_return; }

class Opaque {
 public:
  int value = 1;
};

TEST(Borrow, AReferenceToAClassThatIsDefinedLaterIsSeen) {
  Opaque opaque;
  EXPECT_TRUE(pass_on(opaque).borrows());
}

class NeverDefined;
Async<> hand_on(NeverDefined&) { co_return; }

TEST(Borrow, AReferenceToAClassThatIsNeverDefinedIsSeen) {
  alignas(8) char somewhere[8] = {};
  EXPECT_TRUE(hand_on(reinterpret_cast<NeverDefined&>(somewhere)).borrows());
}

TEST(Borrow, AMovedFromAsyncBorrowsNothing) {
  int x = 0;
  auto future = take<int&>(x);
  const auto moved = std::move(future);
  EXPECT_FALSE(future.borrows());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(moved.borrows());
}

TEST(Borrowed, IsTheFutureItself) {
  int x = 3;
  const auto refer = [](int& y) -> Async<int> { co_return y; };
  auto future = borrowed(refer(x));
  static_assert(Future<decltype(future)>);
  EXPECT_EQ(test::poll_once(future).value(), 3);
}

}  // namespace
}  // namespace rouse
