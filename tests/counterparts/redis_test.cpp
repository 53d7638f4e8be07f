// redis-server, spoken to in its own protocol (RESP) over a TcpStream.
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class Redis : public Counterpart {
 protected:
  /// A server without files on a port of its own, for as long as the test runs. Without redis the
  /// test is skipped.
  void SetUp() override {
    const std::string redis = program("redis-server");
    if (IsSkipped()) return;
    port_ = free_port();
    server_.emplace(std::vector<std::string>{redis, "--port", std::to_string(port_), "--bind",
                                             "127.0.0.1", "--save", "", "--appendonly", "no",
                                             "--dir", directory_.path(), "--loglevel", "warning"});
    server_->wait_for_port(port_);
  }
  void TearDown() override {
    if (!server_) return;
    server_->send_signal(SIGTERM);
    EXPECT_EQ(server_->wait().status, 0);
  }

  [[nodiscard]] AsyncResult<net::TcpStream> connect() const {
    return net::TcpStream::connect(text_of(port_));
  }
  static std::string command(const std::vector<std::string_view>& words) {
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string_view word : words) {
      text.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
    }
    return text;
  }
  /// What follows "$SIZE": a string of that size.
  static Async<std::string> bulk(Client& client) {
    const std::string size = co_await client.line();
    if (!size.starts_with('$')) throw std::runtime_error("not a string: " + size);
    std::string value = co_await client.bytes(std::stoul(size.substr(1)) + 2);
    value.resize(value.size() - 2);
    co_return value;
  }

 private:
  TempDirectory directory_;
  std::uint16_t port_ = 0;
  std::optional<Program> server_;
};

TEST_F(Redis, AnswersAPing) {
  auto exchange = [this]() -> Async<void> {
    Client client(co_await connect());
    co_await client.stream.write_all("*1\r\n$4\r\nPING\r\n");
    EXPECT_EQ(co_await client.line(), "+PONG");
  };
  run(exchange());
}

TEST_F(Redis, KeepsBytesOfAllValues) {
  auto exchange = [this]() -> Async<void> {
    Client client(co_await connect());
    std::string all_bytes;
    for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
    const std::string values[] = {"", "\r\n", all_bytes, all_bytes + all_bytes};
    for (const std::string& value : values) {
      const std::string set = command({"SET", "key", value});
      co_await client.stream.write_all(set);
      EXPECT_EQ(co_await client.line(), "+OK");
      const std::string get = command({"GET", "key"});
      co_await client.stream.write_all(get);
      EXPECT_EQ(co_await bulk(client), value);
    }
  };
  run(exchange());
}

TEST_F(Redis, AnswersAThousandCommandsOfOneWriteInTheirOrder) {
  auto exchange = [this]() -> Async<void> {
    Client client(co_await connect());
    std::string commands;
    for (int i = 0; i < 1000; ++i) {
      commands += command({"ECHO", std::to_string(i)});
      commands += command({"INCR", "counter"});
    }
    auto read_all = [&client]() -> Async<void> {
      for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(co_await bulk(client), std::to_string(i));
        EXPECT_EQ(co_await client.line(), ":" + std::to_string(i + 1));
      }
    };
    co_await try_join(client.stream.write_all(commands), read_all());
  };
  run(exchange());
}

TEST_F(Redis, GivesAValueOfFiveMegabytesBackUnchanged) {
  auto exchange = [this]() -> Async<void> {
    Client client(co_await connect());
    const std::string value = noise(5 << 20);
    const std::string set = command({"SET", "large", value});
    co_await client.stream.write_all(set);
    EXPECT_EQ(co_await client.line(), "+OK");
    const std::string get = command({"GET", "large"});
    co_await client.stream.write_all(get);
    const std::string got = co_await bulk(client);
    EXPECT_TRUE(got == value);
  };
  run(exchange());
}

TEST_F(Redis, ServesManyConnectionsOfOneProgram) {
  auto count_up = [](AsyncResult<net::TcpStream> connecting) -> Async<void> {
    Client client(co_await connecting);
    for (int i = 0; i < 50; ++i) {
      co_await client.stream.write_all("*2\r\n$4\r\nINCR\r\n$5\r\nvisit\r\n");
      (void)co_await client.line();
    }
  };
  auto all = [&]() -> Async<void> {
    JoinSet<> clients;
    for (int i = 0; i < 50; ++i) clients.spawn(count_up, connect());
    while (co_await clients.join_next()) {
    }
    Client client(co_await connect());
    co_await client.stream.write_all("*2\r\n$3\r\nGET\r\n$5\r\nvisit\r\n");
    EXPECT_EQ(co_await bulk(client), "2500");
  };
  run(all());
}

}  // namespace
}  // namespace rouse::test
