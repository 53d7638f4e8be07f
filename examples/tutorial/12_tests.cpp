// Tutorial, chapter 12: the server's tests. No sockets, and no waiting: a connection is a pipe in
// memory, and the clock jumps.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/server.hpp"

namespace {

using namespace std::chrono_literals;
using rouse::io::DuplexStream;

int failures = 0;
void check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  if (!holds) ++failures;
}

// [parser]
/// What a parser makes of some bytes that come in pieces of this size: words between bars.
std::string parsed(std::string_view bytes, std::size_t piece) {
  mini::Parser parser;
  std::string words;
  std::string input;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    input += bytes.substr(i, piece);
    auto found = parser.next(input);
    for (; found == mini::Parser::Found::command; found = parser.next(input)) {
      for (const std::string_view word : parser.args()) words.append(word).append("|");
      words += "\n";
      input.erase(0, parser.consumed());
    }
    if (found == mini::Parser::Found::mistake) return words + parser.mistake();
  }
  return words;
}

void test_parser() {
  const std::string_view two = "*2\r\n$4\r\nECHO\r\n$4\r\na\r\nb\r\nPING  now\r\n";
  bool is_same = true;
  for (std::size_t piece = 1; piece <= two.size(); ++piece) {
    is_same = is_same && parsed(two, piece) == "ECHO|a\r\nb|\nPING|now|\n";
  }
  check(is_same, "a command is the same in pieces of any size");
  check(parsed("*1\r\n$-5\r\n", 3) == "Protocol error: invalid bulk length", "a size below zero");
  check(parsed("*99999999999999999999\r\n", 4) == "Protocol error: invalid multibulk length",
        "a number that fits nowhere");
  check(parsed("*1\r\n+PING\r\n", 2) == "Protocol error: expected '$', got '+'", "a wrong kind");
  check(parsed("*0\r\n\r\nPING\r\n", 1) == "\n\nPING|\n", "commands of no words");
}
// [/parser]

// [client]
/// A client of a server in memory.
struct Client {
  explicit Client(const std::shared_ptr<mini::Shared>& shared)
      : Client(rouse::io::duplex(4096), shared) {}
  Client(std::pair<DuplexStream, DuplexStream> ends, const std::shared_ptr<mini::Shared>& shared)
      : stream(std::move(ends.first)),
        serving(rouse::spawn(mini::serve<DuplexStream>, std::move(ends.second), shared)) {}

  rouse::Async<std::string> ask(std::string question, std::size_t reply_size) {
    co_await stream.write_all(question);
    std::string reply(reply_size, '\0');
    co_await stream.read_exact(reply);
    co_return reply;
  }

  DuplexStream stream;
  rouse::JoinHandle<void> serving;
};
// [/client]

// [expiry]
rouse::Async<void> test_expiry() {
  auto shared = std::make_shared<mini::Shared>(mini::Limits());
  rouse::spawn(mini::sweep, shared).detach();
  Client client(shared);
  check(co_await client.ask("SET k v EX 100\r\n", 5) == "+OK\r\n", "a key with an end");
  co_await rouse::sleep(99s);  // the clock jumps: nobody waits
  check(co_await client.ask("GET k\r\n", 7) == "$1\r\nv\r\n", "is there until then");
  co_await rouse::sleep(1s);
  check(co_await client.ask("GET k\r\n", 5) == "$-1\r\n", "and gone then");
  co_await client.ask("SET k v PX 50\r\n", 5);
  co_await rouse::sleep(1s);
  check(shared->store.size() == 0, "a key that nobody asks for is swept out");
  shared->stop.cancel();
}
// [/expiry]

// [timeouts]
rouse::Async<void> test_timeouts() {
  mini::Limits limits;
  limits.idle = 60s;
  auto shared = std::make_shared<mini::Shared>(limits);
  Client client(shared);
  co_await rouse::sleep(59s);
  check(co_await client.ask("PING\r\n", 7) == "+PONG\r\n", "a client that is slow");
  const auto before = rouse::time::now();
  const auto ended = co_await client.stream.read_to_string();
  check(ended.empty() && rouse::time::now() - before >= 60s, "one that is silent is sent away");
  bool timed_out = false;
  try {
    co_await client.serving;
  } catch (const rouse::TimedOut&) {
    timed_out = true;
  }
  check(timed_out, "for that reason");
}
// [/timeouts]

// [slow]
rouse::Async<void> test_slow_subscriber() {
  mini::Limits limits;
  limits.backlog = 4;
  auto shared = std::make_shared<mini::Shared>(limits);
  Client slow(shared);
  co_await slow.ask("SUBSCRIBE news\r\n", 33);
  const std::string long_news(1000, 'x');
  for (int i = 0; i < 100; ++i) {
    shared->topics.publish("news", long_news);
    co_await rouse::yield_now();  // its task runs, and waits for room in the pipe
  }
  const std::string got = co_await slow.stream.read_to_string();
  check(!got.empty() && got.size() < 100 * 1000, "a subscriber that reads too slowly");
  bool failed = false;
  try {
    co_await slow.serving;
  } catch (const std::system_error& error) {
    failed = error.code() == std::errc::no_buffer_space;
  }
  check(failed, "is sent away instead of missing something");
}
// [/slow]

// [topics]
rouse::Async<void> test_topics() {
  auto shared = std::make_shared<mini::Shared>(mini::Limits());
  Client first(shared);
  Client second(shared);
  co_await first.ask("SUBSCRIBE a b\r\n", 60);
  co_await second.ask("SUBSCRIBE b\r\n", 30);
  check(shared->topics.size() == 2, "a topic for each name");
  co_await first.ask("UNSUBSCRIBE\r\n", 32);
  check(shared->topics.size() == 1, "one that nobody hears any more is gone");
  co_await second.stream.shutdown();
  co_await second.serving;
  check(shared->topics.size() == 0, "also when its last client just left");
  co_await first.stream.shutdown();
  co_await first.serving;
}
// [/topics]

// [stop]
rouse::Async<void> test_stop() {
  auto shared = std::make_shared<mini::Shared>(mini::Limits());
  Client client(shared);
  co_await client.stream.write_all("PING\r\nPING\r\n");
  co_await rouse::yield_now();
  shared->stop.cancel();
  check(co_await client.stream.read_to_string() == "+PONG\r\n+PONG\r\n",
        "what was asked before the end is answered");
  co_await client.serving;
}
// [/stop]

}  // namespace

// [main]
int main() {
  test_parser();
  auto runtime = rouse::Runtime::builder().current_thread().start_paused().build();
  runtime.block_on(test_expiry());
  runtime.block_on(test_timeouts());
  runtime.block_on(test_slow_subscriber());
  runtime.block_on(test_topics());
  runtime.block_on(test_stop());
  return failures == 0 ? 0 : 1;
}
// [/main]
