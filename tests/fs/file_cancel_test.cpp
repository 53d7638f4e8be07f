// What is left of operations on a File whose futures are dropped.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "rouse/fs/file.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

class FileCancelTest : public FsTest {
 protected:
  File open_with(std::string_view contents) {
    put(dir / "f", contents);
    return runtime.block_on(OpenOptions().read().write().open(dir / "f"));
  }
  /// Starts to read `size` bytes, and drops that while the system has not even begun.
  void drop_a_read(File& file, std::size_t size) {
    hold();
    {
      const auto buf = std::make_unique<char[]>(size);
      testing::PollHarness read(file.read({buf.get(), size}));
      ASSERT_TRUE(read.poll().is_pending());
      ASSERT_TRUE(read.kept_waker());
    }
    release();
  }
  std::string read_some(File& file, std::size_t size) {
    std::string text(size, '\0');
    text.resize(runtime.block_on(file.read(text)));
    return text;
  }
};

TEST_F(FileCancelTest, WhatADroppedReadHasReadTheNextOneGives) {
  File file = open_with("0123456789");
  drop_a_read(file, 4);
  EXPECT_EQ(read_some(file, 3), "012");
  EXPECT_EQ(read_some(file, 3), "3");
  EXPECT_EQ(read_some(file, 3), "456");
}

TEST_F(FileCancelTest, AWriteAfterADroppedReadGoesWhereTheReaderIs) {
  File file = open_with("0123456789");
  drop_a_read(file, 8);
  EXPECT_EQ(read_some(file, 2), "01");
  EXPECT_EQ(runtime.block_on(file.write("XY")), 2U);
  runtime.block_on(file.flush());
  EXPECT_EQ(contents_of(dir / "f"), "01XY456789");
  EXPECT_EQ(read_some(file, 3), "456");
}

TEST_F(FileCancelTest, ASeekAfterADroppedReadCountsFromWhereTheReaderIs) {
  File file = open_with("0123456789");
  drop_a_read(file, 8);
  EXPECT_EQ(read_some(file, 2), "01");
  EXPECT_EQ(runtime.block_on(file.seek(SeekFrom::current(1))), 3U);
  EXPECT_EQ(read_some(file, 2), "34");
}

TEST_F(FileCancelTest, ACloneAfterADroppedReadIsWhereTheReaderIs) {
  File file = open_with("0123456789");
  drop_a_read(file, 8);
  File clone = runtime.block_on(file.try_clone());
  EXPECT_EQ(read_some(clone, 2), "01");
  EXPECT_EQ(read_some(file, 2), "23");
}

TEST_F(FileCancelTest, ASeekThatFailsLosesNothingThatADroppedReadHasRead) {
  File file = open_with("0123456789");
  drop_a_read(file, 8);
  EXPECT_EQ(read_some(file, 2), "01");
  const auto before_the_start = runtime.block_on(file.seek(SeekFrom::current(-100)).result());
  EXPECT_EQ(before_the_start.error(), std::errc::invalid_argument);
  const auto too_far = runtime.block_on(
      file.seek(SeekFrom::current(std::numeric_limits<std::int64_t>::min())).result());
  EXPECT_EQ(too_far.error(), std::errc::invalid_argument);
  EXPECT_EQ(read_some(file, 6), "234567");
  EXPECT_EQ(read_some(file, 6), "89");
}

TEST_F(FileCancelTest, ADroppedSeekThatEndsIsOverBeforeTheNextRead) {
  File file = open_with("0123456789");
  drop_a_read(file, 4);
  hold();
  {
    testing::PollHarness seek(file.seek(SeekFrom::start(8)));
    ASSERT_TRUE(seek.poll().is_pending());
  }
  release();
  EXPECT_EQ(read_some(file, 4), "89");
}

