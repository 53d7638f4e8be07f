#include "rouse/fs/file.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "rouse/io/async_read.hpp"
#include "rouse/io/async_write.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

static_assert(AsyncRead<File> && AsyncWrite<File>);

using FileTest = FsTest;

/// Reads to the end.
Async<std::string> rest_of(File& file) {
  std::string text;
  std::array<char, 100> buf{};
  while (const std::size_t n = co_await file.read(buf)) text.append(buf.data(), n);
  co_return text;
}

TEST_F(FileTest, WhatWasWrittenIsRead) {
  run([&]() -> Async<> {
    {
      File file = co_await File::create(dir / "f");
      EXPECT_EQ(co_await file.write("hello "), 6U);
      EXPECT_EQ(co_await file.write("world"), 5U);
      co_await file.flush();
    }
    File file = co_await File::open(dir / "f");
    EXPECT_EQ(co_await rest_of(file), "hello world");
  });
}

TEST_F(FileTest, OneOperationMovesTwoMebibytesAtMost) {
  const std::size_t limit = std::size_t{2} << 20U;
  run([&]() -> Async<> {
    const std::string big(limit + 1, 'x');
    File file = co_await File::create_new(dir / "f");
    EXPECT_EQ(co_await file.write(big), limit);
    EXPECT_EQ(co_await file.write("!"), 1U);
    EXPECT_EQ(co_await file.seek(SeekFrom::start(0)), 0U);
    std::vector<char> buf(limit + 1);
    EXPECT_EQ(co_await file.read(buf), limit);
    EXPECT_EQ(co_await file.read(buf), 1U);
    EXPECT_EQ(buf.front(), '!');
    EXPECT_EQ(co_await file.read_at(buf, 0), limit);
    EXPECT_EQ(co_await file.write_at(buf, 0), limit);
  });
}

TEST_F(FileTest, SeeksFromStartCurrentAndEnd) {
  put(dir / "f", "0123456789");
  run([&]() -> Async<> {
    File file = co_await File::open(dir / "f");
    std::array<char, 2> buf{};
    EXPECT_EQ(co_await file.seek(SeekFrom::start(4)), 4U);
    EXPECT_EQ(co_await file.read(buf), 2U);
    EXPECT_EQ(buf[0], '4');
    EXPECT_EQ(co_await file.seek(SeekFrom::current(-1)), 5U);
    EXPECT_EQ(co_await file.seek(SeekFrom::end(-3)), 7U);
    EXPECT_EQ(co_await rest_of(file), "789");
    EXPECT_EQ(co_await file.seek(SeekFrom::end(5)), 15U);
    EXPECT_EQ(co_await file.read(buf), 0U);
  });
}

TEST_F(FileTest, ASeekToWhereNoFileIsIsAnErrorAndMovesNothing) {
  put(dir / "f", "0123456789");
  run([&]() -> Async<> {
    File file = co_await File::open(dir / "f");
    (void)co_await file.seek(SeekFrom::start(3));
    const std::vector<SeekFrom> nowhere{SeekFrom::current(-4), SeekFrom::end(-11),
                                        SeekFrom::start(UINT64_MAX), SeekFrom::current(INT64_MIN),
                                        SeekFrom::start(std::uint64_t{1} << 63U)};
    for (const SeekFrom& to : nowhere) {
      const auto moved = co_await file.seek(to).result();
      EXPECT_EQ(moved.error(), std::errc::invalid_argument);
    }
    EXPECT_EQ(co_await file.seek(SeekFrom::current(0)), 3U);
  });
}

