// WebSocket with the websockets of Python, the ws of Node, and a browser: each as a client, the
// first two also as a server. The same messages go through all: empty ones, all three kinds of
// lengths, fragments, pings, and a close from either side.
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/http.hpp"

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

constexpr const char* python_client = R"(
import asyncio, sys, websockets
sizes = [0, 1, 125, 126, 65535, 65536, 1000000]
async def main():
    async with websockets.connect(sys.argv[1], subprotocols=["v1", "v2"], max_size=None) as peer:
        assert peer.subprotocol == "v2", peer.subprotocol
        for size in sizes:
            for message in ["x" * size, b"\xff" * size]:
                await peer.send(message)
                assert await peer.recv() == message, size
        await peer.send(["frag", "ments \u20ac", ""])
        assert await peer.recv() == "fragments \u20ac"
        await asyncio.wait_for(await peer.ping(b"hello"), 10)
        await peer.send("close 4001")
        try:
            await peer.recv()
            assert False
        except websockets.ConnectionClosed as closed:
            assert closed.rcvd.code == 4001 and closed.rcvd.reason == "as told", closed
    async with websockets.connect(sys.argv[1], subprotocols=["v2"]) as peer:
        await peer.close(4002, "bye")
        assert peer.close_code == 4002, peer.close_code
    print("well done")
asyncio.run(main())
)";

constexpr const char* python_server = R"(
import asyncio, sys, websockets
async def echo(peer):
    try:
        async for message in peer:
            await peer.send([message[:1], message[1:]] if len(message) > 1 else message)
    except websockets.ConnectionClosedError:
        pass  # any code but 1000 and 1001
async def main():
    async with websockets.serve(echo, "127.0.0.1", 0, max_size=None, subprotocols=["v2"]) as server:
        print("listening on 127.0.0.1:%d" % server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()
asyncio.run(main())
)";

constexpr const char* node_client = R"(
const WebSocket = require('ws'), assert = require('assert');
const sizes = [0, 1, 125, 126, 65535, 65536, 1000000];
const peer = new WebSocket(process.argv[2], ['v1', 'v2']);
let waiting = sizes.flatMap((size) => [[Buffer.alloc(size, 'x'), false], [Buffer.alloc(size, 255), true]]);
waiting.push([Buffer.from('fragments'), false]);
peer.on('open', () => {
  assert.equal(peer.protocol, 'v2');
  for (const [data, binary] of waiting.slice(0, -1)) peer.send(data, {binary});
  peer.send('frag', {fin: false});
  peer.ping('hello');
  peer.send('ments', {fin: true});
});
peer.on('pong', (data) => { assert.equal(String(data), 'hello'); });
peer.on('message', (data, binary) => {
  const [expected, kind] = waiting.shift();
  assert(expected.equals(data) && kind === binary);
  if (waiting.length === 0) peer.send('close 4001');
});
peer.on('close', (code, reason) => {
  assert(waiting.length === 0 && code === 4001 && String(reason) === 'as told');
  console.log('well done');
});
)";

constexpr const char* node_server = R"(
const {WebSocketServer} = require('ws');
const server = new WebSocketServer({host: '127.0.0.1', port: 0, handleProtocols: () => 'v2'});
server.on('listening', () => console.log('listening on 127.0.0.1:' + server.address().port));
server.on('connection', (peer) => {
  peer.on('message', (data, binary) => {
    peer.send(data.subarray(0, 1), {binary, fin: false});
    peer.ping();
    peer.send(data.subarray(1), {binary, fin: true});
  });
});
)";

/// The browser ends when all of the page is loaded: the picture is not, before the page has
/// reported.
constexpr const char* page = R"(<!doctype html><img src="wait"><script>
const peer = new WebSocket(location.href.replace(/^http/, 'ws') + 'echo', ['v1', 'v2']);
const big = '\u20ac'.repeat(100000);
let seen = '';
peer.onopen = () => { peer.send(big); };
peer.onmessage = (event) => {
  seen = event.data === big ? 'echoed as ' + peer.protocol : 'not the same';
  peer.send('close 4001');
};
peer.onclose = (event) => {
  fetch('report?text=' + encodeURIComponent(seen + ', ' + event.code + ' ' + event.reason));
};
</script>)";

/// What the page says.
class Report {
 public:
  void tell(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
    told_.notify_one();
  }
  Async<void> wait() { co_await told_.notified(); }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  sync::Notify told_;
};

/// Echoes, until it is told to close.
Async<void> echo(ws::Socket peer) {
  while (auto message = co_await peer.recv()) {
    if (message->text() == "close 4001") {
      co_await peer.close(static_cast<ws::CloseCode>(4001), "as told");
      co_return;
    }
    co_await peer.send(*std::move(message));
  }
}

