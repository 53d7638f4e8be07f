#include "rouse/fs/read_dir.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "rouse/core/stream.hpp"
#include "rouse/testing/counting_waker.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

static_assert(Stream<ReadDir>);

using ReadDirTest = FsTest;

TEST_F(ReadDirTest, GivesEachEntryOnce) {
  std::set<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.insert("f" + std::to_string(i));
    put(dir / ("f" + std::to_string(i)), "");
  }
  run([&]() -> Async<> {
    std::multiset<std::string> found;
    ReadDir entries = co_await read_dir(dir.path());
    while (auto entry = co_await entries.next_entry()) {
      found.insert(entry->file_name());
      EXPECT_EQ(entry->path(), dir / entry->file_name());
    }
    EXPECT_TRUE(std::ranges::equal(found, expected));
    const auto after = co_await entries.next_entry();
    EXPECT_FALSE(after);
  });
}

TEST_F(ReadDirTest, IsAStream) {
  put(dir / "file", "");
  run([&]() -> Async<> {
    ReadDir entries = co_await read_dir(dir.path());
    const auto entry = co_await entries.next();
    EXPECT_TRUE(entry && entry->file_name() == "file");
    const auto after = co_await entries.next();
    EXPECT_FALSE(after);
  });
}

TEST_F(ReadDirTest, AnEmptyDirectoryHasNoEntries) {
  run([&]() -> Async<> {
    ReadDir entries = co_await read_dir(dir.path() + "/");
    const auto entry = co_await entries.next_entry();
    EXPECT_FALSE(entry);
  });
}

TEST_F(ReadDirTest, EntriesKnowTheirTypeAndMetadata) {
  put(dir / "file", "abc");
  std::filesystem::create_directory(dir / "directory");
  std::filesystem::create_symlink("file", dir / "link");
  run([&]() -> Async<> {
    ReadDir entries = co_await read_dir(dir.path());
    int seen = 0;
    while (auto entry = co_await entries.next_entry()) {
      const FileType type = co_await entry->file_type();
      const Metadata metadata = co_await entry->metadata();
      EXPECT_EQ(type, metadata.file_type());
      if (entry->file_name() == "file") {
        EXPECT_EQ(type, FileType::file);
        EXPECT_EQ(metadata.len(), 3U);
      } else {
        const bool is_link = entry->file_name() == "link";
        EXPECT_EQ(type, is_link ? FileType::symlink : FileType::directory);
      }
      ++seen;
    }
    EXPECT_EQ(seen, 3);
  });
}

TEST_F(ReadDirTest, ATypeThatTheFileSystemDidNotTellIsAskedFor) {
  put(dir / "file", "");
  const DirEntry entry(dir / "file", "file", std::nullopt);
  EXPECT_EQ(runtime.block_on(entry.file_type()), FileType::file);
  const DirEntry gone(dir / "gone", "gone", std::nullopt);
  const auto type = runtime.block_on(gone.file_type().result());
  EXPECT_EQ(type.error(), std::errc::no_such_file_or_directory);
}

TEST_F(ReadDirTest, WhatIsNoDirectoryIsAnError) {
  put(dir / "file", "");
  const auto file = runtime.block_on(read_dir(dir / "file").result());
  EXPECT_EQ(file.error(), std::errc::not_a_directory);
  const auto none = runtime.block_on(read_dir(dir / "none").result());
  EXPECT_EQ(none.error(), std::errc::no_such_file_or_directory);
}

TEST_F(ReadDirTest, ADroppedNextLosesNoEntry) {
  for (int i = 0; i < 40; ++i) put(dir / std::to_string(i), "");
  std::set<std::string> found;
  ReadDir entries = runtime.block_on(read_dir(dir.path()));
  const auto report = drop_at_each_poll([&] { return entries.next_entry(); }, [](std::size_t) {});
  EXPECT_FALSE(report.threw);
  while (const auto entry = runtime.block_on(entries.next_entry()))
    found.insert(entry->file_name());
  EXPECT_EQ(found.size(), 39U);  // the last poll of drop_at_each_poll took one
}

TEST_F(ReadDirTest, WhatTheRuntimeCancelledIsAnErrorAndThenTheEnd) {
  put(dir / "file", "");
  ReadDir entries = runtime.block_on(read_dir(dir.path()));
  hold();
  testing::CountingWaker waker;
  Context cx(waker.waker());
  ASSERT_TRUE(entries.poll_next_result(cx).is_pending());
  runtime.shutdown_background();
  auto polled = entries.poll_next_result(cx);
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), std::errc::operation_canceled);
  polled = entries.poll_next_result(cx);
  ASSERT_TRUE(polled.is_ready());
  EXPECT_FALSE(polled.value().value());
  let_go();
}

}  // namespace
}  // namespace rouse::fs
