// BufWriter.
#include "rouse/io/buf_writer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/exec/block_on.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

#include "io/support.hpp"

namespace {

using namespace rouse;
using rouse::test::SlowWriter;
using rouse::testing::drop_at_each_poll;

static_assert(AsyncWrite<io::BufWriter<SlowWriter>> && AsyncWrite<io::BufWriter<SlowWriter&>>);

TEST(BufWriter, HandsNothingOnBeforeItIsFullOrFlushed) {
  SlowWriter writer;
  io::BufWriter buffered(writer, 8);
  block_on(buffered.write_all("abc"));
  block_on(buffered.write_all("defgh"));
  EXPECT_EQ(writer.taken, "");
  block_on(buffered.write_all("i"));
  EXPECT_EQ(writer.taken, "abcdefgh");
  EXPECT_EQ(test::text(buffered.buffer()), "i");
  block_on(buffered.flush());
  EXPECT_EQ(writer.taken, "abcdefghi");
  EXPECT_EQ(writer.flushed, 9U);
}

TEST(BufWriter, PassesLargeWritesThroughInOrder) {
  io::BufWriter writer(SlowWriter(), 4);
  block_on(writer.write_all("ab"));
  block_on(writer.write_all("cdefghij"));
  EXPECT_EQ(writer.inner().taken + test::text(writer.buffer()), "abcdefghij");
  EXPECT_GE(writer.inner().taken.size(), 7U);
}

TEST(BufWriter, FlushesWhenItIsShutDown) {
  io::BufWriter writer{SlowWriter()};
  block_on(writer.write_all("abc"));
  block_on(writer.shutdown());
  EXPECT_EQ(writer.inner().taken, "abc");
  EXPECT_TRUE(writer.inner().is_shut_down);
}

TEST(BufWriter, LosesWhatIsInItsBufferWhenDropped) {
  SlowWriter writer;
  {
    io::BufWriter buffered(writer);
    block_on(buffered.write_all("abc"));
  }
  EXPECT_EQ(writer.taken, "");
  SlowWriter back = io::BufWriter(SlowWriter()).into_inner();
  EXPECT_EQ(back.taken, "");
}

TEST(BufWriter, KeepsWhatAWriterThatFailsDidNotTake) {
  io::BufWriter writer(SlowWriter(2, std::make_error_code(std::errc::no_space_on_device)));
  block_on(writer.write_all("abcd"));
  const Result<void> flushed = block_on(writer.flush().result());
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error(), std::errc::no_space_on_device);
  EXPECT_EQ(test::text(writer.buffer()), "cd");
  io::BufWriter full(SlowWriter(2), 4);
  block_on(full.write_all("abc"));
  EXPECT_EQ(block_on(full.write("de").result()).error(), io::Error::write_zero);
}

TEST(BufWriter, ADroppedFlushOrWriteLosesNothing) {
  std::optional<io::BufWriter<SlowWriter>> writer;
  const auto make = [&] {
    writer.emplace(SlowWriter(), 4);
    block_on(writer->write_all("abc"));
  };
  const auto flushed =
      drop_at_each_poll([&] { return make(), writer->flush(); }, [](std::size_t) {},
                        [&](std::size_t k) {
                          block_on(writer->flush());
                          EXPECT_EQ(writer->inner().taken, "abc") << k;
                        });
  EXPECT_EQ(flushed.polls, 5U);
  const auto wrote =
      drop_at_each_poll([&] { return make(), writer->write("de"); }, [](std::size_t) {},
                        [&](std::size_t k) {
                          block_on(writer->flush());
                          EXPECT_EQ(writer->inner().taken, k == 4 ? "abcde" : "abc");
                        });
  EXPECT_EQ(wrote.polls, 4U);
}

TEST(BufWriter, WithoutCapacityPassesEverythingThrough) {
  io::BufWriter writer(SlowWriter(), 0);
  block_on(writer.write_all("abc"));
  EXPECT_EQ(writer.inner().taken, "abc");
}

}  // namespace
