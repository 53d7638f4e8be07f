// Calls on files and directories.
#include "rouse/fs/file.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ftw.h>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "rouse/fs/dir_builder.hpp"
#include "rouse/fs/lock.hpp"
#include "rouse/fs/operations.hpp"
#include "rouse/fs/read_dir.hpp"
#include "rouse/fs/times.hpp"
#include "rouse/fs/watch.hpp"
#include "rouse/io/owned_fd.hpp"

#include "faulty/harness.hpp"
#include "sys/watch.hpp"

namespace rouse::faulty {
namespace {

/// A folder that goes with the scenario. Made and removed by calls that no fault reaches.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rouse-faulty-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    const auto remove = [](const char* path, const struct stat*, int, FTW*) {
      return std::remove(path);
    };
    ::nftw(path_.c_str(), remove, 16, FTW_DEPTH | FTW_PHYS);
  }
  std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Async<void> write_and_read() {
  const Folder folder;
  auto file = co_await fs::File::create_new(folder / "file");
  co_await file.write_all("some text");
  co_await file.flush();
  co_await file.seek(fs::SeekFrom::start(0));
  std::array<char, 9> buf;
  co_await file.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "some text");
}

Async<void> open_only() {
  const Folder folder;
  auto made = co_await fs::File::create(folder / "file");
  auto file = co_await fs::File::open(folder / "file");
}

Async<void> sync_and_change() {
  const Folder folder;
  auto file = co_await fs::File::create_new(folder / "file");
  co_await file.write_all("some text");
  co_await file.sync_all();
  co_await file.sync_data();
  co_await file.set_len(4);
  EXPECT_EQ((co_await file.metadata()).len(), 4U);
  co_await file.set_permissions(fs::Permissions(0600));
}

Async<void> clone_a_file() {
  const Folder folder;
  auto file = co_await fs::File::create_new(folder / "file");
  auto clone = co_await file.try_clone();
}

Async<void> at_offsets() {
  const Folder folder;
  auto file = co_await fs::File::create_new(folder / "file");
  const std::string_view text = "some text";
  for (std::size_t done = 0; done < text.size();) {
    done += co_await file.write_at(text.substr(done), done);
  }
  std::array<char, 9> buf;
  for (std::size_t done = 0; done < buf.size();) {
    done += co_await file.read_at(std::span(buf).subspan(done), done);
  }
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), text);
}

Async<void> whole_files() {
  const Folder folder;
  co_await fs::write(folder / "file", "some text");
  EXPECT_EQ(co_await fs::copy(folder / "file", folder / "copy"), 9U);
  EXPECT_EQ(co_await fs::read_to_string(folder / "copy"), "some text");
}

Async<void> with_paths() {
  const Folder folder;
  co_await fs::create_dir(folder / "dir");
  co_await fs::write(folder / "dir/file", "some text");
  co_await fs::rename(folder / "dir/file", folder / "file");
  co_await fs::hard_link(folder / "file", folder / "hard");
  co_await fs::symlink("file", folder / "soft");
  EXPECT_EQ(co_await fs::read_link(folder / "soft"), "file");
  EXPECT_EQ((co_await fs::metadata(folder / "soft")).len(), 9U);
  EXPECT_EQ((co_await fs::symlink_metadata(folder / "soft")).file_type(), fs::FileType::symlink);
  co_await fs::set_permissions(folder / "file", fs::Permissions(0600));
  EXPECT_FALSE((co_await fs::canonicalize(folder / "soft")).empty());
  co_await fs::remove_file(folder / "hard");
  co_await fs::remove_dir(folder / "dir");
}

Async<void> set_both_times() {
  const Folder folder;
  auto file = co_await fs::File::create_new(folder / "file");
  co_await fs::set_times(file, fs::FileTimes().set_modified(fs::Metadata::Time()));
  co_await fs::set_times(folder / "file", fs::FileTimes().set_accessed(fs::Metadata::Time()));
}

