// The example chat, with several clients.
#include <csignal>
#include <memory>
#include <string>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class Chat : public Counterpart {
 protected:
  /// A client that has given its name and was greeted: from then on it hears the others.
  static Async<std::unique_ptr<Client>> join(net::SocketAddr room, std::string name) {
    auto client = std::make_unique<Client>(co_await net::TcpStream::connect(room));
    EXPECT_EQ(co_await client->line(), "Your name?");
    co_await say(*client, name);
    EXPECT_EQ(co_await client->line(), "Hello, " + name + "!");
    co_return client;
  }
  static Async<void> say(Client& client, std::string text) {
    text += '\n';
    co_await client.stream.write_all(text);
  }
};

TEST_F(Chat, LinesGoToAllOthersUnderTheNameOfWhoSaidThem) {
  const std::string chat = built_example("chat");
  if (IsSkipped()) return;
  Program server({chat, "127.0.0.1:0"});
  const net::SocketAddr at = server.listening_on();
  auto conversation = [at]() -> Async<void> {
    auto ann = co_await join(at, "Ann");
    auto bob = co_await join(at, "Bob");
    EXPECT_EQ(co_await ann->line(), "* Bob has joined");
    auto cid = co_await join(at, "Cid");
    EXPECT_EQ(co_await ann->line(), "* Cid has joined");
    EXPECT_EQ(co_await bob->line(), "* Cid has joined");

    co_await say(*bob, "hello");
    EXPECT_EQ(co_await ann->line(), "<Bob> hello");
    EXPECT_EQ(co_await cid->line(), "<Bob> hello");
    bob.reset();
    EXPECT_EQ(co_await ann->line(), "* Bob has left");
    EXPECT_EQ(co_await cid->line(), "* Bob has left");
    co_await say(*ann, "where is he?");
    EXPECT_EQ(co_await cid->line(), "<Ann> where is he?");
  };
  run(conversation());
  server.send_signal(SIGINT);
  const Ended ended = server.wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(ended.output.ends_with("bye\n")) << ended.output;
}

TEST_F(Chat, AClientThatDoesNotReadIsToldHowManyLinesItMissed) {
  const std::string chat = built_example("chat");
  if (IsSkipped()) return;
  Program server({chat, "127.0.0.1:0"});
  const net::SocketAddr at = server.listening_on();
  auto conversation = [at]() -> Async<int> {
    auto slow = co_await join(at, "Slow");
    auto quick = co_await join(at, "Quick");
    auto fast = co_await join(at, "Fast");
    const std::string long_line(990, 'x');
    // More than the buffers of a socket hold, and than the room keeps besides.
    auto talk = [&]() -> Async<void> {
      for (int i = 0; i < 20'000; ++i) co_await say(*fast, long_line);
      co_await say(*fast, "that was it");
    };
    auto listen = [](Client& client) -> Async<int> {
      int missed = 0;
      for (;;) {
        const std::string line = co_await client.line();
        if (line == "<Fast> that was it") co_return missed;
        if (line.starts_with("* you missed ")) missed += std::stoi(line.substr(13));
      }
    };
    co_await try_join(talk(), listen(*quick));  // all was said
    co_return co_await listen(*slow);
  };
  EXPECT_GT(run(conversation()), 0);
}

TEST_F(Chat, AClientWhoseLineHasNoEndIsSentAway) {
  const std::string chat = built_example("chat");
  if (IsSkipped()) return;
  Program server({chat, "127.0.0.1:0"});
  const net::SocketAddr at = server.listening_on();
  auto conversation = [at]() -> Async<void> {
    auto ann = co_await join(at, "Ann");
    auto eve = co_await join(at, "Eve");
    EXPECT_EQ(co_await ann->line(), "* Eve has joined");
    const std::string endless(10'000, 'x');
    co_await eve->stream.write_all(endless);
    EXPECT_EQ(co_await ann->line(), "* Eve has left");
  };
  run(conversation());
}

}  // namespace
}  // namespace rouse::test
