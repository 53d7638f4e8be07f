// Descriptors, locks, times, owners, and directories with permissions.
#include <array>
#include <chrono>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/fs/dir_builder.hpp"
#include "rouse/fs/file.hpp"
#include "rouse/fs/lock.hpp"
#include "rouse/fs/operations.hpp"
#include "rouse/fs/times.hpp"
#include "rouse/testing/poll_harness.hpp"
#include "rouse/time/timeout.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

using namespace std::chrono_literals;

class FileDescriptors : public FsTest {};

TEST_F(FileDescriptors, AFileTakesOverADescriptor) {
  put(dir / "file", "some text");
  run([&]() -> Async<void> {
    auto file = File::from_fd(io::OwnedFd(::open((dir / "file").c_str(), O_RDONLY | O_CLOEXEC)));
    const std::string text = co_await file.read_to_string();
    EXPECT_EQ(text, "some text");
  });
}

TEST_F(FileDescriptors, GivenAwayItIsWhereTheFileWasWithAllThatWasWritten) {
  put(dir / "file", "0123456789");
  run([&]() -> Async<void> {
    auto file = co_await OpenOptions().read().write().open(dir / "file");
    std::array<char, 3> buf{};
    co_await file.read_exact(buf);  // and reads ahead
    const io::OwnedFd fd = co_await std::move(file).into_fd();
    EXPECT_EQ(::read(fd.get(), buf.data(), 3), 3);
    EXPECT_EQ(std::string(buf.data(), 3), "345");
    EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);

    auto writing = co_await File::create(dir / "new");
    co_await writing.write_all("text");
    const io::OwnedFd after = co_await std::move(writing).into_fd();
    EXPECT_EQ(contents_of(dir / "new"), "text");
    EXPECT_EQ(::lseek(after.get(), 0, SEEK_CUR), 4);
  });
}

TEST_F(FileDescriptors, GivenAwayItNeedsNoSecondDescriptor) {
  if (internal::address_sanitizer)
    GTEST_SKIP() << "UBSan's check of virtual calls needs descriptors itself";
  run([&]() -> Async<void> {
    for (int round = 0; round < 100; ++round) {
      auto file = co_await File::create(dir / "file");
      co_await file.write_all("text");
      rlimit before{};
      EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
      const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
      EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
      const auto fd = co_await std::move(file).into_fd().result();
      EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
      EXPECT_TRUE(fd) << fd.error().message() << " in round " << round;
      if (!fd) co_return;
    }
  });
}

TEST_F(FileDescriptors, GivenAwayItReportsAWriteThatFailed) {
  run([&]() -> Async<void> {
    auto full = co_await OpenOptions().write().open("/dev/full");
    co_await full.write_all("text");
    const auto fd = co_await std::move(full).into_fd().result();
    EXPECT_TRUE(!fd && fd.error() == std::errc::no_space_on_device);
  });
}