Async<void> lock_and_unlock() {
  const Folder folder;
  auto file = co_await fs::File::create_new(folder / "file");
  co_await fs::lock(file);
  co_await fs::unlock(file);
}

Async<void> sync_a_folder() {
  const Folder folder;
  co_await fs::sync_dir(folder.path());
}

Async<void> build_a_tree() {
  const Folder folder;
  co_await fs::DirBuilder().recursive(true).create(folder / "a/b");
}

Async<void> watch_a_folder() {
  const Folder folder;
  fs::Watch changes = co_await fs::watch(folder.path());
  co_await fs::create_dir(folder / "new");
  const auto event = co_await changes.next();
  EXPECT_TRUE(event && event->name == "new");
}

Async<void> look_for_one() {
  const Folder folder;
  static_cast<void>(co_await fs::try_exists(folder.path()));
}

Async<void> make_a_tree() {
  const Folder folder;
  co_await fs::create_dir_all(folder / "a/b/c");
}

Async<void> remove_a_tree() {
  const Folder folder;
  co_await fs::create_dir_all(folder / "a/b/c");
  co_await fs::write(folder / "a/b/file", "some text");
  co_await fs::remove_dir_all(folder / "a");
}

Async<void> list_a_folder() {
  const Folder folder;
  for (const char* name : {"a", "b", "c"}) co_await fs::write(folder / name, "");
  auto entries = co_await fs::read_dir(folder.path());
  int count = 0;
  for (;;) {
    const auto entry = co_await entries.next_entry();
    if (!entry) break;
    ++count;
  }
  EXPECT_EQ(count, 3);
}

TEST(FaultyFile, AFileThatCannotBeOpenedIsReported) {
  Site("open", "open", open_only).retried({EINTR}).try_all();
  Site("open", "write, copy and read files", whole_files).retried({EINTR}).try_all();
  Site("fcntl(F_DUPFD_CLOEXEC)", "try_clone", clone_a_file).try_all();
}

TEST(FaultyFile, ReadingReportsItsErrors) {
  Site("read", "write and read a file", write_and_read).retried({EINTR}).try_all();
  Site("read", "write, copy and read files", whole_files).retried({EINTR}).try_all();
  Site("pread", "read_at", at_offsets).retried({EINTR}).try_all();
}

TEST(FaultyFile, WritingReportsItsErrors) {
  Site("write", "write and read a file", write_and_read).retried({EINTR}).try_all();
  Site("write", "write, copy and read files", whole_files).retried({EINTR}).try_all();
  Site("pwrite", "write_at", at_offsets).retried({EINTR}).try_all();
}

TEST(FaultyFile, OneByteAtATimeAllIsWrittenAndRead) {
  Site("read", "write and read a file", write_and_read).try_short();
  Site("write", "write and read a file", write_and_read).try_short();
  Site("read", "write, copy and read files", whole_files).try_short();
  Site("write", "write, copy and read files", whole_files).try_short();
  Site("pread", "read_at", at_offsets).try_short();
  Site("pwrite", "write_at", at_offsets).try_short();
}

TEST(FaultyFile, ASeekThatFailsIsReported) {
  Site("lseek", "write and read a file", write_and_read).try_all();
  Site("lseek", "try_clone", clone_a_file)
      .ignored({ESPIPE}, "treated as a pipe: it has no position")
      .try_all();
}