class WebSocketWith : public Counterpart {
 protected:
  /// Serves until the test ends.
  std::string serve() {
    http::Router routes;
    routes.get(
        "/", [](http::Request&) -> Async<http::Response> { co_return http::Response::html(page); });
    routes.get("/wait", [report = report_](http::Request&) -> Async<http::Response> {
      co_await report->wait();
      co_return http::Response();
    });
    routes.get("/report", [report = report_](http::Request& request) -> Async<http::Response> {
      report->tell(request.query_parameter("text").value_or(""));
      co_return http::Response();
    });
    routes.get("/echo", [](http::Request& request) -> Async<http::Response> {
      ws::UpgradeOptions options;
      options.protocols = {"v2"};
      co_return http::upgrade(request, echo, std::move(options));
    });
    auto server = run(http::Server::bind("127.0.0.1:0"));
    std::string at = server.local_addr().to_string();
    const auto serve = [](http::Server on, http::Router what) -> Async<void> {
      co_await on.serve(std::move(what));
    };
    rt.spawn(serve, std::move(server), std::move(routes)).detach();
    return at;
  }
  std::string script(const char* text) {
    folder_.write("script", text);
    return folder_.file("script");
  }
  /// A Python that has websockets; skips the test if there is none.
  std::string python() {
    for (const std::string& found : {std::string("/usr/bin/python3"), find_program("python3")}) {
      if (!found.empty() && run_shell(found + " -c 'import websockets' 2>&1").status == 0) {
        return found;
      }
    }
    return program("python3 with websockets");
  }
  /// The command that runs a script in Node with ws; skips the test if there is none.
  std::vector<std::string> node(const char* text) {
    const std::string found = program("node");
    if (IsSkipped()) return {};
    std::vector<std::string> command{"/usr/bin/env", "NODE_PATH=/usr/share/nodejs", found};
    std::vector<std::string> asking = command;
    asking.insert(asking.end(), {"-e", "require('ws')"});
    if (run_program(asking).status != 0) return {program("node with ws")};
    command.push_back(script(text));
    return command;
  }
  void talk_to(const net::SocketAddr& server) { run(talk(server)); }

 private:
  static Async<void> talk(net::SocketAddr server) {
    ws::ConnectOptions options;
    options.protocols = {"v2"};
    options.limits.max_message = std::size_t{2} << 20U;
    auto peer = co_await ws::connect("ws://" + server.to_string() + "/", std::move(options));
    EXPECT_EQ(peer.protocol(), "v2");
    for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 1'000'000U}) {
      for (const ws::Message& sent :
           {ws::Message(std::string(size, 'x')), ws::Message::binary(std::string(size, '\xFF'))}) {
        co_await peer.send(sent);
        const auto received = co_await peer.recv();
        EXPECT_TRUE(received == sent) << size;
      }
    }
    co_await peer.close(static_cast<ws::CloseCode>(4002), "bye");
    const auto end = co_await peer.recv();
    EXPECT_FALSE(end);
    EXPECT_EQ(peer.peer_close().code, static_cast<ws::CloseCode>(4002));
  }

  TempDirectory folder_;

 protected:
  const std::shared_ptr<Report> report_ = std::make_shared<Report>();
};

TEST_F(WebSocketWith, AClientInPython) {
  const std::string found = python();
  if (IsSkipped()) return;
  const Ended ended = run_program({found, script(python_client), "ws://" + serve() + "/echo"});
  EXPECT_EQ(ended.output, "well done\n");
  EXPECT_EQ(ended.status, 0);
}

TEST_F(WebSocketWith, AServerInPython) {
  const std::string found = python();
  if (IsSkipped()) return;
  Program server({found, script(python_server)});
  talk_to(server.listening_on());
}

TEST_F(WebSocketWith, AClientInNode) {
  std::vector<std::string> command = node(node_client);
  if (IsSkipped()) return;
  command.push_back("ws://" + serve() + "/echo");
  const Ended ended = run_program(command);
  EXPECT_EQ(ended.output, "well done\n");
  EXPECT_EQ(ended.status, 0);
}

TEST_F(WebSocketWith, AServerInNode) {
  const std::vector<std::string> command = node(node_server);
  if (IsSkipped()) return;
  Program server(command);
  talk_to(server.listening_on());
}

TEST_F(WebSocketWith, ABrowser) {
  const std::string chromium = program("chromium");
  if (IsSkipped()) return;
  const TempDirectory profile;
  run_shell(chromium +
            " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
            " --disable-background-networking --disable-component-update --disable-sync"
            " --user-data-dir=" +
            profile.path() + " --dump-dom 'http://" + serve() + "/' 2>&1");
  EXPECT_EQ(report_->text(), "echoed as v2, 4001 as told");
}

}  // namespace
}  // namespace rouse::test
