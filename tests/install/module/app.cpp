// A program that imports rouse, with standard headers before and behind: tasks, select, a timer,
// TCP, and a channel to a coroutine of a file that includes rouse instead.
#include <array>
#include <string>

import rouse;

#include <chrono>
#include <utility>
#include <variant>

using namespace std::chrono_literals;

rouse::Async<int> sum_of(rouse::sync::Receiver<int> numbers);

namespace {

rouse::Async<void> serve(rouse::net::TcpListener listener) {
  auto [peer, address] = co_await listener.accept();
  std::array<char, 64> buffer;
  while (auto n = co_await peer.read(buffer)) co_await peer.write_all({buffer.data(), n});
}

rouse::Async<bool> echoes() {
  auto listener = co_await rouse::net::TcpListener::bind("127.0.0.1:0");
  auto address = listener.local_addr();
  auto server = rouse::spawn(serve, std::move(listener));
  auto stream = co_await rouse::net::TcpStream::connect(address);
  co_await stream.write_all("hello");
  co_await stream.shutdown();
  auto reply = co_await stream.read_to_string();
  co_await std::move(server);
  co_return reply == "hello";
}

rouse::Async<void> count_to(int last, rouse::sync::Sender<int> sender) {
  for (int i = 1; i <= last; ++i) (void)co_await sender.send(i);
}

rouse::Async<bool> sums() {
  auto [sender, receiver] = rouse::sync::channel<int>(1);
  auto sum = rouse::spawn(sum_of, std::move(receiver));
  co_await count_to(3, std::move(sender));
  co_return co_await std::move(sum) == 6;
}

rouse::Async<bool> times_out() {
  auto first = co_await rouse::select(rouse::pending_forever(), rouse::sleep(1ms));
  auto late = co_await rouse::timeout(1ms, rouse::pending_forever()).result();
  co_return first.index() == 1 && !late;
}

rouse::Async<int> async_main() {
  auto [a, b, c] = co_await rouse::join(echoes(), sums(), times_out());
  co_return (a && b && c) ? 0 : 1;
}

}  // namespace

int main() { return rouse::run(async_main); }
