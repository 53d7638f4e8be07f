// The code in docs/guide/05_blocking.md that is in no example.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace blocking_guide {

// [call]
std::size_t size_of(const std::string& path) {
  std::ifstream file(path);  // waits for the disk
  if (!file) throw std::runtime_error("no such file: " + path);
  return std::string(std::istreambuf_iterator<char>(file), {}).size();
}

rouse::Async<std::size_t> size_of_both(std::string first, std::string second) {
  auto one = rouse::spawn_blocking(size_of, first);     // both wait
  auto other = rouse::spawn_blocking(size_of, second);  // at the same time
  const std::size_t size = co_await one;
  co_return size + co_await other;
}
// [/call]

TEST(BlockingGuide, OnARuntime) {
  const std::string path = ::testing::TempDir() + "rouse_blocking_guide";
  std::ofstream(path) << "12345";
  const auto clean_up = [](const std::string* file) { std::remove(file->c_str()); };
  const std::unique_ptr<const std::string, decltype(clean_up)> removed(&path, clean_up);
  // [runtime]
  rouse::Runtime rt;
  EXPECT_EQ(rt.block_on(size_of_both(path, path)), 10U);

  auto size = rt.spawn_blocking(size_of, path);  // outside of tasks
  EXPECT_EQ(rouse::block_on(size), 5U);
  // [/runtime]
}

// [in_place]
class Log {
 public:
  rouse::Async<void> write_down(std::string line) {
    co_await rouse::yield_now();
    lines_ += line;
    rouse::block_in_place([&] { flush(); });  // the other tasks go on elsewhere
  }

  const std::string& flushed() const { return flushed_; }

 private:
  void flush() { flushed_ = lines_; }  // stands for a call that blocks

  std::string lines_;
  std::string flushed_;
};
// [/in_place]

TEST(BlockingGuide, InPlace) {
  rouse::Runtime rt;
  Log log;
  rt.block_on(log.write_down("started"));
  EXPECT_EQ(log.flushed(), "started");
}

TEST(BlockingGuide, APoolOfOnesOwn) {
  // [pool]
  rouse::BlockingOptions options;
  options.max_threads = 4;
  options.queue_capacity = 100;
  options.thread_name = "files";
  rouse::BlockingPool pool(options);

  auto handle = pool.spawn(size_of, "/no/such/file");
  EXPECT_THROW(rouse::block_on(handle), std::runtime_error);

  pool.close();
  EXPECT_TRUE(pool.wait());
  // [/pool]
}

TEST(BlockingGuide, TooMuch) {
  rouse::BlockingOptions options;
  options.queue_capacity = 0;
  options.max_threads = 1;
  rouse::BlockingPool pool(options);
  // [full]
  const auto is_refused = [](rouse::JoinHandle<int> call) {
    try {
      rouse::block_on(call);
      return false;
    } catch (const std::system_error& error) {
      return error.code() == std::errc::resource_unavailable_try_again;
    }
  };
  // [/full]
  std::latch end(1);
  auto busy = pool.spawn([&end] {
    end.wait();
    return 1;
  });
  EXPECT_TRUE(is_refused(pool.spawn([] { return 2; })));
  end.count_down();
  EXPECT_FALSE(is_refused(std::move(busy)));
  pool.close();
  EXPECT_TRUE(pool.wait());
}

}  // namespace blocking_guide
