// Inspected: an inspector that runs when the test says so, by a clock that the test sets. Its
// clients are plain sockets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/io/owned_fd.hpp"
#include "rouse/sight/options.hpp"

#include "sight/duty.hpp"
#include "sight/inspector.hpp"
#include "support/program.hpp"
#include "sys/address.hpp"
#include "sys/poller.hpp"

namespace rouse::test {

/// A client that never waits.
class InspectorClient {
 public:
  explicit InspectorClient(const sys::NativeAddress& address)
      : fd_(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::connect(fd_.get(), address.data(), address.size), 0);
  }
  void send(std::string_view bytes) const { EXPECT_TRUE(try_send(bytes)); }
  [[nodiscard]] bool try_send(std::string_view bytes) const {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(bytes.size());
  }
  /// What has come. `is_over` is set at the end of the stream, and when it was cut off.
  std::string take(std::size_t most = 1 << 20) {
    std::string text;
    while (text.size() < most) {
      char bytes[65536];
      const ssize_t count =
          ::recv(fd_.get(), bytes, std::min(sizeof bytes, most - text.size()), MSG_DONTWAIT);
      if (count > 0) {
        text.append(bytes, static_cast<std::size_t>(count));
        continue;
      }
      is_over_ = count == 0 || (errno != EAGAIN && errno != EINTR);
      break;
    }
    return text;
  }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  void close() { fd_ = io::OwnedFd(); }

 private:
  io::OwnedFd fd_;
  bool is_over_ = false;
};

class Inspected {
 public:
  explicit Inspected(const sight::Options& options)
      : poller_(*sys::Poller::make()), inspector_(options, sight::Watch(*poller_, 0), now) {}
  Inspected() : Inspected(sight::Options().socket(directory().file("sight"))) {}

  /// A directory of the test's own.
  static TempDirectory& directory() {
    static TempDirectory made;
    return made;
  }

  [[nodiscard]] const sight::Inspector& inspector() const noexcept { return inspector_; }
  /// Looks, and tells of events, until there is nothing to do at this time.
  void turn() {
    for (;;) {
      look();
      if (!hear()) return;
    }
  }
  /// Tells of events. False: there is none.
  bool hear() {
    const auto events = poller_->wait(std::chrono::nanoseconds(0));
    for (const sys::Event& event : events) {
      inspector_.ready(static_cast<std::uint32_t>(event.token), event.ready);
    }
    return !events.empty();
  }
  void look() { next_ = inspector_.look(); }
  /// When it wants to be asked again, after a turn or a look.
  [[nodiscard]] std::chrono::nanoseconds next() const noexcept { return next_; }
  static void pass(std::chrono::nanoseconds time) {
    time_ += static_cast<std::uint64_t>(time.count());
  }
  /// So long takes what the inspector does after it has looked at the clock the next time.
  static void pass_after_next_look_at_clock(std::chrono::nanoseconds time) {
    after_next_look_ = static_cast<std::uint64_t>(time.count());
  }

  [[nodiscard]] InspectorClient connect() const {
    return InspectorClient(*sys::unix_address(inspector_.socket_path()));
  }
  [[nodiscard]] InspectorClient connect_by_tcp() const {
    return InspectorClient(sys::loopback_address(port()));
  }
  [[nodiscard]] std::uint16_t port() const {
    const std::string url = inspector_.url();
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
  }
  [[nodiscard]] std::string token() const {
    return inspector_.url().substr(inspector_.url().find('#') + 1);
  }

  /// All of an answer; what loopback is slow with is waited for.
  std::string read(InspectorClient& client) {
    std::string text;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!client.is_over() && std::chrono::steady_clock::now() < until) {
      turn();
      text += client.take();
    }
    EXPECT_TRUE(client.is_over()) << "no end after: " << text;
    return text;
  }
  std::string ask(std::string_view request) {
    InspectorClient client = connect();
    client.send(request);
    return read(client);
  }
  std::string ask_by_tcp(std::string_view request) {
    InspectorClient client = connect_by_tcp();
    client.send(request);
    return read(client);
  }

 private:
  static std::uint64_t now() noexcept {
    return std::exchange(time_, time_ + std::exchange(after_next_look_, 0));
  }
  static inline std::uint64_t time_ = 1'000'000'000;
  static inline std::uint64_t after_next_look_ = 0;

  std::unique_ptr<sys::Poller> poller_;
  sight::Inspector inspector_;
  std::chrono::nanoseconds next_{};
};

inline std::string get(std::string_view target, std::string_view more = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more) +
         "\r\n";
}
/// 0: it is no answer.
inline int status_of(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.1 ")) return 0;
  return std::stoi(std::string(answer.substr(9, 3)));
}
inline std::string body_of(std::string_view answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return std::string(answer.substr(end == std::string_view::npos ? answer.size() : end + 4));
}
/// The value of a field; empty: it is not there.
inline std::string field_of(std::string_view answer, const std::string& name) {
  const std::string_view head = answer.substr(0, answer.find("\r\n\r\n") + 2);
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return std::string(head.substr(begin, head.find("\r\n", begin) - begin));
}

}  // namespace rouse::test
