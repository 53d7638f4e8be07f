// A chat room over WebSocket. With an address it serves a page for browsers there, until Ctrl-C.
// Without one, two clients of its own talk.
// usage: ws_chat [ADDRESS]
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include <rouse/http.hpp>
#include <rouse/rouse.hpp>

namespace {

namespace http = rouse::http;
namespace ws = rouse::ws;
using Room = rouse::sync::BroadcastSender<std::string>;

// [room]
rouse::Async<void> converse(ws::Socket peer, Room room) {
  auto inbox = room.subscribe();
  co_await peer.send("* welcome");
  bool stays = true;
  const auto talk = [&](const std::optional<ws::Message>& message) {
    stays = message.has_value();
    if (stays) (void)room.send(message->text());
  };
  // NOLINTNEXTLINE(*-avoid-capturing-lambda-coroutines): `hear` outlives the select
  const auto hear = [&](auto line) -> rouse::Async<void> { co_await peer.send(*line); };
  while (stays) {
    // Whichever comes first. The other one loses nothing: it is asked again in the next round.
    co_await rouse::select(rouse::on(peer.recv(), talk), rouse::on(inbox.recv(), hear));
  }
}
// [/room]

constexpr const char* page = R"(<!doctype html><title>chat</title><pre id=log></pre>
<input autofocus placeholder="say something"><script>
const socket = new WebSocket(location.href.replace(/^http/, 'ws') + 'chat');
const input = document.querySelector('input');
socket.onmessage = (event) => { log.textContent += event.data + '\n'; };
input.onchange = () => { socket.send(input.value); input.value = ''; };
</script>)";

// NOLINTBEGIN(*-avoid-reference-coroutine-parameters): a request outlives its handler
// [routes]
http::Router chat_routes(const Room& room) {
  const auto join = [room](ws::Socket peer) { return converse(std::move(peer), room); };
  http::Router routes;
  routes.get("/", [](http::Request&) -> rouse::Async<http::Response> {
    co_return http::Response::html(page);
  });
  // NOLINTNEXTLINE(*-avoid-capturing-lambda-coroutines): the Router keeps it
  routes.get("/chat", [join](http::Request& request) -> rouse::Async<http::Response> {
    co_return http::upgrade(request, join);
  });
  return routes;
}
// [/routes]
// NOLINTEND(*-avoid-reference-coroutine-parameters)

// [client]
rouse::Async<void> visit(std::string url) {
  ws::Socket ann = co_await ws::connect(url);
  ws::Socket bob = co_await ws::connect(url);
  for (ws::Socket* guest : {&ann, &bob}) {
    const auto greeting = co_await guest->recv();  // from now on it hears everything
    std::cout << greeting->text() << '\n';
  }
  for (const char* line : {"ann: hello, bob", "ann: are you there?"}) {
    co_await ann.send(line);
    const auto heard = co_await bob.recv();
    std::cout << "bob hears: " << heard->text() << '\n';
  }
  co_await bob.send("bob: I am");
  while (auto heard = co_await ann.recv()) {
    std::cout << "ann hears: " << heard->text() << '\n';
    if (heard->text().starts_with("bob")) break;
  }
  co_await ann.close();
  co_await bob.close(ws::CloseCode::going_away, "dinner is ready");
}
// [/client]

rouse::Async<void> async_main(std::optional<std::string> address) {
  auto interrupted = rouse::signal::ctrl_c();
  auto server = co_await http::Server::bind(address.value_or("127.0.0.1:0"));
  const std::string at = server.local_addr().to_string();
  const Room room = rouse::sync::broadcast<std::string>(64).first;  // keeps the last 64 lines
  auto serving = [](http::Server on, http::Router routes) -> rouse::Async<void> {
    co_await on.serve(std::move(routes));
  };
  auto task = rouse::spawn(serving, std::move(server), chat_routes(room));
  if (address) {
    std::cout << "open http://" << at << "/ in several browsers\n" << std::flush;
    co_await std::move(interrupted);
  } else {
    co_await visit("ws://" + at + "/chat");
  }
  task.abort();
}

}  // namespace

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? std::optional<std::string>(argv[1]) : std::nullopt);
}
