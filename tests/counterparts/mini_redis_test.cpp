// The tutorial's server, used by redis-cli and redis-benchmark, and by clients who make mistakes.
#include <csignal>
#include <string>
#include <vector>

#include "counterparts/support.hpp"

namespace rouse::test {
namespace {

class MiniRedis : public Counterpart {
 protected:
  void SetUp() override {
    const std::string mini = built_example("tutorial/mini_redis");
    if (IsSkipped()) return;
    server_.emplace(std::vector<std::string>{mini, "127.0.0.1:0", "2"});
    at_ = server_->listening_on();
  }
  void TearDown() override {
    if (!server_) return;
    server_->send_signal(SIGTERM);
    const Ended ended = server_->wait();
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.output, "bye\n");
  }

  [[nodiscard]] std::string port() const { return std::to_string(at_.port()); }
  [[nodiscard]] std::string cli(const std::string& redis_cli,
                                std::vector<std::string> words) const {
    words.insert(words.begin(), {redis_cli, "-p", port()});
    const Ended ended = run_program(words);
    return ended.output;
  }
  /// What the program measured, by a line for each test; empty if it failed.
  [[nodiscard]] std::string benchmark(const std::string& redis_benchmark,
                                      std::vector<std::string> words) const {
    words.insert(words.begin(), {redis_benchmark, "-p", port(), "--csv"});
    const Ended ended = run_program(words);
    EXPECT_EQ(ended.status, 0) << ended.output;
    return ended.output;
  }

  net::SocketAddr at_;

 private:
  std::optional<Program> server_;
};

TEST_F(MiniRedis, AnswersRedisCli) {
  const std::string redis_cli = IsSkipped() ? "" : program("redis-cli");
  if (IsSkipped()) return;
  EXPECT_EQ(cli(redis_cli, {"ping"}), "PONG\n");
  EXPECT_EQ(cli(redis_cli, {"set", "fruit", "apple pie", "ex", "100"}), "OK\n");
  EXPECT_EQ(cli(redis_cli, {"get", "fruit"}), "apple pie\n");
  EXPECT_EQ(cli(redis_cli, {"rpush", "list", "a", "b"}), "2\n");
  EXPECT_EQ(cli(redis_cli, {"lrange", "list", "0", "-1"}), "a\nb\n");
  EXPECT_EQ(cli(redis_cli, {"get", "list"}),
            "WRONGTYPE Operation against a key holding the wrong kind of value\n\n");
  EXPECT_EQ(cli(redis_cli, {"fly"}), "ERR unknown command 'fly'\n\n");
}

TEST_F(MiniRedis, PassesAllTestsOfRedisBenchmark) {
  const std::string redis_benchmark = IsSkipped() ? "" : program("redis-benchmark");
  if (IsSkipped()) return;
  const std::string measured = benchmark(redis_benchmark, {"-n", "500", "-c", "20"});
  for (const char* test : {"PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "LPUSH", "RPUSH",
                           "LPOP", "RPOP", "SADD", "HSET", "SPOP", "LRANGE_100", "MSET"}) {
    EXPECT_NE(measured.find(std::string("\"") + test), std::string::npos) << measured;
  }
  EXPECT_EQ(measured.find("ERR"), std::string::npos) << measured;
}

TEST_F(MiniRedis, PassesRedisBenchmarkWithPipelines) {
  const std::string redis_benchmark = IsSkipped() ? "" : program("redis-benchmark");
  if (IsSkipped()) return;
  const std::string measured = benchmark(
      redis_benchmark, {"-n", "20000", "-c", "100", "-P", "16", "-r", "1000", "-t", "get,set"});
  EXPECT_NE(measured.find("\"GET\""), std::string::npos) << measured;
}

TEST_F(MiniRedis, EndsTheConnectionOfWhoeverSpeaksNoResp) {
  if (IsSkipped()) return;
  auto exchange = [this]() -> Async<void> {
    Client wrong(co_await net::TcpStream::connect(at_));
    co_await wrong.stream.write_all("PING\r\n*1\r\n$x\r\nPING\r\n");
    EXPECT_EQ(co_await wrong.line(), "+PONG");
    EXPECT_EQ(co_await wrong.line(), "-ERR Protocol error: invalid bulk length");
    std::string rest;
    (void)co_await wrong.reader.read_to_end(rest).result();
    EXPECT_EQ(rest, "");
    Client right(co_await net::TcpStream::connect(at_));
    co_await right.stream.write_all("PING\r\n");
    EXPECT_EQ(co_await right.line(), "+PONG");
  };
  run(exchange());
}

TEST_F(MiniRedis, KeepsAValueOfMegabytesThatComesWithOthersInOnePipeline) {
  if (IsSkipped()) return;
  auto exchange = [this]() -> Async<void> {
    Client client(co_await net::TcpStream::connect(at_));
    const std::string value = noise(3 << 20);
    const std::string commands = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + std::to_string(value.size()) +
                                 "\r\n" + value + "\r\nGET k\r\nGET k\r\nPING\r\n";
    auto read = [&]() -> Async<void> {
      EXPECT_EQ(co_await client.line(), "+OK");
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(co_await client.line(), "$" + std::to_string(value.size()));
        const std::string got = co_await client.bytes(value.size() + 2);
        EXPECT_TRUE(got == value + "\r\n");
      }
      EXPECT_EQ(co_await client.line(), "+PONG");
    };
    co_await try_join(client.stream.write_all(commands), read());
  };
  run(exchange());
}

TEST_F(MiniRedis, CountsWhatManyClientsAddAtOnce) {
  if (IsSkipped()) return;
  auto count_up = [](net::SocketAddr at) -> Async<void> {
    Client client(co_await net::TcpStream::connect(at));
    for (int i = 0; i < 50; ++i) {
      co_await client.stream.write_all("INCR visits\r\n");
      (void)co_await client.line();
    }
  };
  auto all = [&]() -> Async<void> {
    JoinSet<> clients;
    for (int i = 0; i < 40; ++i) clients.spawn(count_up, at_);
    while (co_await clients.join_next()) {
    }
    Client client(co_await net::TcpStream::connect(at_));
    co_await client.stream.write_all("GET visits\r\n");
    EXPECT_EQ(co_await client.line(), "$4");
    EXPECT_EQ(co_await client.line(), "2000");
  };
  run(all());
}

}  // namespace
}  // namespace rouse::test