TEST_F(FileTest, AWriteErrorIsToldByTheNextWriteFlushOrSync) {
  run([&]() -> Async<> {
    File full = co_await OpenOptions().write().open("/dev/full");
    EXPECT_EQ(co_await full.write("x"), 1U);
    const auto flushed = co_await full.flush().result();
    EXPECT_EQ(flushed.error(), std::errc::no_space_on_device);
    co_await full.flush();  // told once

    EXPECT_EQ(co_await full.write("x"), 1U);
    const auto written = co_await full.write("y").result();
    EXPECT_EQ(written.error(), std::errc::no_space_on_device);

    EXPECT_EQ(co_await full.write("x"), 1U);
    const auto synced = co_await full.sync_all().result();
    EXPECT_EQ(synced.error(), std::errc::no_space_on_device);

    EXPECT_EQ(co_await full.write("x"), 1U);
    (void)co_await full.metadata();  // does not eat the error
    const auto after = co_await full.flush().result();
    EXPECT_EQ(after.error(), std::errc::no_space_on_device);
  });
}

TEST_F(FileTest, WritingToAPipeThatNobodyReadsIsAnErrorAndNoSignal) {
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  run([&]() -> Async<> {
    // One that also reads can be opened though there is nobody else.
    auto reader = std::optional<File>(co_await OpenOptions().read().write().open(pipe));
    File writer = co_await OpenOptions().write().open(pipe);
    reader.reset();
    const auto written = co_await writer.write_all("nobody").result();
    EXPECT_TRUE(written);  // so far it is in the buffer
    const auto flushed = co_await writer.flush().result();
    EXPECT_EQ(flushed.error(), std::errc::broken_pipe);
  });
}