TEST_F(FileDescriptors, CustomFlagsReachTheSystem) {
  put(dir / "file", "");
  ASSERT_EQ(::symlink("file", (dir / "link").c_str()), 0);
  run([&]() -> Async<void> {
    const auto refused =
        co_await OpenOptions().read().custom_flags(O_NOFOLLOW).open(dir / "link").result();
    EXPECT_TRUE(!refused && refused.error() == std::errc::too_many_symbolic_link_levels);
    // The access mode is what read and write say.
    auto file = co_await OpenOptions().read().custom_flags(O_RDWR).open(dir / "file");
    const io::OwnedFd fd = co_await std::move(file).into_fd();
    EXPECT_EQ(::fcntl(fd.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  });
}

TEST_F(FileDescriptors, MetadataKnowsOwnerAndBirth) {
  run([&]() -> Async<void> {
    const auto before = std::chrono::system_clock::now() - 1min;
    auto file = co_await File::create(dir / "file");
    const Metadata of_file = co_await file.metadata();
    const Metadata of_path = co_await metadata(dir / "file");
    for (const Metadata& each : {of_file, of_path}) {
      EXPECT_EQ(each.uid(), ::geteuid());
      EXPECT_EQ(each.gid(), ::getegid());
      if (each.created()) {
        EXPECT_GT(*each.created(), before);
      }
    }
    EXPECT_EQ(of_file.created(), of_path.created());
    EXPECT_EQ(of_file.inode(), of_path.inode());
    struct stat stat{};
    EXPECT_EQ(::stat((dir / "file").c_str(), &stat), 0);
    EXPECT_EQ(of_path.device(), stat.st_dev);
    EXPECT_EQ(of_path.inode(), stat.st_ino);
  });
}

TEST_F(FileDescriptors, TimesAreSetByPathAndOfAnOpenFile) {
  put(dir / "file", "");
  run([&]() -> Async<void> {
    const Metadata::Time then(1'000'000'000s + 5ns);
    const Metadata::Time before_1970(-1ns);
    co_await set_times(dir / "file", FileTimes().set_modified(then).set_accessed(before_1970));
    const Metadata changed = co_await metadata(dir / "file");
    EXPECT_EQ(changed.modified(), then);
    EXPECT_EQ(changed.accessed(), before_1970);
    auto file = co_await OpenOptions().write().open(dir / "file");
    co_await set_times(file, FileTimes().set_modified(then + 1s));
    const Metadata again = co_await file.metadata();
    EXPECT_EQ(again.modified(), then + 1s);
    EXPECT_EQ(again.accessed(), before_1970);
    const auto missing =
        co_await set_times(dir / "missing", FileTimes().set_modified(then)).result();
    EXPECT_TRUE(!missing && missing.error() == std::errc::no_such_file_or_directory);
  });
}

TEST_F(FileDescriptors, ADirectoryIsSynced) {
  put(dir / "file", "");
  run([&]() -> Async<void> {
    co_await sync_dir(dir.path());
    const auto no_directory = co_await sync_dir(dir / "file").result();
    EXPECT_TRUE(!no_directory && no_directory.error() == std::errc::not_a_directory);
    const auto odd = co_await sync_dir(std::string("a\0b", 3)).result();
    EXPECT_TRUE(!odd && odd.error() == std::errc::invalid_argument);
  });
}

class DirBuilders : public FsTest {};

std::uint32_t mode_of(const std::string& path) {
  struct stat stat{};
  EXPECT_EQ(::stat(path.c_str(), &stat), 0) << path;
  return stat.st_mode & 07777U;
}

TEST_F(DirBuilders, MakeOneDirectoryWithItsPermissions) {
  run([&]() -> Async<void> {
    co_await DirBuilder().mode(0700).create(dir / "one");
    EXPECT_EQ(mode_of(dir / "one"), 0700U);
    const auto again = co_await DirBuilder().create(dir / "one").result();
    EXPECT_TRUE(!again && again.error() == std::errc::file_exists);
    const auto deep = co_await DirBuilder().create(dir / "a/b").result();
    EXPECT_TRUE(!deep && deep.error() == std::errc::no_such_file_or_directory);
  });
}

TEST_F(DirBuilders, MakeAllThatIsMissingWithTheSamePermissions) {
  put(dir / "file", "");
  run([&]() -> Async<void> {
    DirBuilder builder;
    builder.recursive(true).mode(0710);
    co_await builder.create(dir / "a/b//c/");
    for (const char* each : {"a", "a/b", "a/b/c"}) EXPECT_EQ(mode_of(dir / each), 0710U) << each;
    co_await builder.create(dir / "a/b/c");
    const auto in_file = co_await builder.create(dir / "file/x").result();
    EXPECT_TRUE(!in_file && in_file.error() == std::errc::not_a_directory);
    const auto is_file = co_await builder.create(dir / "file").result();
    EXPECT_TRUE(!is_file && is_file.error() == std::errc::file_exists);
    const auto nothing = co_await builder.create("").result();
    EXPECT_TRUE(!nothing && nothing.error() == std::errc::no_such_file_or_directory);
  });
}

class FileLocks : public FsTest {
 protected:
  [[nodiscard]] AsyncResult<File> open() const {
    return OpenOptions().read().write().create().open(dir / "lock");
  }
  /// Whether nobody has a lock.
  [[nodiscard]] bool is_free() const {
    const io::OwnedFd fd(::open((dir / "lock").c_str(), O_RDWR | O_CLOEXEC));
    return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
  }
};

TEST_F(FileLocks, OneIsExclusiveSeveralAreShared) {
  run([&]() -> Async<void> {
    auto one = co_await open();
    auto other = co_await open();
    co_await lock(one);
    EXPECT_FALSE(co_await try_lock(other));
    EXPECT_FALSE(co_await try_lock_shared(other));
    co_await unlock(one);
    co_await lock_shared(one);
    EXPECT_TRUE(co_await try_lock_shared(other));
    co_await unlock(one);
    EXPECT_FALSE(is_free());
    co_await lock_shared(one);
    EXPECT_FALSE(co_await try_lock(other));  // it has lost its shared one
    co_await unlock(one);
    EXPECT_TRUE(is_free());
    co_await unlock(other);
  });
}

TEST_F(FileLocks, OneThatWasDroppedTakesNoLockAway) {
  run([&]() -> Async<void> {
    auto mine = co_await open();
    auto other = co_await open();
    for (int round = 0; round < 500; ++round) {
      const auto dropped = co_await timeout(0s, lock(mine)).result();  // maybe on its thread still
      static_cast<void>(dropped);
      co_await lock(mine);
      const bool is_lost = co_await try_lock(other);
      EXPECT_FALSE(is_lost) << "in round " << round;
      if (is_lost) co_return;
      co_await unlock(mine);
    }
    co_await lock(mine);
    for (int round = 0; round < 100; ++round) {
      const auto dropped = co_await timeout(0s, lock(mine)).result();
      static_cast<void>(dropped);
      const bool is_lost = co_await try_lock(other);
      EXPECT_FALSE(is_lost) << "it was held before";
    }
    co_await unlock(mine);
  });
}

TEST_F(FileLocks, OneThatWasDroppedTakesNoLockOfACloneAway) {
  File mine = runtime.block_on(open());
  File clone = runtime.block_on(mine.try_clone());
  File clone_of_clone = runtime.block_on(clone.try_clone());
  runtime.block_on(lock(mine));
  for (File* each : {&mine, &clone, &clone_of_clone}) {
    hold();
    testing::PollHarness dropped(try_lock(*each));
    EXPECT_TRUE(dropped.poll().is_pending());
    release();  // it has the lock, and nobody is told
  }
  EXPECT_FALSE(is_free());
  runtime.block_on(unlock(clone));  // one lock of all three
  EXPECT_TRUE(is_free());
}

TEST_F(FileLocks, AWaiterGetsTheLockWhenItIsFree) {
  run([&]() -> Async<void> {
    auto one = co_await open();
    auto other = co_await open();
    co_await lock(one);
    testing::PollHarness waiting(lock(other));
    EXPECT_TRUE(waiting.poll().is_pending());
    co_await unlock(one);
    co_await waiting.future();
    EXPECT_FALSE(is_free());
  });
}

TEST_F(FileLocks, ADroppedFileIsUnlocked) {
  run([&]() -> Async<void> {
    {
      auto file = co_await open();
      co_await lock(file);
      EXPECT_FALSE(is_free());
    }
    EXPECT_TRUE(is_free());
  });
}

TEST_F(FileLocks, AWaitThatIsDroppedLeavesNoLockWhereverItWas) {
  std::optional<File> file;
  run([&]() -> Async<void> { file.emplace(co_await open()); });
  for (const bool shared : {false, true}) {
    const auto report = drop_at_each_poll([&] { return shared ? lock_shared(*file) : lock(*file); },
                                          [&](std::size_t k) {
                                            if (is_free()) return;
                                            EXPECT_EQ(k, 2U);  // it had completed
                                            run([&]() -> Async<void> { co_await unlock(*file); });
                                          });
    EXPECT_EQ(report.polls, 2U);
    EXPECT_EQ(report.wakers_left, 0U);
    EXPECT_TRUE(is_free());
  }
}

TEST_F(FileLocks, AWaitThatTimesOutLeavesNoLockLater) {
  run([&]() -> Async<void> {
    auto one = co_await open();
    auto other = co_await open();
    co_await lock(one);
    const auto waited = co_await timeout(5ms, lock(other)).result();
    EXPECT_TRUE(!waited && waited.error() == std::errc::timed_out);
    co_await unlock(one);
  });
  settle();
  EXPECT_TRUE(is_free());
}

TEST_F(FileLocks, WaitingDoesNotKeepTheRuntimeFromEnding) {
  const io::OwnedFd other(::open((dir / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  {
    Runtime inner = Runtime::builder().worker_threads(1).max_blocking_threads(1).build();
    auto file = inner.block_on(open());
    const auto wait = [](File mine) -> Async<void> { co_await lock(mine); };
    inner.spawn(wait, std::move(file)).detach();
  }
  ::flock(other.get(), LOCK_UN);
  EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace rouse::fs
