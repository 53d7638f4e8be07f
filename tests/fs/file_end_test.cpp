// What becomes of a File's writes when the runtime ends.
#include <fcntl.h>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <sys/stat.h>

#include "rouse/exec/blocking_pool.hpp"
#include "rouse/fs/file.hpp"
#include "rouse/io/owned_fd.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "fs/fs_support.hpp"

namespace rouse::fs {
namespace {

/// The one blocking thread of a runtime is busy until the runtime, while it ends, cancels what
/// waits for that thread: so what else waits has not begun by then.
class HeldUntilTheEnd {
 public:
  explicit HeldUntilTheEnd(Runtime& runtime) {
    runtime
        .spawn_blocking([held = held_] {
          held->begun.release();
          held->cancelled.acquire();
        })
        .detach();
    held_->begun.acquire();
    const auto release = [](Held* held) { held->cancelled.release(); };
    const auto keep = held_;
    runtime
        .spawn_blocking([keep, told = std::unique_ptr<Held, decltype(release)>(held_.get())] {
          ADD_FAILURE() << "the runtime ends: this must be cancelled";
        })
        .detach();
  }

 private:
  struct Held {
    std::binary_semaphore begun{0};
    std::binary_semaphore cancelled{0};
  };
  std::shared_ptr<Held> held_ = std::make_shared<Held>();
};

class FileEndTest : public ::testing::TestWithParam<bool> {
 protected:
  static Runtime make_runtime() {
    RuntimeBuilder builder = Runtime::builder();
    if (GetParam()) {
      builder.current_thread();
    } else {
      builder.worker_threads(2);
    }
    return builder.max_blocking_threads(1).build();
  }
  File open(const std::string& path) {
    return runtime->block_on(OpenOptions().write().create().open(path));
  }
  void write(File& file) { runtime->block_on(file.write_all("taken")); }

  TempDir dir;
  std::optional<Runtime> runtime = make_runtime();
};

TEST_P(FileEndTest, AWriteThatWasTakenIsDoneBeforeTheRuntimeIsGone) {
  {
    File file = open(dir / "f");
    const HeldUntilTheEnd held(*runtime);
    write(file);
  }
  runtime.reset();
  EXPECT_EQ(contents_of(dir / "f"), "taken");
}

TEST_P(FileEndTest, AShutdownThatHasTimeWaitsForTheWrite) {
  File file = open(dir / "f");
  const HeldUntilTheEnd held(*runtime);
  write(file);
  EXPECT_TRUE(runtime->shutdown_timeout(std::chrono::hours(1)));
  EXPECT_EQ(contents_of(dir / "f"), "taken");
}

TEST_P(FileEndTest, AShutdownInTheBackgroundLeavesTheWriteToThePool) {
  const std::string path = dir / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const io::OwnedFd reader(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  File file = open(path);
  const HeldUntilTheEnd held(*runtime);
  write(file);
  runtime->shutdown_background();
  std::string text(5, '\0');
  ASSERT_EQ(::read(reader.get(), text.data(), text.size()), 5);  // waits for it
  EXPECT_EQ(text, "taken");
}

TEST_P(FileEndTest, AFileThatOutlivesItsRuntimeTakesNoMoreBytes) {
  File file = open(dir / "f");
  const EnterGuard inside = runtime->enter();
  runtime->shutdown_background();
  testing::PollHarness write(file.write("late").result());
  auto polled = write.poll();
  ASSERT_TRUE(polled.is_ready());
  ASSERT_FALSE(polled.value());
  EXPECT_EQ(polled.value().error(), std::errc::operation_canceled);
  EXPECT_EQ(contents_of(dir / "f"), "");
}

INSTANTIATE_TEST_SUITE_P(, FileEndTest, ::testing::Bool(), [](const auto& with) {
  return with.param ? "CurrentThread" : "TwoWorkers";
});

}  // namespace
}  // namespace rouse::fs