TEST_F(FileTest, WhatIsNotAllowedIsAnError) {
  put(dir / "f", "x");
  run([&]() -> Async<> {
    File reads = co_await File::open(dir / "f");
    EXPECT_EQ(co_await reads.write("y"), 1U);
    const auto flushed = co_await reads.flush().result();
    EXPECT_EQ(flushed.error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(co_await rest_of(reads), "x");

    File writes = co_await OpenOptions().write().open(dir / "f");
    std::array<char, 1> buf{};
    const auto read = co_await writes.read(buf).result();
    EXPECT_EQ(read.error(), std::errc::bad_file_descriptor);

    File directory = co_await File::open(dir.path());
    const auto listed = co_await directory.read(buf).result();
    EXPECT_EQ(listed.error(), std::errc::is_a_directory);
  });
}

TEST_F(FileTest, OpenTellsWhyItFailed) {
  put(dir / "f", "x");
  put(dir / "secret", "x");
  std::filesystem::permissions(dir / "secret", std::filesystem::perms::none);
  struct Case {
    std::string path;
    OpenOptions options;
    std::errc error;
  };
  std::vector<Case> table{
      {dir / "none", OpenOptions().read(), std::errc::no_such_file_or_directory},
      {dir / "none", OpenOptions().write(), std::errc::no_such_file_or_directory},
      {dir / "no/dir", OpenOptions().write().create(), std::errc::no_such_file_or_directory},
      {"", OpenOptions().read(), std::errc::no_such_file_or_directory},
      {dir / "f", OpenOptions().write().create_new(), std::errc::file_exists},
      {dir / "f/x", OpenOptions().read(), std::errc::not_a_directory},
      {dir.path(), OpenOptions().write(), std::errc::is_a_directory},
      {dir / std::string(300, 'x'), OpenOptions().read(), std::errc::filename_too_long},
      {dir / std::string("f\0g", 3), OpenOptions().read(), std::errc::invalid_argument},
      {dir / "f", OpenOptions(), std::errc::invalid_argument},
      {dir / "f", OpenOptions().read().create(), std::errc::invalid_argument},
      {dir / "f", OpenOptions().read().create_new(), std::errc::invalid_argument},
      {dir / "f", OpenOptions().read().truncate(), std::errc::invalid_argument},
      {dir / "f", OpenOptions().append().truncate(), std::errc::invalid_argument},
  };
  if (::geteuid() != 0) {
    table.push_back({dir / "secret", OpenOptions().read(), std::errc::permission_denied});
  }
  for (const Case& c : table) {
    const auto opened = runtime.block_on(c.options.open(c.path).result());
    ASSERT_FALSE(opened) << c.path;
    EXPECT_EQ(opened.error(), c.error) << c.path << ": " << opened.error().message();
  }
  EXPECT_EQ(contents_of(dir / "f"), "x");
}

TEST_F(FileTest, AppendsTruncatesAndMakesWithAMode) {
  put(dir / "f", "abc");
  run([&]() -> Async<> {
    File appends = co_await OpenOptions().append().open(dir / "f");
    (void)co_await appends.write("d");
    (void)co_await appends.seek(SeekFrom::start(0));
    (void)co_await appends.write("e");
    co_await appends.sync_data();
    EXPECT_EQ(contents_of(dir / "f"), "abcde");

    File created = co_await File::create(dir / "f");
    EXPECT_EQ(contents_of(dir / "f"), "");
    File made = co_await OpenOptions().write().create_new().mode(0600).open(dir / "g");
    const Metadata metadata = co_await made.metadata();
    EXPECT_EQ(metadata.permissions(), Permissions(0600));
  });
}

TEST_F(FileTest, LengthPermissionsAndMetadataCanBeChangedAndRead) {
  run([&]() -> Async<> {
    File file = co_await File::create_new(dir / "f");
    (void)co_await file.write("abcdef");
    co_await file.set_len(3);
    co_await file.sync_all();
    EXPECT_EQ(contents_of(dir / "f"), "abc");
    co_await file.set_permissions(Permissions(0400));
    const Metadata metadata = co_await file.metadata();
    EXPECT_TRUE(metadata.is_file() && !metadata.is_dir() && !metadata.is_symlink());
    EXPECT_EQ(metadata.len(), 3U);
    EXPECT_TRUE(metadata.permissions().readonly());
    EXPECT_EQ(metadata.links(), 1U);
    EXPECT_GT(metadata.modified(), Metadata::Time());
    const auto too_long = co_await file.set_len(UINT64_MAX).result();
    EXPECT_EQ(too_long.error(), std::errc::invalid_argument);
  });
}

TEST_F(FileTest, ReadsAndWritesAtAnOffsetLeaveThePosition) {
  run([&]() -> Async<> {
    File file = co_await File::create_new(dir / "f");
    EXPECT_EQ(co_await file.write_at("world", 6), 5U);
    EXPECT_EQ(co_await file.write_at("hello ", 0), 6U);
    std::array<char, 100> buf{};
    EXPECT_EQ(co_await file.read_at(buf, 6), 5U);
    EXPECT_EQ(std::string_view(buf.data(), 5), "world");
    EXPECT_EQ(co_await file.read_at(buf, 11), 0U);
    EXPECT_EQ(co_await file.read_at(io::BufferMut(), 0), 0U);
    EXPECT_EQ(co_await rest_of(file), "hello world");
    const auto nowhere = co_await file.read_at(buf, UINT64_MAX).result();
    EXPECT_EQ(nowhere.error(), std::errc::invalid_argument);
  });
}

TEST_F(FileTest, AClonedFileSharesThePosition) {
  put(dir / "f", "0123456789");
  run([&]() -> Async<> {
    File file = co_await File::open(dir / "f");
    std::array<char, 4> buf{};
    EXPECT_EQ(co_await file.read(buf), 4U);
    File clone = co_await file.try_clone();
    EXPECT_EQ(co_await clone.read(buf), 4U);
    EXPECT_EQ(buf[0], '4');
    EXPECT_EQ(co_await rest_of(file), "89");
  });
}

TEST_F(FileTest, EmptyBuffersAreReadyAndDoNothing) {
  run([&]() -> Async<> {
    File file = co_await File::create_new(dir / "f");
    EXPECT_EQ(co_await file.write(io::Buffer()), 0U);
    EXPECT_EQ(co_await file.read(io::BufferMut()), 0U);
    co_await file.flush();
  });
}

TEST_F(FileTest, ATaskThatWritesForEverLetsOthersRun) {
  Runtime one = Runtime::builder().current_thread().build();
  bool ran = false;
  one.block_on([&]() -> Async<> {
    File file = co_await OpenOptions().write().open("/dev/null");
    auto other = spawn([&]() -> Async<> {
      ran = true;
      co_return;
    });
    while (!ran) (void)co_await file.write("x");
    co_await std::move(other);
  }());
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace rouse::fs
