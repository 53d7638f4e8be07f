// Buffer: what it takes of what it is made from.
#include "rouse/io/buffer.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using rouse::io::Buffer;

std::string_view text_of(Buffer buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

TEST(Buffer, OfALiteralIsWhatIsBeforeItsEnd) {
  EXPECT_EQ(text_of("bye"), "bye");
  EXPECT_EQ(text_of(""), "");
}

TEST(Buffer, OfAnArrayWithoutANulIsTheArrayAndNotWhatLiesBehindIt) {
  struct {
    const char text[4] = {'o', 'p', 'e', 'n'};
    const char secret[8] = "secret!";
  } const both;
  EXPECT_EQ(text_of(both.text), "open");
}

TEST(Buffer, OfAPointerIsWhatIsBeforeTheNul) {
  std::string text = "text";
  const char* pointer = text.c_str();
  char* mutable_pointer = text.data();
  EXPECT_EQ(text_of(pointer), "text");
  EXPECT_EQ(text_of(mutable_pointer), "text");
  EXPECT_EQ(text_of({pointer, 2}), "te");
}

TEST(Buffer, OfAContainerIsAllOfIt) {
  char array[4] = {'a', 0, 'b', 0};
  EXPECT_EQ(Buffer(array).size(), 4U);
  EXPECT_EQ(Buffer(std::array<char, 3>{}).size(), 3U);
  EXPECT_EQ(Buffer(std::vector<unsigned char>(5)).size(), 5U);
  EXPECT_EQ(text_of(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

}  // namespace
