// What the fuzz targets of fuzz/ found.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/error.hpp"
#include "rouse/io/frame_buffer.hpp"
#include "rouse/io/lines_codec.hpp"

namespace rouse {
namespace {

/// Was sent as it is, and received without its last character.
TEST(FuzzFound, ALineThatEndsWithACarriageReturnIsRefusedInsteadOfChanged) {
  io::LinesCodec codec;
  std::vector<std::byte> output;
  EXPECT_EQ(codec.encode("abc\r", output).error(), io::Error::invalid_data);
  EXPECT_EQ(codec.encode("\r", output).error(), io::Error::invalid_data);
  EXPECT_TRUE(output.empty());
  EXPECT_TRUE(codec.encode("a\rb", output));
  EXPECT_TRUE(codec.encode("", output));
  EXPECT_EQ(output.size(), 5U);
}

}  // namespace
}  // namespace rouse
