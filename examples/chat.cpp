// A chat room: whoever connects (`nc 127.0.0.1 8080`) gives a name; each line goes to all others. A
// client that reads too slowly misses lines, and learns how many. Runs until Ctrl-C.
// usage: chat [ADDRESS]
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include <rouse/net/serve.hpp>
#include <rouse/rouse.hpp>

namespace {

namespace io = rouse::io;
using rouse::net::SocketAddr;
using rouse::net::TcpListener;
using rouse::net::TcpStream;

struct Message {
  Message(const SocketAddr& sender, std::string what) : from(sender), text(std::move(what)) {}
  SocketAddr from;
  std::string text;  // with its line end
};
using Room = rouse::sync::BroadcastSender<Message>;

/// Says in the room that somebody is there, and that they have left, however that came.
class Presence {
 public:
  Presence(Room& room, const SocketAddr& at, std::string name)
      : room_(room), at_(at), name_(std::move(name)) {
    say("* " + name_ + " has joined");
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { say("* " + name_ + " has left"); }

  void talk(const std::string& line) const { say("<" + name_ + "> " + line); }

 private:
  void say(const std::string& line) const { (void)room_.send(Message(at_, line + "\n")); }

  Room& room_;
  SocketAddr at_;
  std::string name_;
};

// [member]
rouse::Async<void> converse(TcpStream stream, SocketAddr peer, Room room) {
  auto [reader, writer] = std::move(stream).split();
  io::Lines lines = io::BufReader(std::move(reader)).lines(1000);  // none is longer
  co_await writer.write_all("Your name?\n");
  const auto name = co_await lines.next_line();
  if (!name || name->empty()) co_return;

  auto inbox = room.subscribe();
  const Presence member(room, peer, *name);
  co_await writer.write_all("Hello, " + *name + "!\n");
  bool stays = true;
  const auto talk = [&](const std::optional<std::string>& line) {
    stays = line.has_value();
    if (stays) member.talk(*line);
  };
  // NOLINTNEXTLINE(*-avoid-capturing-lambda-coroutines): `hear` outlives the select
  const auto hear = [&](auto message) -> rouse::Async<void> {
    if (message.lagged() > 0) {
      co_await writer.write_all("* you missed " + std::to_string(message.lagged()) + " lines\n");
    }
    if (message->from != peer) co_await writer.write_all(message->text);
  };
  while (stays) {
    // Whichever comes first. The other one loses nothing: it is asked again in the next round.
    co_await rouse::select(rouse::on(lines.next_line(), talk), rouse::on(inbox.recv(), hear));
  }
}
// [/member]

void report(const std::exception_ptr& error, const SocketAddr& peer) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    std::cout << peer.to_string() + ": " + thrown.what() + "\n" << std::flush;
  }
}

// [serve]
rouse::Async<void> async_main(std::string address) {
  auto interrupted = rouse::signal::ctrl_c();
  auto listener = co_await TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;

  const Room room = rouse::sync::broadcast<Message>(64).first;  // keeps the last 64 lines
  const auto handle = [room](TcpStream stream, SocketAddr peer) {
    return converse(std::move(stream), peer, room);
  };
  rouse::net::ServeLimits limits;
  limits.max_connections = 1000;
  limits.drain_timeout = std::chrono::milliseconds(200);  // then whoever is there is cut off
  limits.on_error = report;
  auto serving = rouse::spawn(rouse::net::serve(std::move(listener), handle, limits));

  co_await std::move(interrupted);
  limits.stop.cancel();
  const rouse::net::Served served = co_await std::move(serving);
  std::cout << served.accepted << " have been here\nbye\n";
}
// [/serve]

}  // namespace

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:8080");
}
