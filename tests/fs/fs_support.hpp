// What the tests of fs share: a directory that goes with the test, and a runtime whose blocking
// threads can be held.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/enter.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

namespace rouse::fs {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "rouse-fs-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + '/' + std::string(name);
  }

 private:
  std::string path_;
};

inline std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void put(const std::string& path, std::string_view contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

/// One blocking thread, so that calls end in the order in which they were made.
class FsTest : public ::testing::Test {
 protected:
  template <class Fn>
  void run(Fn fn) {
    runtime.block_on(fn());
  }
  /// Returns when every blocking call so far has ended.
  void settle() {
    runtime.block_on(runtime.spawn_blocking([] {}));
  }

  /// Calls made from here on wait for `release`.
  void hold() {
    runtime
        .spawn_blocking([this] {
          held.release();
          go_on.acquire();
        })
        .detach();
    held.acquire();
  }
  void release() {
    go_on.release();
    settle();
  }
  /// drop_at_each_poll, where nothing that a first poll starts ends before the second.
  template <class Make, class After>
  testing::DropReport drop_at_each_poll(Make make, After after) {
    bool is_held = false;
    const auto let_go = [&](std::size_t) { std::exchange(is_held, false) ? release() : settle(); };
    return testing::drop_at_each_poll(
        [&] {
          hold();
          is_held = true;
          return make();
        },
        let_go,
        [&](std::size_t k) {
          let_go(k);
          after(k);
        });
  }

  TempDir dir;
  std::binary_semaphore held{0};
  std::binary_semaphore go_on{0};
  Runtime runtime = Runtime::builder().worker_threads(1).max_blocking_threads(1).build();
  Enter enter = runtime.enter();  // futures may be polled by hand on this thread
};

}  // namespace rouse::fs
