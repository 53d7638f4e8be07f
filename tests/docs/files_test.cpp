// The code in docs/guide/12_files_and_threads.md that is in no example.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/fs/lock.hpp>
#include <rouse/fs/watch.hpp>
#include <rouse/rouse.hpp>

namespace files_guide {

class FilesGuide : public ::testing::Test {
 protected:
  FilesGuide() {
    std::string name = (std::filesystem::temp_directory_path() / "rouse-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    dir = name;
  }
  ~FilesGuide() override { std::filesystem::remove_all(dir); }

  std::string dir;
  rouse::Runtime runtime = rouse::Runtime::builder().worker_threads(1).build();
};

// [whole]
namespace fs = rouse::fs;

rouse::Async<std::string> save_and_load(std::string dir) {
  co_await fs::create_dir_all(dir + "/settings");
  co_await fs::write(dir + "/settings/app.conf", "volume = 11\n");
  co_await fs::copy(dir + "/settings/app.conf", dir + "/settings/backup.conf");
  co_return co_await fs::read_to_string(dir + "/settings/backup.conf");
}
// [/whole]

TEST_F(FilesGuide, WholeFiles) { EXPECT_EQ(runtime.block_on(save_and_load(dir)), "volume = 11\n"); }

// [errors]
rouse::Async<std::string> load_or_default(std::string path) {
  rouse::Result<std::string> text = co_await fs::read_to_string(path).result();
  if (text) co_return *std::move(text);
  if (text.error() == std::errc::no_such_file_or_directory) co_return "volume = 5\n";
  throw std::system_error(text.error(), path);
}
// [/errors]

TEST_F(FilesGuide, Errors) {
  EXPECT_EQ(runtime.block_on(load_or_default(dir + "/none")), "volume = 5\n");
  EXPECT_THROW(runtime.block_on(load_or_default(dir)), std::system_error);
}

// [file]
rouse::Async<std::string> last_line_of_a_log(std::string path) {
  fs::File log = co_await fs::OpenOptions().read().append().create().open(path);
  co_await log.write("started\n");
  co_await log.write("stopped\n");
  co_await log.flush();  // an error of the last write would be told here

  co_await log.seek(fs::SeekFrom::end(-8));
  std::array<char, 100> buf;
  const std::size_t n = co_await log.read(buf);
  co_return std::string(buf.data(), n);
}
// [/file]

TEST_F(FilesGuide, File) {
  EXPECT_EQ(runtime.block_on(last_line_of_a_log(dir + "/log")), "stopped\n");
}

// [into-fd]
rouse::Async<void> log_of_a_program(std::string path) {
  fs::File log = co_await fs::File::create(path);
  co_await log.write_all("begin\n");
  auto program = rouse::process::Command("echo").arg("hello");
  program.stdout_(rouse::process::Stdio::from(co_await std::move(log).into_fd()));
  co_await program.status();
}
// [/into-fd]

// [lock]
rouse::Async<bool> is_the_only_one(std::string path, fs::File& kept) {
  kept = co_await fs::OpenOptions().write().create().open(path);
  co_return co_await fs::try_lock(kept);  // until `kept` is dropped
}
// [/lock]

TEST_F(FilesGuide, DescriptorsAndLocks) {
  const std::string path = dir + "/log";
  runtime.block_on(log_of_a_program(path));
  EXPECT_EQ(runtime.block_on(fs::read_to_string(path)), "begin\nhello\n");
  auto first = runtime.block_on(fs::File::open(path));
  auto second = runtime.block_on(fs::File::open(path));
  EXPECT_TRUE(runtime.block_on(is_the_only_one(path, first)));
  EXPECT_FALSE(runtime.block_on(is_the_only_one(path, second)));
}

// [watch]
rouse::Async<std::string> next_config(fs::Watch changes) {
  while (auto event = co_await changes.next()) {
    const bool is_new =
        event->kind == fs::WatchKind::written || event->kind == fs::WatchKind::moved_to;
    if (is_new && event->name.ends_with(".conf")) co_return event->name;
  }
  co_return "";  // the directory was removed
}
// [/watch]

TEST_F(FilesGuide, Watch) {
  auto changes = runtime.block_on(fs::watch(dir));
  auto next = runtime.spawn(next_config, std::move(changes));
  runtime.block_on(fs::write(dir + "/app.conf", "volume = 11"));
  EXPECT_EQ(runtime.block_on(std::move(next)), "app.conf");
}

// [directory]
rouse::Async<std::uint64_t> size_of_files(std::string dir) {
  std::uint64_t size = 0;
  fs::ReadDir entries = co_await fs::read_dir(dir);
  while (auto entry = co_await entries.next_entry()) {
    const fs::Metadata metadata = co_await entry->metadata();
    if (metadata.is_file()) size += metadata.len();
  }
  co_return size;
}
// [/directory]

TEST_F(FilesGuide, Directory) {
  runtime.block_on(fs::write(dir + "/a", "123"));
  runtime.block_on(fs::write(dir + "/b", "4567"));
  EXPECT_EQ(runtime.block_on(size_of_files(dir)), 7U);
}

// [lookup]
namespace net = rouse::net;

rouse::Async<bool> is_this_machine(std::string host) {
  const std::vector<net::SocketAddr> found = co_await net::lookup_host({host, 80});
  co_return found.front().ip().is_loopback();
}
// [/lookup]

TEST_F(FilesGuide, Lookup) {
  EXPECT_TRUE(runtime.block_on(is_this_machine("localhost")));
  EXPECT_TRUE(runtime.block_on(is_this_machine("::1")));
  EXPECT_FALSE(runtime.block_on(is_this_machine("192.0.2.1")));
}

// [thread]
int count_down(int from) {  // blocks, for as long as it likes
  while (from > 0) --from;
  return from;
}

rouse::Async<int> wait_for_a_thread() {
  auto thread = rouse::thread::Builder().name("counter").spawn(count_down, 1000);
  co_return co_await thread.join();
}
// [/thread]

TEST_F(FilesGuide, Thread) { EXPECT_EQ(runtime.block_on(wait_for_a_thread()), 0); }

}  // namespace files_guide
