// fs::File as an AsyncSeek: io::seek and its like, also through buffers.
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "rouse/fs/file.hpp"
#include "rouse/io/buf_stream.hpp"
#include "rouse/io/seek.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

static_assert(AsyncSeek<File>);

class FileSeekTest : public FsTest {
 protected:
  File open_with(std::string_view contents) {
    put(dir / "f", contents);
    return runtime.block_on(OpenOptions().read().write().open(dir / "f"));
  }
  template <class R>
  std::string read_exact(R& reader, std::size_t size) {
    std::string text(size, '\0');
    runtime.block_on(reader.read_exact(text));
    return text;
  }
};

TEST_F(FileSeekTest, TheFunctionsOfIoMoveAFile) {
  File file = open_with("0123456789");
  EXPECT_EQ(runtime.block_on(io::seek(file, io::SeekFrom::end(-2))), 8U);
  EXPECT_EQ(read_exact(file, 1), "8");
  EXPECT_EQ(runtime.block_on(io::stream_position(file)), 9U);
  EXPECT_EQ(runtime.block_on(io::rewind(file)), 0U);
  EXPECT_EQ(read_exact(file, 2), "01");
  EXPECT_EQ(runtime.block_on(io::seek(file, SeekFrom::current(-3)).result()).error(),
            std::errc::invalid_argument);
  EXPECT_EQ(read_exact(file, 2), "23");
}

TEST_F(FileSeekTest, AWriteInProgressIsOverBeforeTheSeek) {
  File file = open_with("0123456789");
  hold();
  runtime.block_on(file.write_all("ab"));
  testing::PollHarness seek(io::seek(file, SeekFrom::current(1)));
  EXPECT_TRUE(seek.poll().is_pending());
  release();
  hold();
  EXPECT_TRUE(seek.poll().is_pending()) << "now it seeks";
  release();
  const auto moved = seek.poll();
  ASSERT_TRUE(moved.is_ready());
  EXPECT_EQ(moved.value(), 3U);
}

TEST_F(FileSeekTest, ADroppedSeekIsOverBeforeTheNext) {
  File file = open_with("0123456789");
  hold();
  {
    testing::PollHarness seek(io::seek(file, SeekFrom::start(4)));
    ASSERT_TRUE(seek.poll().is_pending());
  }
  let_go();
  EXPECT_EQ(runtime.block_on(io::seek(file, SeekFrom::current(1))), 5U);
}

TEST_F(FileSeekTest, AnEditThroughABufStream) {
  io::BufStream file(open_with("one\ntwo\nthree\n"));
  std::string line;
  runtime.block_on(file.read_line(line));
  EXPECT_EQ(runtime.block_on(io::seek(file, SeekFrom::current(0))), 4U);
  runtime.block_on(file.write_all("TWO"));
  EXPECT_EQ(runtime.block_on(io::rewind(file)), 0U);
  EXPECT_EQ(runtime.block_on(file.read_to_string()), "one\nTWO\nthree\n");
}

TEST_F(FileSeekTest, WhenTheRuntimeEndsASeekFails) {
  File file = open_with("0123456789");
  hold();
  testing::PollHarness seek(io::seek(file, SeekFrom::start(1)).result());
  ASSERT_TRUE(seek.poll().is_pending());
  runtime.shutdown_background();
  EXPECT_TRUE(seek.is_woken());
  const auto moved = seek.poll();
  ASSERT_TRUE(moved.is_ready());
  EXPECT_EQ(moved.value().error(), std::errc::operation_canceled);
  let_go();
}

}  // namespace
}  // namespace rouse::fs
