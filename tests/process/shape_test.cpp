// What waits for a process, or for its pipes, as a dump sees it.
#include <array>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/process/child.hpp"
#include "rouse/process/command.hpp"

#include "process/support.hpp"
#include "support/shape_text.hpp"

namespace rouse::process {
namespace {

using test::ShapeText;

class ProcessShape : public test::ProcessTest {
 protected:
  /// A child that neither reads nor writes.
  static Child idle() {
    return Command("sleep")
        .arg("1000")
        .stdin_(Stdio::piped())
        .stdout_(Stdio::piped())
        .stderr_(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
  }
  template <class F>
  static ShapeText shape(F& future) {
    Context cx(Waker::noop());
    EXPECT_TRUE(future.poll(cx).is_pending());
    return ShapeText(future);
  }
  static bool is_pipe(int fd) {
    struct stat status{};
    return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
  }
  /// The number of the process that a pidfd is of; 0: it is none.
  static int process_of(int fd) {
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(fd));
    for (std::string word; info >> word;) {
      int pid = 0;
      if (word == "Pid:" && info >> pid) return pid;
    }
    return 0;
  }

  const std::string more_than_fits = std::string(std::size_t{1} << 20U, 'x');
};
INSTANTIATE_TEST_SUITE_P(Runtimes, ProcessShape, ::testing::Bool(), test::runtime_name);

TEST_P(ProcessShape, AWaitNamesTheDescriptorOfTheProcess) {
  Child child = idle();
  auto waiting = child.wait();
  const ShapeText wait = shape(waiting);
  EXPECT_EQ(wait.text(), "process(descriptor)");
  EXPECT_EQ(wait.kind(0), sight::Wait::descriptor);
  EXPECT_EQ(process_of(wait.field<int>(0)), child.id());
  EXPECT_FALSE(rt.block_on(child.kill()).success());
}

TEST_P(ProcessShape, ThePipesOfAChildNameTheirDescriptors) {
  Child child = idle();
  std::array<char, 4> buf{};
  auto reading = child.stdout_->read(buf);
  const ShapeText read = shape(reading);
  EXPECT_EQ(read.text(), "read(descriptor)");
  EXPECT_TRUE(is_pipe(read.field<int>(0)));
  auto writing = child.stdin_->write_all(more_than_fits);
  const ShapeText write = shape(writing);
  EXPECT_EQ(write.text(), "write_all(descriptor)");
  EXPECT_TRUE(is_pipe(write.field<int>(0)));
  EXPECT_NE(write.field<int>(0), read.field<int>(0));
}

TEST_P(ProcessShape, AConversationWaitsForAllItsPipes) {
  auto output = idle().wait_with_output(more_than_fits);
  EXPECT_EQ(shape(output).text(),
            "communicate(write_all(descriptor), read_to_end(descriptor), read_to_end(descriptor)) "
            "@1");
  auto silent = idle().wait_with_output();
  EXPECT_EQ(shape(silent).text(),
            "communicate(read_to_end(descriptor), read_to_end(descriptor)) @1");
}

}  // namespace
}  // namespace rouse::process
