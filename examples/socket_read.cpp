// Futures over sockets, and futures over futures, written by hand: SocketRead waits if there is
// nothing to read, Join runs two futures at once, AndThen starts a second when the first is done.
// There is one thread: the executor itself sleeps in epoll_wait (support/io_park.hpp).
// rouse has the last two ready-made, as `join` and `and_then`.
// After the Rust async book ("The Future trait", "Executors and system IO"), which rouse began
// from.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

#include "support/io_park.hpp"
#include "support/socket.hpp"

namespace {

// [socket_read]
class SocketRead {
 public:
  using Output = std::string;

  explicit SocketRead(Socket& socket) : socket_(socket) {}
  SocketRead(SocketRead&&) = default;
  ~SocketRead() {
    if (waits_) socket_.drop_readable_callback();
  }

  rouse::Poll<std::string> poll(rouse::Context& cx) {
    auto text = socket_.try_read();
    if (waits_ = !text; waits_) {
      std::printf("%s: nothing to read yet\n", socket_.name());
      socket_.set_readable_callback(cx.waker());
      return rouse::pending;
    }
    std::printf("%s: read \"%s\"\n", socket_.name(), text->c_str());
    return rouse::Poll<std::string>::ready(*std::move(text));
  }

 private:
  Socket& socket_;
  bool waits_ = false;
};
// [/socket_read]

// [join]
/// Both at once. A future that is done is not polled again: its output takes its place.
template <rouse::Future A, rouse::Future B>
class Join {
 public:
  using Output = std::pair<rouse::output_t<A>, rouse::output_t<B>>;

  Join(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}

  rouse::Poll<Output> poll(rouse::Context& cx) {
    if (a_output_.is_pending()) a_output_ = a_.poll(cx);
    if (b_output_.is_pending()) b_output_ = b_.poll(cx);
    if (a_output_.is_pending() || b_output_.is_pending()) return rouse::pending;
    return rouse::Poll<Output>::ready(
        Output(std::move(a_output_).value(), std::move(b_output_).value()));
  }

 private:
  A a_;
  B b_;
  rouse::Poll<rouse::output_t<A>> a_output_ = rouse::pending;
  rouse::Poll<rouse::output_t<B>> b_output_ = rouse::pending;
};
// [/join]

/// One after the other: `then` makes the second future of what the first gave.
template <rouse::Future First, class Then>
class AndThen {
  using Second = std::invoke_result_t<Then, rouse::output_t<First>>;

 public:
  using Output = rouse::output_t<Second>;

  AndThen(First first, Then then) : first_(std::move(first)), then_(std::move(then)) {}

  rouse::Poll<Output> poll(rouse::Context& cx) {
    if (!second_) {
      auto output = first_.poll(cx);
      if (output.is_pending()) return rouse::pending;
      second_.emplace(then_(std::move(output).value()));
    }
    return second_->poll(cx);
  }

 private:
  First first_;
  Then then_;
  std::optional<Second> second_;
};

rouse::Async<void> answer(Socket socket) {
  const std::string text = co_await SocketRead(socket);
  socket.write("you said " + text);
}

}  // namespace

int main() {
  IoPark park;
  auto [left, left_peer] = Socket::connected(park, "left", "left peer");
  auto [right, right_peer] = Socket::connected(park, "right", "right peer");
  auto [client, server] = Socket::connected(park, "client", "server");
  rouse::LocalExecutor executor(park);

  const auto ask = [&socket = client](const std::pair<std::string, std::string>& words) {
    socket.write(words.first + " " + words.second);
    return SocketRead(socket);
  };
  executor.spawn(AndThen(Join(SocketRead(left), SocketRead(right)), ask)).detach();
  executor.spawn(answer, std::move(server)).detach();
  const auto send = [&l = left_peer, &r = right_peer] { l.write("hello"), r.write("world"); };
  executor.spawn(rouse::lazy(send)).detach();
  executor.run();
}