TEST(FaultyFile, WhatIsDoneWithAnOpenFileReportsItsErrors) {
  Site("fsync", "sync, change", sync_and_change).retried({EINTR}).try_all();
  Site("fdatasync", "sync, change", sync_and_change).retried({EINTR}).try_all();
  Site("ftruncate", "sync, change", sync_and_change).retried({EINTR}).try_all();
  Site("ftruncate", "write, copy and read files", whole_files).retried({EINTR}).try_all();
  Site("statx", "sync, change", sync_and_change).try_all();
  Site("statx", "write, copy and read files", whole_files).try_all();
  Site("futimens", "set_times", set_both_times).try_all();
  Site("utimensat", "set_times", set_both_times).try_all();
  Site("flock", "lock", lock_and_unlock)
      .retried({EINTR})
      .checked_by(
          [](int error, std::error_code code) {
            EXPECT_TRUE(code.value() == error || (!code && (error == EINTR || error == EAGAIN)));
          },
          "lock: tried again after a pause; unlock: reported")
      .try_all();
  Site("fchmod", "sync, change", sync_and_change).retried({EINTR}).try_all();
  Site("fchmod", "write, copy and read files", whole_files).retried({EINTR}).try_all();
  Site("close", "write, copy and read files", whole_files).ignored("closed anyway").try_all();
}

TEST(FaultyFile, WhatIsDoneWithPathsReportsItsErrors) {
  for (const char* call : {"mkdir", "rename", "link", "symlink", "readlink", "statx", "chmod",
                           "realpath", "unlink", "rmdir"}) {
    Site(call, "paths", with_paths).try_all();
  }
}

TEST(FaultyFile, WhatDoesNotExistIsNoError) {
  Site("statx", "try_exists", look_for_one).ignored({ENOENT}, "it does not exist").try_all();
}

TEST(FaultyFile, AFolderThatCannotBeSyncedOrMadeIsReported) {
  Site("open", "sync_dir", sync_a_folder).retried({EINTR}).try_all();
  Site("fsync", "sync_dir", sync_a_folder).retried({EINTR}).try_all();
  Site("mkdir", "DirBuilder", build_a_tree)
      .checked_by(
          [](int error, std::error_code code) {
            EXPECT_TRUE(code.value() == error || (!code && error == ENOENT)) << code.message();
          },
          "reported")
      .try_all();
}

TEST(FaultyFile, AFolderThatCannotBeWatchedIsReported) {
  Site("inotify_init1", "watch", watch_a_folder).try_all();
  Site("inotify_add_watch", "watch", watch_a_folder).try_all();
  Site("read", "watch", watch_a_folder).retried({EINTR}).waits({EAGAIN}).try_all();
}

TEST(FaultyFile, AWatchOfWhichNothingIsKnownIsTakenToBeThere) {
  const auto ask = [](Runtime&) {
    const Result<io::OwnedFd> fd = sys::open_watch("/");
    EXPECT_TRUE(sys::is_watching(fd.value().get()));
  };
  Site("open", "look after a watch", ask).ignored("taken to be there").try_all();
  Site("read", "look after a watch", ask).ignored("taken to be there").try_all();
}

TEST(FaultyFile, AFolderThatCannotBeReadIsReported) {
  Site("opendir", "read_dir", list_a_folder).retried({EINTR}).try_all();
  Site("readdir", "read_dir", list_a_folder).retried({EINTR}).try_all();
  Site("closedir", "read_dir", list_a_folder).ignored("closed anyway").try_all();
}

TEST(FaultyFile, ATreeThatCannotBeRemovedIsReported) {
  Site("statx", "remove_dir_all", remove_a_tree).try_all();
  // What is said to be no folder is removed as a file, and that fails. What is not there is gone.
  const auto check = [](int error, std::error_code code) {
    const bool is_no_folder = error == ELOOP || error == ENOTDIR || error == EISDIR;
    EXPECT_TRUE(code.value() == error || (is_no_folder && code) || (error == ENOENT && !code))
        << code.message();
  };
  for (const char* call : {"openat(std)", "fdopendir(std)", "unlinkat(std)"}) {
    Site(call, "remove_dir_all", remove_a_tree)
        .checked_by(check, "reported, unless it is gone already")
        .try_all();
  }
}

TEST(FaultyFile, ATreeThatCannotBeMadeIsReported) {
  Site("mkdir(std)", "create_dir_all", make_a_tree).try_all();
}

}  // namespace
}  // namespace rouse::faulty
