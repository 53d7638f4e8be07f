#include "rouse/fs/watch.hpp"

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/error.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

class Watches : public FsTest {
 protected:
  /// The events until this one.
  static Async<std::vector<WatchEvent>> until(Watch& changes, WatchKind last) {
    std::vector<WatchEvent> all;
    for (;;) {
      auto event = co_await changes.next();
      if (!event) break;
      all.push_back(*std::move(event));
      if (all.back().kind == last) break;
    }
    co_return all;
  }
  static long queue_size() {
    long most = 0;
    std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
    return most;
  }
  static void change_often(int fd, long events) {
    for (long i = 0; i <= events / 2; ++i) {  // equal events in a row would be one
      EXPECT_EQ(::write(fd, "x", 1), 1);
      EXPECT_EQ(::fchmod(fd, 0600), 0);
    }
  }
};

TEST_F(Watches, ADirectoryTellsWhatHappensToItsEntries) {
  run([&]() -> Async<void> {
    Watch changes = co_await watch(dir.path());
    put(dir / "file", "text");
    const auto written = co_await until(changes, WatchKind::written);
    EXPECT_EQ(written.front().kind, WatchKind::created);
    for (const WatchEvent& each : written) {
      EXPECT_EQ(each.name, "file");
      EXPECT_FALSE(each.is_dir);
    }
    EXPECT_EQ(::chmod((dir / "file").c_str(), 0600), 0);
    const auto changed = co_await until(changes, WatchKind::attributes);
    EXPECT_EQ(changed.back().name, "file");
    EXPECT_EQ(std::rename((dir / "file").c_str(), (dir / "other").c_str()), 0);
    const auto moved = co_await until(changes, WatchKind::moved_to);
    EXPECT_EQ(moved.size(), 2U);
    EXPECT_EQ(moved.front().kind, WatchKind::moved_from);
    EXPECT_EQ(moved.front().name, "file");
    EXPECT_EQ(moved.back().name, "other");
    EXPECT_NE(moved.back().cookie, 0U);
    EXPECT_EQ(moved.front().cookie, moved.back().cookie);
    EXPECT_EQ(::unlink((dir / "other").c_str()), 0);
    const auto removed = co_await until(changes, WatchKind::removed);
    EXPECT_EQ(removed.back().name, "other");
    EXPECT_EQ(::mkdir((dir / "folder").c_str(), 0700), 0);
    const auto made = co_await until(changes, WatchKind::created);
    EXPECT_TRUE(made.back().is_dir);
  });
}

TEST_F(Watches, AFileTellsOfItselfAndItsEndIsTheEnd) {
  put(dir / "file", "");
  run([&]() -> Async<void> {
    Watch changes = co_await watch(dir / "file");
    std::ofstream(dir / "file", std::ios::app) << "more";
    const auto written = co_await until(changes, WatchKind::written);
    EXPECT_EQ(written.front().kind, WatchKind::modified);
    EXPECT_EQ(written.front().name, "");
    EXPECT_EQ(std::rename((dir / "file").c_str(), (dir / "moved").c_str()), 0);
    const auto moved = co_await until(changes, WatchKind::self_moved);
    EXPECT_EQ(moved.size(), 1U);
    EXPECT_EQ(::unlink((dir / "moved").c_str()), 0);
    const auto ends = co_await until(changes, WatchKind::created);
    EXPECT_EQ(ends.back().kind, WatchKind::self_removed);
    const auto after = co_await changes.next();
    EXPECT_FALSE(after);
  });
}

TEST_F(Watches, WhatCannotBeWatchedIsAnError) {
  run([&]() -> Async<void> {
    const auto missing = co_await watch(dir / "missing").result();
    EXPECT_TRUE(!missing && missing.error() == std::errc::no_such_file_or_directory);
    const auto odd = co_await watch(std::string("a\0b", 3)).result();
    EXPECT_TRUE(!odd && odd.error() == std::errc::invalid_argument);
  });
}

TEST_F(Watches, TooManyEventsAreToldAsAnOverflow) {
  const long most = queue_size();
  if (most <= 0 || most > 200'000) GTEST_SKIP() << "a queue of " << most << " events";
  put(dir / "file", "");
  run([&]() -> Async<void> {
    Watch changes = co_await watch(dir / "file");
    const io::OwnedFd fd(::open((dir / "file").c_str(), O_WRONLY | O_CLOEXEC));
    change_often(fd.get(), most);
    const auto all = co_await until(changes, WatchKind::overflow);
    EXPECT_EQ(all.back().kind, WatchKind::overflow);
    EXPECT_GE(static_cast<long>(all.size()), most);
    EXPECT_EQ(::fchmod(fd.get(), 0644), 0);
    const auto next = co_await until(changes, WatchKind::attributes);
    EXPECT_EQ(next.size(), 1U);  // and goes on
  });
}

TEST_F(Watches, TheEndIsSeenAlsoIfAnOverflowDroppedIt) {
  const long most = queue_size();
  if (most <= 0 || most > 200'000) GTEST_SKIP() << "a queue of " << most << " events";
  put(dir / "file", "");
  run([&]() -> Async<void> {
    Watch changes = co_await watch(dir / "file");
    io::OwnedFd fd(::open((dir / "file").c_str(), O_WRONLY | O_CLOEXEC));
    change_often(fd.get(), most);
    EXPECT_EQ(::unlink((dir / "file").c_str()), 0);
    fd = io::OwnedFd();
    const auto all = co_await until(changes, WatchKind::overflow);
    EXPECT_EQ(all.back().kind, WatchKind::overflow);
    testing::PollHarness end(changes.next());
    const auto polled = end.poll();
    EXPECT_TRUE(polled.is_ready() && !polled.value());
  });
}

TEST_F(Watches, DroppedWaitsLoseNothing) {
  run([&]() -> Async<void> {
    Watch changes = co_await watch(dir.path());
    {
      testing::PollHarness dropped(changes.next());
      EXPECT_TRUE(dropped.poll().is_pending());
    }
    EXPECT_EQ(::mkdir((dir / "one").c_str(), 0700), 0);
    EXPECT_EQ(::mkdir((dir / "two").c_str(), 0700), 0);
    const auto one = co_await changes.next();
    Watch moved = std::move(changes);  // with what it has read
    const auto two = co_await moved.next();
    EXPECT_EQ(one->name, "one");
    EXPECT_EQ(two->name, "two");
  });
}

TEST_F(Watches, OneThatOutlivesItsRuntimeSaysSo) {
  std::optional<Runtime> inner(Runtime::builder().worker_threads(1).build());
  Watch changes = inner->block_on(watch(dir.path()));
  {
    testing::PollHarness first(changes.next());
    EXPECT_TRUE(first.poll().is_pending());
  }
  inner.reset();
  testing::PollHarness next(changes.next());
  try {
    (void)next.poll();
    ADD_FAILURE() << "it did not throw";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), io::Error::runtime_ended);
  }
}

}  // namespace
}  // namespace rouse::fs
