// The code in docs/guide/21_websocket.md.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/http.hpp>
#include <rouse/rouse.hpp>

namespace web_socket_guide {

using namespace std::chrono_literals;
namespace http = rouse::http;
namespace io = rouse::io;
namespace ws = rouse::ws;

// [echo]
rouse::Async<void> echo(ws::Socket peer) {
  while (auto message = co_await peer.recv()) co_await peer.send(*std::move(message));
}  // nothing: the closing handshake is done

rouse::Async<http::Response> chat(http::Request& request) {
  co_return http::upgrade(request, echo);
}
// [/echo]

// [options]
rouse::Async<http::Response> feed(http::Request& request) {
  ws::UpgradeOptions options;
  options.protocols = {"feed.v2", "feed.v1"};  // the best first
  options.allows_origin = [](std::string_view origin, const http::Request&) {
    return origin == "https://app.example.org";
  };
  options.limits.max_message = 64 * 1024;
  options.limits.ping_interval = 10s;
  co_return http::upgrade(request, echo, std::move(options));
}
// [/options]

// [split]
rouse::Async<void> count_down(ws::Sender to) {
  for (int left = 3; left > 0; --left) {
    co_await to.send(std::to_string(left));
    co_await rouse::sleep(1s);
  }
  co_await to.close(ws::CloseCode::normal, "done");
}

rouse::Async<void> ticker(ws::Socket peer) {
  auto [receiver, sender] = std::move(peer).split();
  auto counting = rouse::spawn(count_down, std::move(sender));
  while (auto message = co_await receiver.recv()) {
    // Pings are answered here, too.
  }
  co_await std::move(counting);
}
// [/split]

// [errors]
rouse::Async<std::string> last_words(ws::Socket peer) {
  for (;;) {
    auto message = co_await peer.recv().result();
    if (!message) co_return "lost: " + message.error().message();
    if (!*message) co_return "closed: " + peer.peer_close().reason;
  }
}
// [/errors]

// [test]
rouse::Async<ws::Socket> connect_to(http::Handler handler) {
  auto [client, server] = io::duplex(4096);
  rouse::spawn(http::serve_connection(std::move(server), std::move(handler))).detach();
  co_return co_await ws::connect(std::move(client), "example.org", "/");
}
// [/test]

template <class Fn>
void run_paused(Fn&& fn) {
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().start_paused().build();
  rt.block_on(fn());
}

TEST(WebSocketGuide, EchoesAndCloses) {
  run_paused([]() -> rouse::Async<void> {
    for (auto* handler : {&chat, &feed}) {
      ws::Socket peer = co_await connect_to(*handler);
      co_await peer.send("hello");
      const auto answer = co_await peer.recv();
      EXPECT_EQ(answer->text(), "hello");
      co_await peer.close();
    }
  });
}

TEST(WebSocketGuide, SendsAndReceivesInTwoTasks) {
  run_paused([]() -> rouse::Async<void> {
    const auto tick = [](http::Request& request) -> rouse::Async<http::Response> {
      co_return http::upgrade(request, ticker);
    };
    ws::Socket peer = co_await connect_to(tick);
    for (const char* left : {"3", "2", "1"}) {
      const auto message = co_await peer.recv();
      EXPECT_EQ(message->text(), left);
    }
    const std::string said = co_await last_words(std::move(peer));
    EXPECT_EQ(said, "closed: done");
  });
}

}  // namespace web_socket_guide
