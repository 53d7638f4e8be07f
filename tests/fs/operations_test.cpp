#include "rouse/fs/operations.hpp"

#include <array>
#include <cstdint>
#include <fcntl.h>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "rouse/testing/counting_waker.hpp"

#include "fs/fs_support.hpp"
#include "sys/linux/file_status.hpp"

namespace rouse::fs {
namespace {

using OperationsTest = FsTest;

TEST_F(OperationsTest, FilesAreWrittenAndReadWhole) {
  run([&]() -> Async<> {
    const std::string text("any\0bytes\xff", 10);
    co_await fs::write(dir / "f", text);
    const std::string read_back = co_await fs::read_to_string(dir / "f");
    EXPECT_EQ(read_back, text);
    const std::vector<std::byte> bytes = co_await fs::read(dir / "f");
    EXPECT_EQ(bytes.size(), 10U);
    EXPECT_EQ(bytes[9], std::byte{0xff});
    co_await fs::write(dir / "f", "short");
    EXPECT_EQ(contents_of(dir / "f"), "short");
    co_await fs::write(dir / "f", "");
    const std::string empty = co_await fs::read_to_string(dir / "f");
    EXPECT_EQ(empty, "");
  });
}

TEST_F(OperationsTest, AFileThatHidesItsLengthIsReadWhole) {
  run([&]() -> Async<> {
    const std::string status = co_await fs::read_to_string("/proc/self/status");
    EXPECT_NE(status.find("Threads:"), std::string::npos);
  });
}

TEST_F(OperationsTest, WriteOwnsWhatItWrites) {
  auto writing = [&] {
    const std::string gone(1000, 'x');
    return fs::write(dir / "f", gone);
  }();
  runtime.block_on(std::move(writing));
  EXPECT_EQ(contents_of(dir / "f"), std::string(1000, 'x'));
}

TEST_F(OperationsTest, CopyTakesContentsAndPermissions) {
  const std::string big(1'000'000, 'b');
  put(dir / "a", big);
  put(dir / "b", std::string(2'000'000, 'o'));
  std::filesystem::permissions(dir / "a", std::filesystem::perms(0640));
  run([&]() -> Async<> {
    const std::uint64_t copied = co_await fs::copy(dir / "a", dir / "b");
    EXPECT_EQ(copied, big.size());
    EXPECT_EQ(contents_of(dir / "b"), big);
    const Metadata metadata = co_await fs::metadata(dir / "b");
    EXPECT_EQ(metadata.permissions().mode(), 0640U);
  });
}

TEST_F(OperationsTest, AFileCopiedOntoItselfStaysAsItIs) {
  put(dir / "a", "precious");
  std::filesystem::create_hard_link(dir / "a", dir / "b");
  run([&]() -> Async<> {
    const auto onto_itself = co_await fs::copy(dir / "a", dir / "a").result();
    EXPECT_EQ(onto_itself.error(), std::errc::invalid_argument);
    const auto onto_link = co_await fs::copy(dir / "a", dir / "b").result();
    EXPECT_EQ(onto_link.error(), std::errc::invalid_argument);
  });
  EXPECT_EQ(contents_of(dir / "a"), "precious");
}

TEST_F(OperationsTest, NamesAreMadeMovedAndRemoved) {
  run([&]() -> Async<> {
    co_await fs::write(dir / "a", "1");
    co_await fs::rename(dir / "a", dir / "b");
    const bool a_exists = co_await fs::try_exists(dir / "a");
    EXPECT_FALSE(a_exists);
    co_await fs::hard_link(dir / "b", dir / "c");
    const Metadata linked = co_await fs::metadata(dir / "c");
    EXPECT_EQ(linked.links(), 2U);
    co_await fs::symlink("b", dir / "s");
    const std::string target = co_await fs::read_link(dir / "s");
    EXPECT_EQ(target, "b");
    const Metadata link = co_await fs::symlink_metadata(dir / "s");
    EXPECT_TRUE(link.is_symlink());
    const Metadata followed = co_await fs::metadata(dir / "s");
    EXPECT_TRUE(followed.is_file());
    EXPECT_EQ(followed.inode(), linked.inode());
    const std::string real = co_await fs::canonicalize(dir / "./s");
    EXPECT_EQ(real, dir / "b");
    co_await fs::remove_file(dir / "b");
    const bool dangling = co_await fs::try_exists(dir / "s");
    EXPECT_FALSE(dangling);
    co_await fs::set_permissions(dir / "c", Permissions(0444));
    const Metadata changed = co_await fs::metadata(dir / "c");
    EXPECT_TRUE(changed.permissions().readonly());
  });
}

TEST_F(OperationsTest, ALongLinkIsReadWhole) {
  const std::string target(3000, 'l');
  run([&]() -> Async<> {
    co_await fs::symlink(target, dir / "s");
    const std::string read_back = co_await fs::read_link(dir / "s");
    EXPECT_EQ(read_back, target);
  });
}

TEST_F(OperationsTest, DirectoriesAreMadeAndRemovedOneOrAll) {
  put(dir / "outside", "kept");
  run([&]() -> Async<> {
    co_await fs::create_dir(dir / "d");
    co_await fs::remove_dir(dir / "d");
    co_await fs::create_dir_all(dir / "d/e/f");
    co_await fs::create_dir_all(dir / "d/e/f");
    co_await fs::write(dir / "d/e/x", "1");
    co_await fs::symlink(dir.path(), dir / "d/e/loop");
    co_await fs::remove_dir_all(dir / "d");
    const bool exists = co_await fs::try_exists(dir / "d");
    EXPECT_FALSE(exists);
    co_await fs::create_dir(dir / "real");
    co_await fs::symlink("real", dir / "link");
    co_await fs::remove_dir_all(dir / "link");
    const bool real_exists = co_await fs::try_exists(dir / "real");
    EXPECT_TRUE(real_exists);
  });
  EXPECT_EQ(contents_of(dir / "outside"), "kept");
}

/// Any operation, as something that only says how it failed.
template <class T>
Async<std::error_code> error_of(AsyncResult<T> attempt) {
  auto result = co_await attempt.result();
  co_return result ? std::error_code() : result.error();
}

TEST_F(OperationsTest, EachTellsWhyItFailed) {
  put(dir / "f", "x");
  std::filesystem::create_directories(dir / "d/e");
  std::filesystem::create_symlink("loop", dir / "loop");
  const std::string nul("a\0b", 3);
  std::vector<std::pair<Async<std::error_code>, std::errc>> table;
  const auto expect = [&](auto attempt, std::errc error) {
    table.emplace_back(error_of(std::move(attempt)), error);
  };
  using enum std::errc;
  expect(fs::read(dir / "no"), no_such_file_or_directory);
  expect(fs::read(dir / "d"), is_a_directory);
  expect(fs::read_to_string(""), no_such_file_or_directory);
  expect(fs::read_to_string(nul), invalid_argument);
  expect(fs::write(dir / "d", "x"), is_a_directory);
  expect(fs::write(dir / "no/f", "x"), no_such_file_or_directory);
  expect(fs::write("/dev/full", "x"), no_space_on_device);
  expect(fs::copy(dir / "no", dir / "g"), no_such_file_or_directory);
  expect(fs::copy(dir / "d", dir / "g"), is_a_directory);
  expect(fs::copy(dir / "f", dir / "d"), is_a_directory);
  expect(fs::rename(dir / "no", dir / "g"), no_such_file_or_directory);
  expect(fs::rename(dir / "f", dir / "d"), is_a_directory);
  expect(fs::rename(dir / "d", dir / "f"), not_a_directory);
  expect(fs::rename(nul, dir / "g"), invalid_argument);
  expect(fs::rename(dir / "f", nul), invalid_argument);
  expect(fs::remove_file(dir / "no"), no_such_file_or_directory);
  expect(fs::remove_file(dir / "d"), is_a_directory);
  expect(fs::create_dir(dir / "d"), file_exists);
  expect(fs::create_dir(dir / "no/d"), no_such_file_or_directory);
  expect(fs::create_dir_all(dir / "f/x"), not_a_directory);
  expect(fs::create_dir_all(""), no_such_file_or_directory);
  expect(fs::create_dir_all(nul), invalid_argument);
  expect(fs::remove_dir(dir / "d"), directory_not_empty);
  expect(fs::remove_dir(dir / "f"), not_a_directory);
  expect(fs::remove_dir_all(dir / "no"), no_such_file_or_directory);
  expect(fs::remove_dir_all(dir / "f"), not_a_directory);
  expect(fs::metadata(dir / "no"), no_such_file_or_directory);
  expect(fs::metadata(dir / "loop"), too_many_symbolic_link_levels);
  expect(fs::metadata(dir / "f/x"), not_a_directory);
  expect(fs::symlink_metadata(dir / "no"), no_such_file_or_directory);
  expect(fs::canonicalize(dir / "no"), no_such_file_or_directory);
  expect(fs::hard_link(dir / "no", dir / "g"), no_such_file_or_directory);
  expect(fs::hard_link(dir / "f", dir / "f"), file_exists);
  expect(fs::symlink("x", dir / "f"), file_exists);
  expect(fs::read_link(dir / "f"), invalid_argument);
  expect(fs::set_permissions(dir / "no", Permissions(0)), no_such_file_or_directory);
  expect(fs::try_exists(dir / "loop"), too_many_symbolic_link_levels);
  expect(fs::try_exists(dir / "f/x"), not_a_directory);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::error_code error = runtime.block_on(std::move(table[i].first));
    EXPECT_EQ(error, table[i].second) << "case " << i << ": " << error.message();
  }
  EXPECT_EQ(contents_of(dir / "f"), "x");
}

TEST_F(OperationsTest, ATimeThatDoesNotFitIsAsFarAwayAsFits) {
  put(dir / "f", "x");
  run([&]() -> Async<> {
    for (const std::int64_t seconds : {13'000'000'000, -10'000'000'000}) {  // 2381, 1653
      const timespec time{.tv_sec = seconds, .tv_nsec = 5};
      const std::array<timespec, 2> times{time, time};
      struct stat stored{};
      const bool is_stored = ::utimensat(AT_FDCWD, (dir / "f").c_str(), times.data(), 0) == 0 &&
                             ::stat((dir / "f").c_str(), &stored) == 0 &&
                             stored.st_mtim.tv_sec == seconds;
      if (!is_stored) continue;  // this file system has no such time
      const Metadata metadata = co_await fs::metadata(dir / "f");
      const auto limit = seconds > 0 ? Metadata::Time::max() : Metadata::Time::min();
      EXPECT_TRUE(metadata.modified() == limit);
      EXPECT_TRUE(metadata.accessed() == limit);
    }
  });
}

TEST(FileStatus, NanosecondsThatDoNotFitAreTheMostThatFit) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = 1, .tv_nsec = 5}), 1'000'000'005);
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = -1, .tv_nsec = 5}), -999'999'995);
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = 9'223'372'036, .tv_nsec = 854'775'807}),
            Limits::max());
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = 9'223'372'036, .tv_nsec = 854'775'808}),
            Limits::max());
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = 9'223'372'037, .tv_nsec = 0}), Limits::max());
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = Limits::max(), .tv_nsec = 0}), Limits::max());
  EXPECT_EQ(sys::nanoseconds(timespec{.tv_sec = Limits::min(), .tv_nsec = 0}), Limits::min());
}

