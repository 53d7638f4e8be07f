// The traceparent header: https://www.w3.org/TR/trace-context/
#include "rouse/sight/trace_context.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rouse::sight {
namespace {

constexpr std::string_view valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, ReadsAndWritesATraceparent) {
  const std::optional<TraceContext> context = TraceContext::parse(valid);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->trace_id_high(), 0x4bf92f3577b34da6U);
  EXPECT_EQ(context->trace_id_low(), 0xa3ce929d0e0e4736U);
  EXPECT_EQ(context->span_id(), 0x00f067aa0ba902b7U);
  EXPECT_TRUE(context->is_sampled());
  EXPECT_EQ(context->to_string(), valid);
}

TEST(TraceContext, OfTheFlagsOnlySampledIsPassedOn) {
  std::string text(valid);
  text.replace(53, 2, "fe");
  const std::optional<TraceContext> context = TraceContext::parse(text);
  ASSERT_TRUE(context);
  EXPECT_FALSE(context->is_sampled());
  EXPECT_EQ(context->to_string().substr(53), "00");
}

TEST(TraceContext, RefusesWhatIsNoTraceparent) {
  const auto changed = [](std::size_t at, std::string_view with) {
    return std::string(valid).replace(at, with.size(), with);
  };
  for (const std::string& text : {
           std::string(),
           std::string(valid.substr(0, 54)),
           std::string(valid) + "0",
           std::string(valid) + "-",  // version 00 has no more
           " " + std::string(valid),
           changed(0, "ff"),
           changed(0, "0g"),
           changed(0, "-1"),
           changed(2, "_"),
           changed(35, "0"),
           changed(52, " "),
           changed(3, "4BF9"),  // upper case
           changed(3, "00000000000000000000000000000000"),
           changed(36, "0000000000000000"),
           changed(40, "x"),
           changed(53,
                   "1"
                   "G"),
           changed(20, std::string_view("\0", 1)),
       }) {
    EXPECT_FALSE(TraceContext::parse(text)) << text;
  }
}

TEST(TraceContext, ReadsWhatItKnowsOfAVersionToCome) {
  const std::string next = std::string(valid).replace(0, 2, "cc");
  EXPECT_TRUE(TraceContext::parse(next));
  EXPECT_TRUE(TraceContext::parse(next + "-what-the-future-will-be-like"));
  EXPECT_FALSE(TraceContext::parse(next + ".what"));
  ASSERT_TRUE(TraceContext::parse(next + "-"));
  EXPECT_EQ(TraceContext::parse(next + "-")->to_string(), valid);
}

TEST(TraceContext, MadeOnesAreAllDifferent) {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    const TraceContext root = TraceContext::generate();
    const TraceContext child = root.child();
    EXPECT_EQ(TraceContext::parse(root.to_string()), root);
    EXPECT_EQ(child.trace_id_high(), root.trace_id_high());
    EXPECT_EQ(child.trace_id_low(), root.trace_id_low());
    EXPECT_TRUE(numbers.insert(root.trace_id_high()).second);
    EXPECT_TRUE(numbers.insert(root.trace_id_low()).second);
    EXPECT_TRUE(numbers.insert(root.span_id()).second);
    EXPECT_TRUE(numbers.insert(child.span_id()).second);
  }
  EXPECT_FALSE(TraceContext::generate(false).is_sampled());
  EXPECT_FALSE(TraceContext::generate(false).child().is_sampled());
}

TEST(TraceContext, ThereIsNoneOutsideOfSpans) { EXPECT_FALSE(current_trace()); }

}  // namespace
}  // namespace rouse::sight
