// What src/sight/debug_layout.cpp says of members that have no name, or that no pointer to member
// can tell: of the standard library, and of coroutine frames. What it says of all else the compiler
// computes, and tests/outside reads whole programs by it.
#include "exec/task/debug_layout.hpp"

#include <bit>
#include <coroutine>
#include <cstdint>
#include <cstring>
#include <map>
#include <source_location>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/core/internal/frame.hpp"

namespace {

using namespace rouse;

const char* table() { return reinterpret_cast<const char*>(&rouse::internal::rouse_debug_layout); }

template <class T>
T at(const void* place, std::int64_t offset = 0) {
  T value;
  std::memcpy(&value, static_cast<const char*>(place) + offset, sizeof value);
  return value;
}

/// As the tools read it.
std::map<std::string, std::int64_t> values() {
  const auto count = at<std::uint32_t>(table(), 20);
  std::map<std::string, std::int64_t> found;
  std::istringstream names(table() + 40 + std::size_t{8} * count);
  std::int64_t offset = 40;
  for (std::string name; names >> name; offset += 8) {
    EXPECT_TRUE(found.emplace(name, at<std::int64_t>(table(), offset)).second) << name;
  }
  EXPECT_EQ(found.size(), count);
  return found;
}

TEST(DebugLayout, BeginsWithWhatIsFoundInMemory) {
  using namespace std::literals;
  EXPECT_EQ(std::string_view(table(), 16), "rouse layout\xff\0\r\n"sv);
  EXPECT_EQ(at<std::uint32_t>(table(), 16), 1U);
  EXPECT_EQ(values().at("self"), std::bit_cast<std::int64_t>(table()));
}

TEST(DebugLayout, KnowsStrings) {
  for (const std::string& text : {std::string("short"), std::string(100, 'x')}) {
    EXPECT_EQ(at<const char*>(&text, values().at("string_data")), text.data());
  }
}

TEST(DebugLayout, KnowsVectors) {
  std::vector<int> some{1, 2, 3};
  some.reserve(10);
  EXPECT_EQ(at<const int*>(&some, values().at("vector_begin")), some.data());
  EXPECT_EQ(at<const int*>(&some, values().at("vector_end")), some.data() + some.size());
}

TEST(DebugLayout, KnowsSourceLocations) {
  const std::source_location here = std::source_location::current();
  const auto* const place = std::bit_cast<const void*>(here);
  const auto known = values();
  EXPECT_EQ(at<const char*>(place, known.at("source_location_file")), here.file_name());
  EXPECT_EQ(at<const char*>(place, known.at("source_location_function")), here.function_name());
  EXPECT_EQ(at<std::uint32_t>(place, known.at("source_location_line")), here.line());
  EXPECT_EQ(at<std::uint32_t>(place, known.at("source_location_column")), here.column());
}

TEST(DebugLayout, KnowsWhereTheCompilersFrameBegins) {
  auto coroutine = []() -> Async<void> { co_return; }();
  auto* const promise = const_cast<rouse::internal::Frame*>(coroutine.frame());
  const auto handle = std::coroutine_handle<rouse::internal::Frame>::from_promise(*promise);
  EXPECT_EQ(static_cast<char*>(handle.address()) + values().at("Frame_behind_functions"),
            reinterpret_cast<char*>(promise));
}

}  // namespace
