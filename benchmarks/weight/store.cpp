// A store of keys and values over TCP, one line a command: GET k, SET k v [ms], DEL k, WATCH k,
// SAVE, QUIT. As a user would write it, to measure what a compiler makes of ten coroutines: see
// tools/bench/weight.py.
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <rouse/rouse.hpp>

namespace {

using namespace std::chrono_literals;
namespace io = rouse::io;
namespace sync = rouse::sync;
using rouse::Async;
using rouse::net::TcpListener;
using rouse::net::TcpStream;

struct Change {
  Change(std::string changed, std::optional<std::string> now)
      : key(std::move(changed)), value(std::move(now)) {}
  std::string key;
  std::optional<std::string> value;
};

/// What a session asks the task that owns the data.
struct Request {
  enum class Kind { get, set, del, all };
  Request(Kind what, std::string of, std::string to,
          sync::OneshotSender<std::vector<std::string>> where)
      : kind(what), key(std::move(of)), value(std::move(to)), reply(std::move(where)) {}
  Kind kind;
  std::string key;
  std::string value;
  sync::OneshotSender<std::vector<std::string>> reply;
};

using Requests = sync::Sender<Request>;
using Changes = sync::BroadcastSender<Change>;

class Session {
 public:
  Session(Requests requests, Changes changes, sync::Sender<std::string> log)
      : requests_(std::move(requests)), changes_(std::move(changes)), log_(std::move(log)) {}

  Async<std::vector<std::string>> ask(Request::Kind kind, std::string key, std::string value = {}) {
    auto [reply, answer] = sync::oneshot<std::vector<std::string>>();
    auto sent =
        co_await requests_.send(Request(kind, std::move(key), std::move(value), std::move(reply)));
    if (!sent) co_return std::vector<std::string>{"the store is gone"};
    auto got = co_await std::move(answer);
    if (!got) co_return std::vector<std::string>{"the store did not answer"};
    co_return *std::move(got);
  }

  Async<void> log(std::string line) { (void)co_await log_.send(std::move(line)); }

  Requests& requests() { return requests_; }
  Changes& changes() { return changes_; }

 private:
  Requests requests_;
  Changes changes_;
  sync::Sender<std::string> log_;
};

/// Owns the data: nobody needs a lock.
Async<void> keep(sync::Receiver<Request> requests, Changes changes) {
  std::map<std::string, std::string> data;
  while (auto request = co_await requests.recv()) {
    std::vector<std::string> reply;
    switch (request->kind) {
      case Request::Kind::get:
        if (auto found = data.find(request->key); found != data.end())
          reply.push_back(found->second);
        break;
      case Request::Kind::set:
        data[request->key] = request->value;
        (void)changes.send(Change(request->key, request->value));
        break;
      case Request::Kind::del:
        if (data.erase(request->key) > 0) (void)changes.send(Change(request->key, std::nullopt));
        break;
      case Request::Kind::all:
        for (const auto& [key, value] : data) reply.push_back(key + "=" + value);
        break;
    }
    (void)request->reply.send(std::move(reply));
  }
}

Async<void> expire(Session session, std::string key, std::chrono::milliseconds after) {
  co_await rouse::sleep(after);
  co_await session.ask(Request::Kind::del, std::move(key));
}

Async<void> write_log(sync::Receiver<std::string> lines) {
  while (auto line = co_await lines.recv()) std::cout << *line << '\n' << std::flush;
}

template <class Writer>
Async<void> watch(Changes& changes, std::string key, Writer& writer) {
  auto inbox = changes.subscribe();
  for (;;) {
    auto change = co_await inbox.recv();
    if (change->key == key)
      co_await writer.write_all(key + " is " + change->value.value_or("(gone)") + "\n");
  }
}

Async<std::size_t> save(Session& session, std::string path) {
  auto lines = co_await session.ask(Request::Kind::all, "");
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  co_await rouse::fs::write(path, text);
  co_return lines.size();
}

Async<std::string> run_command(Session& session, std::string line) {
  std::istringstream words(line);
  std::string verb, key, value;
  int milliseconds = 0;
  words >> verb >> key >> value;
  if (verb == "GET") {
    auto values = co_await session.ask(Request::Kind::get, key);
    co_return values.empty() ? "(nothing)" : values.front();
  }
  if (verb == "SET") {
    co_await session.ask(Request::Kind::set, key, value);
    if (words >> milliseconds)
      rouse::spawn(expire, session, key, std::chrono::milliseconds(milliseconds)).detach();
    co_return "OK";
  }
  if (verb == "DEL") {
    co_await session.ask(Request::Kind::del, key);
    co_return "OK";
  }
  if (verb == "SAVE") co_return "saved " + std::to_string(co_await save(session, "store.txt"));
  co_return "what is " + verb + "?";
}

Async<void> serve(TcpStream stream, Session session) {
  auto [reader, writer] = std::move(stream).split();
  io::Lines lines = io::BufReader(std::move(reader)).lines(1000);
  for (;;) {
    auto line = co_await rouse::timeout(60s, lines.next_line());
    if (!line || *line == "QUIT") co_return;
    if (line->starts_with("WATCH ")) {
      // Until the client sends a line.
      auto ended = co_await rouse::select(lines.next_line(),
                                          watch(session.changes(), line->substr(6), writer));
      if (ended.index() == 0 && !std::get<0>(ended)) co_return;
      continue;
    }
    auto answer = co_await rouse::timeout(5s, run_command(session, *line)).result();
    co_await writer.write_all((answer ? *answer : answer.error().message()) + "\n");
  }
}

Async<void> serve_and_log(TcpStream stream, Session session) {
  std::string why = "left";
  try {
    co_await serve(std::move(stream), session);
  } catch (const std::exception& error) {
    why = error.what();
  }
  co_await session.log("a client: " + why);
}

Async<void> accept_all(TcpListener listener, Session session) {
  rouse::JoinSet<void> sessions;
  for (;;) {
    auto next = co_await rouse::select(listener.accept(), sessions.join_next());
    if (next.index() == 1) continue;
    sessions.spawn(serve_and_log, std::move(std::get<0>(next).stream), session);
  }
}

Async<int> async_main(std::string address) {
  auto stop = rouse::signal::ctrl_c();
  auto [requests, to_keep] = sync::channel<Request>(64);
  auto [log, lines] = sync::channel<std::string>(64);
  const Changes changes = sync::broadcast<Change>(64).first;
  auto keeper = rouse::spawn(keep, std::move(to_keep), changes);
  auto logger = rouse::spawn(write_log, std::move(lines));
  {
    Session session(std::move(requests), changes, std::move(log));
    auto listener = co_await TcpListener::bind(address);
    co_await session.log("listening on " + listener.local_addr().to_string());
    co_await rouse::select(std::move(stop), accept_all(std::move(listener), session));
    const auto saved = co_await save(session, "store.txt");
    co_await session.log("saved " + std::to_string(saved));
  }
  co_await rouse::join(std::move(keeper), std::move(logger));
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return rouse::run(async_main, argc > 1 ? argv[1] : "127.0.0.1:8080");
}