TEST_F(OperationsTest, WithoutPermissionItFails) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may do anything";
  std::filesystem::create_directories(dir / "d/e");
  std::filesystem::permissions(dir / "d", std::filesystem::perms(0500));
  const auto made = runtime.block_on(fs::create_dir(dir / "d/f").result());
  EXPECT_EQ(made.error(), std::errc::permission_denied);
  std::filesystem::permissions(dir / "d", std::filesystem::perms(0700));
}

TEST_F(OperationsTest, ADroppedOneIsDoneAllTheSame) {
  int made = 0;
  const auto report = drop_at_each_poll(
      [&] { return fs::create_dir(dir / std::to_string(made++)); }, [](std::size_t) {});
  EXPECT_EQ(report.polls, 2U);
  EXPECT_EQ(report.wakers_left, 0U);
  EXPECT_FALSE(std::filesystem::exists(dir / "0"));  // never polled
  EXPECT_TRUE(std::filesystem::exists(dir / "1"));
  EXPECT_TRUE(std::filesystem::exists(dir / "2"));
}

TEST_F(OperationsTest, AfterTheRuntimeItIsCancelled) {
  hold();
  auto removing = fs::remove_file(dir / "f").result();
  testing::CountingWaker waker;
  Context cx(waker.waker());
  ASSERT_TRUE(removing.poll(cx).is_pending());
  runtime.shutdown_background();
  auto polled = removing.poll(cx);
  ASSERT_TRUE(polled.is_ready());
  EXPECT_EQ(polled.value().error(), std::errc::operation_canceled);
  let_go();
}

}  // namespace
}  // namespace rouse::fs
