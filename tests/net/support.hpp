// What the tests of sockets share: both kinds of runtimes, descriptors counted, names for sockets.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"

namespace rouse::net {

enum class On { current_thread, two_workers };

inline std::string name_of(const ::testing::TestParamInfo<On>& info) {
  return info.param == On::current_thread ? "CurrentThread" : "TwoWorkers";
}
inline auto both_kinds() { return ::testing::Values(On::current_thread, On::two_workers); }

inline Runtime make_runtime(On kind) {
  if (kind == On::current_thread) return Runtime::builder().current_thread().build();
  return Runtime::builder().worker_threads(2).build();
}

/// An address of loopback that no other process has: who frees a port of it finds it free again.
inline std::string own_loopback() {
  const auto id = static_cast<unsigned>(::getpid());
  return "127." + std::to_string(1 + (id >> 16) % 254) + "." + std::to_string((id >> 8) % 256) +
         "." + std::to_string(id % 256) + ":0";
}

/// A test that runs once on each kind of runtime.
class OnRuntime : public ::testing::TestWithParam<On> {
 protected:
  /// Runs a coroutine function to its end.
  template <class Fn>
  auto run(Fn&& fn) {
    return rt.block_on(fn());
  }
  Runtime rt = make_runtime(GetParam());
};

/// Descriptors that are open now.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    (void)entry;
    ++count;
  }
  return count;
}

/// While it lives no descriptor has a number of `limit` or more.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t limit) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit lower = before_;
    lower.rlim_cur = limit;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

/// A name for an abstract Unix socket that nobody else has.
inline std::string abstract_name() {
  static std::atomic<int> next{0};
  return "@rouse-test-" + std::to_string(::getpid()) + '-' + std::to_string(next++);
}

/// A directory for sockets that is removed at the end.
class SocketDirectory {
 public:
  SocketDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rouse-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;
  ~SocketDirectory() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct TcpPair {
  TcpPair(TcpStream one, TcpStream other) noexcept
      : client(std::move(one)), server(std::move(other)) {}
  TcpStream client;
  TcpStream server;
};

/// Two ends of one connection.
inline Async<TcpPair> tcp_pair(std::string at = "127.0.0.1:0") {
  auto listener = co_await TcpListener::bind(at);
  auto client = co_await TcpStream::connect(listener.local_addr());
  auto accepted = co_await listener.accept();
  co_return TcpPair(std::move(client), std::move(accepted.stream));
}

inline std::string_view text_of(const auto& buf, std::size_t size) {
  return std::string_view(reinterpret_cast<const char*>(buf.data()), size);
}

/// `receive()` reads into `buf`, whose first byte it is, what `send` has sent by when it returns.
template <class Send, class Receive, class Buf>
testing::DropReport drop_receive_at_each_poll(Runtime& rt, Buf& buf, Send send, Receive receive) {
  return testing::drop_at_each_poll([&] { return receive(); }, [&](std::size_t) { send("b"); },
                                    [&](std::size_t k) {
                                      if (k == 2) {
                                        EXPECT_EQ(buf[0], 'b');
                                        return;
                                      }
                                      send("a");
                                      EXPECT_EQ(rt.block_on(receive()), 1U);
                                      EXPECT_EQ(buf[0], 'a');
                                    });
}

}  // namespace rouse::net