TEST_F(FileCancelTest, WhatADroppedReadHasReadOfAFifoIsNotLost) {
  const std::string path = dir / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  File fifo = runtime.block_on(OpenOptions().read().write().open(path));
  runtime.block_on(fifo.write_all("012345"));
  runtime.block_on(fifo.flush());
  drop_a_read(fifo, 6);

  const auto sought = runtime.block_on(fifo.seek(SeekFrom::start(0)).result());
  EXPECT_EQ(sought.error(), std::errc::invalid_seek);
  EXPECT_EQ(read_some(fifo, 2), "01");

  File clone = runtime.block_on(fifo.try_clone());
  EXPECT_EQ(read_some(fifo, 2), "23");

  runtime.block_on(fifo.write_all("more"));
  runtime.block_on(fifo.flush());
  EXPECT_EQ(read_some(fifo, 6), "45");
  EXPECT_EQ(read_some(clone, 6), "more");
}

TEST_F(FileCancelTest, AWriteThatWasTakenIsDoneThoughTheFileIsGone) {
  {
    File file = open_with("");
    hold();
    testing::PollHarness write(file.write("taken"));
    auto polled = write.poll();
    ASSERT_TRUE(polled.is_ready());
    EXPECT_EQ(polled.value(), 5U);
    testing::PollHarness second(file.write("dropped before it was taken"));
    EXPECT_TRUE(second.poll().is_pending());
  }
  EXPECT_EQ(contents_of(dir / "f"), "");
  release();
  EXPECT_EQ(contents_of(dir / "f"), "taken");
}

TEST_F(FileCancelTest, ADroppedFlushLosesNoError) {
  File full = runtime.block_on(OpenOptions().write().open("/dev/full"));
  EXPECT_EQ(runtime.block_on(full.write("x")), 1U);
  const auto report =
      testing::drop_at_each_poll([&] { return full.flush(); }, [&](std::size_t) { settle(); });
  EXPECT_TRUE(report.threw);
  EXPECT_LE(report.wakers_left, 1U);  // the write under way has it until it ends
}

TEST_F(FileCancelTest, ADroppedReadLeavesNobodyWhoWritesIntoItsBuffer) {
  File file = open_with(std::string(100'000, 'x'));
  drop_a_read(file, 100'000);  // the buffer is gone before the system reads
  EXPECT_EQ(read_some(file, 100'000).size(), 100'000U);
}

TEST_F(FileCancelTest, EachOperationMayBeDroppedAtEachPoll) {
  File file = open_with("0123456789");
  const auto still_works = [&](std::size_t) {
    EXPECT_EQ(runtime.block_on(file.seek(SeekFrom::start(5))), 5U);
    EXPECT_EQ(read_some(file, 2), "56");
    EXPECT_EQ(runtime.block_on(file.seek(SeekFrom::start(2))), 2U);
    EXPECT_EQ(contents_of(dir / "f"), "0123456789");
  };
  std::array<char, 4> buf{};
  std::vector<testing::DropReport> reports;
  reports.push_back(drop_at_each_poll([&] { return file.read(buf); }, still_works));
  reports.push_back(
      drop_at_each_poll([&] { return file.seek(SeekFrom::current(1)); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.write("2"); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.flush(); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.sync_all(); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.set_len(10); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.metadata(); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.try_clone(); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.read_at(buf, 1); }, still_works));
  reports.push_back(drop_at_each_poll([&] { return file.write_at("1", 1); }, still_works));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    EXPECT_FALSE(reports[i].threw) << i;
    EXPECT_LE(reports[i].wakers_left, 1U) << i;  // what is under way has it until it ends
    EXPECT_LE(reports[i].polls, 4U) << i;
  }
}

TEST_F(FileCancelTest, AnOperationThatTheRuntimeCancelledIsAnError) {
  File file = open_with("0123456789");
  hold();
  std::array<char, 4> buf{};
  testing::PollHarness read(file.read(buf).result());
  ASSERT_TRUE(read.poll().is_pending());
  runtime.shutdown_background();
  EXPECT_TRUE(read.is_woken());
  auto polled = read.poll();
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), std::errc::operation_canceled);
  let_go();
}

}  // namespace
}  // namespace rouse::fs
