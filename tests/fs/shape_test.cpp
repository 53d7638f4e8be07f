// What operations on files wait for, as a dump sees it.
#include <array>

#include <gtest/gtest.h>

#include "rouse/fs/file.hpp"
#include "rouse/fs/read_dir.hpp"
#include "rouse/fs/watch.hpp"

#include "fs/fs_support.hpp"
#include "support/shape_text.hpp"

namespace rouse::fs {
namespace {

using test::ShapeText;

class FsShape : public FsTest {
 protected:
  /// Polls once, while no blocking thread is free.
  template <class F>
  ShapeText shape(F& future) {
    hold();
    Context cx(Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    release();
    return ShapeText(future);
  }
};

TEST_F(FsShape, AFileWaitsForABlockingCall) {
  put(dir / "file", "text");
  File file = runtime.block_on(File::open(dir / "file"));
  std::array<char, 4> buf{};
  auto reading = file.read(buf);
  const ShapeText read = shape(reading);
  EXPECT_EQ(read.text(), "read(file)");
  EXPECT_EQ(read.kind(0), sight::Wait::blocking);
  EXPECT_EQ(runtime.block_on(reading), 4U);
}

TEST_F(FsShape, AFlushWaitsForTheWriteBeforeIt) {
  File file = runtime.block_on(File::create(dir / "file"));
  hold();
  EXPECT_EQ(runtime.block_on(file.write("text")), 4U);
  auto flushing = file.flush();
  Context cx(Waker::noop());
  EXPECT_TRUE(flushing.poll(cx).is_pending());
  const ShapeText flush(flushing);
  EXPECT_EQ(flush.text(), "file @1");
  EXPECT_EQ(flush.kind(0), sight::Wait::blocking);
  release();
  runtime.block_on(flushing);
}

TEST_F(FsShape, ADirectoryWaitsForABlockingCall) {
  ReadDir entries = runtime.block_on(read_dir(dir.path()));
  auto next = entries.next_entry();
  const ShapeText found = shape(next);
  EXPECT_EQ(found.text(), "next_entry(directory)");
  EXPECT_EQ(found.kind(0), sight::Wait::blocking);
  EXPECT_FALSE(runtime.block_on(next));
}

TEST_F(FsShape, AWatchWaitsForItsDescriptor) {
  Watch changes = runtime.block_on(watch(dir.path()));
  auto next = changes.next();
  const ShapeText found = shape(next);
  EXPECT_EQ(found.text(), "descriptor");
  EXPECT_EQ(found.kind(0), sight::Wait::descriptor);
  EXPECT_GE(found.field<int>(0), 0);
}

}  // namespace
}  // namespace rouse::fs
