// A chat room: whoever connects (`nc 127.0.0.1 8080`) gives a name; each line goes to all others.
// A client that reads too slowly misses lines, and is told how many. Until Ctrl-C.
// usage: chat [ADDRESS]
#include <iostream>
#include <string>
#include <utility>
#include <variant>

#include <rouse/rouse.hpp>

namespace {

namespace io = rouse::io;
using rouse::net::TcpListener;
using rouse::net::TcpStream;

struct Message {
  Message(int sender, std::string what) : from(sender), text(std::move(what)) {}
  int from;
  std::string text;  // with its line end
};
using Room = rouse::sync::BroadcastSender<Message>;

/// Says in the room that somebody is there, and that they have left, however that came.
class Presence {
 public:
  Presence(Room& room, int id, std::string name) : room_(room), id_(id), name_(std::move(name)) {
    say("* " + name_ + " has joined");
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { say("* " + name_ + " has left"); }

  void talk(const std::string& line) const { say("<" + name_ + "> " + line); }

 private:
  void say(const std::string& line) const { (void)room_.send(Message(id_, line + "\n")); }

  Room& room_;
  int id_;
  std::string name_;
};

// [member]
rouse::Async<void> converse(TcpStream stream, Room room, int id) {
  auto [reader, writer] = stream.split();
  io::Lines lines = io::BufReader(std::move(reader)).lines(1000);  // none is longer
  co_await writer.write_all("Your name?\n");
  const auto name = co_await lines.next_line();
  if (!name || name->empty()) co_return;

  auto inbox = room.subscribe();
  const Presence member(room, id, *name);
  co_await writer.write_all("Hello, " + *name + "!\n");
  for (;;) {
    // Whichever comes first. The other one loses nothing: it is asked again in the next round.
    auto next = co_await rouse::select(lines.next_line(), inbox.recv());
    if (next.index() == 0) {
      const auto& line = std::get<0>(next);
      if (!line) co_return;
      member.talk(*line);
      continue;
    }
    const auto& message = std::get<1>(next);
    if (message.lagged() > 0) {
      co_await writer.write_all("* you missed " + std::to_string(message.lagged()) + " lines\n");
    }
    if (message->from != id) co_await writer.write_all(message->text);
  }
}
// [/member]

rouse::Async<void> serve(TcpStream stream, Room room, int id) {
  try {
    co_await converse(std::move(stream), std::move(room), id);
  } catch (const std::system_error& error) {
    std::cout << "client " + std::to_string(id) + ": " + error.what() + "\n" << std::flush;
  }
}

rouse::Async<void> accept_all(TcpListener listener) {
  const Room room = rouse::sync::broadcast<Message>(64).first;  // keeps the last 64 lines
  for (int id = 0;; ++id) {
    auto [stream, addr] = co_await listener.accept();
    rouse::spawn(serve, std::move(stream), room, id).detach();
  }
}

rouse::Async<void> async_main(std::string address) {
  auto stop = rouse::signal::ctrl_c();
  auto listener = co_await TcpListener::bind(address);
  std::cout << "listening on " << listener.local_addr() << '\n' << std::flush;
  co_await rouse::select(std::move(stop), accept_all(std::move(listener)));
  std::cout << "bye\n";
}

}  // namespace

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:8080");
}
