// What the tests of fs share: a directory that goes with the test, and a runtime whose blocking
// threads can be held.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/enter_guard.hpp"
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
        .spawn_blocking([holding = holding_] {
          holding->begun.release();
          holding->may_end.acquire();
        })
        .detach();
    holding_->begun.acquire();
  }
  /// Without waiting.
  void let_go() { holding_->may_end.release(); }
  void release() {
    let_go();
    settle();
  }
  /// drop_at_each_poll, where nothing that a first poll starts ends before the second.
  template <class Make, class After>
  testing::DropReport drop_at_each_poll(Make make, After after) {
    bool is_held = false;
    const auto go_on = [&](std::size_t) { std::exchange(is_held, false) ? release() : settle(); };
    return testing::drop_at_each_poll(
        [&] {
          hold();
          is_held = true;
          return make();
        },
        go_on,
        [&](std::size_t k) {
          go_on(k);
          after(k);
        });
  }

  TempDir dir;
  Runtime runtime = Runtime::builder().worker_threads(1).max_blocking_threads(1).build();
  EnterGuard enter = runtime.enter();  // futures may be polled by hand on this thread

 private:
  /// Belongs to the held call, too, which may outlive the test.
  struct Holding {
    std::binary_semaphore begun{0};
    std::binary_semaphore may_end{0};
  };
  std::shared_ptr<Holding> holding_ = std::make_shared<Holding>();
};

}  // namespace rouse::fs
