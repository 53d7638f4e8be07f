// What the tests against other programs share: skipping where they are missing, a runtime, HTTP.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/rouse.hpp"

#include "support/program.hpp"

namespace rouse::test {

/// A test with a runtime of two workers.
class Counterpart : public ::testing::Test {
 protected:
  /// Skips the test if the program is not there; empty then.
  static std::string program(const char* name) {
    std::string found = find_program(name);
    if (found.empty()) skip(std::string(name) + " is not installed");
    return found;
  }
  static std::string built_example(const char* name) {
    std::string found = example(name);
    if (found.empty()) skip(std::string("the example ") + name + " is not built");
    return found;
  }
  /// Runs a future to its end, which comes in time or is a failure.
  template <class F>
  auto run(F future) {
    return rt.block_on(timeout(patience, std::move(future)));
  }

  Runtime rt = Runtime::builder().worker_threads(2).build();

 private:
  static void skip(const std::string& why) { GTEST_SKIP() << why; }
};

inline std::string text_of(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// A connection whose answers are read by lines and by sizes.
class Client {
 public:
  explicit Client(net::TcpStream connected) : stream(std::move(connected)), reader(stream) {
    stream.set_nodelay(true);
  }
  Client(Client&&) = delete;

  /// The next line without its end. Throws std::runtime_error at the end of the stream.
  Async<std::string> line() {
    std::string line;
    co_await reader.read_line(line);
    if (!line.ends_with('\n')) throw std::runtime_error("the stream ended within '" + line + "'");
    line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    co_return line;
  }
  Async<std::string> bytes(std::size_t size) {
    std::string bytes(size, '\0');
    co_await reader.read_exact(bytes);
    co_return bytes;
  }

  net::TcpStream stream;
  io::BufReader<net::TcpStream&> reader;
};

}  // namespace rouse::test
