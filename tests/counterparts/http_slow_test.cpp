// rouse::http and clients that want to be waited for: slowhttptest, which holds hundreds of
// connections by sending or reading a little now and then. All of them end in time, and who asks
// meanwhile is answered as if they were not there.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/http.hpp"

#include "counterparts/http.hpp"
#include "support/latencies.hpp"
#include "support/process_figures.hpp"

namespace rouse::test {
namespace {

constexpr std::size_t attackers = 300;

Async<http::Response> hello(http::Request&) { co_return http::Response::text("hello\n"); }
Async<http::Response> size(http::Request& request) {
  const std::string body = co_await request.body().text();
  co_return http::Response::text(std::to_string(body.size()));
}

/// What is seen while an attack lasts.
class Watched {
 public:
  void look() {
    const std::size_t descriptors = open_descriptors(::getpid());
    most_memory = std::max(most_memory, resident_memory(::getpid()));
    had_many = had_many || descriptors > descriptors_before + attackers / 2;
    if (had_many && descriptors <= descriptors_before + 10) ++calm_looks;
  }

  const std::size_t descriptors_before = open_descriptors(::getpid());
  const std::size_t memory_before = resident_memory(::getpid());
  std::size_t most_memory = 0;  // in KiB
  bool had_many = false;        // connections
  int calm_looks = 0;           // when most of them had ended
  Latencies latencies;
};

/// One request after another until it is told to stop.
Async<void> ask_until(std::uint16_t port, sync::CancellationToken stop, Watched& watched) {
  Client client(co_await net::TcpStream::connect(text_of(port)));
  while (!stop.is_cancelled()) {
    const time::Instant begun = time::now();
    co_await client.stream.write_all("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string status = co_await client.line();
    EXPECT_EQ(status, "HTTP/1.1 200 OK");
    for (;;) {
      const std::string field = co_await client.line();
      if (field.empty()) break;
    }
    const std::string body = co_await client.line();
    EXPECT_EQ(body, "hello");
    watched.latencies.add(time::now() - begun);
    watched.look();
    co_await sleep(10ms);
  }
}

using ::testing::HasSubstr;

class HttpSlow : public HttpCounterpart {
 protected:
  std::uint16_t serve_impatiently() {
    http::ServerOptions options;
    options.head_time = 1s;
    options.progress_time = 1s;
    options.progress_bytes = 500;
    http::Router routes;
    routes.get("/hello", hello);
    files_.write("large", std::string(std::size_t{16} << 20, 'x'));
    routes.get("/files/{rest...}", http::static_files(files_.path()));
    routes.post("/size", size);
    return serve(std::move(routes), options);
  }

  TempDirectory files_;
  int calm_looks_ = 0;

  /// Runs slowhttptest with these arguments and a target. What it says.
  std::string attack(const std::vector<std::string>& arguments, const std::string& target) {
    const std::string attacker = program("slowhttptest");
    if (IsSkipped()) return {};
    const std::uint16_t port = serve_impatiently();
    const sync::CancellationToken stop;
    Watched watched;
    auto asking = rt.spawn(ask_until, port, stop, std::ref(watched));
    std::vector<std::string> command{attacker, "-c", std::to_string(attackers), "-r", "1000", "-p",
                                     "10",     "-u", url(port, target)};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Ended ended = run_program(command);
    stop.cancel();
    run(std::move(asking));
    EXPECT_TRUE(watched.had_many) << "it was no attack";
    EXPECT_LT(watched.most_memory, watched.memory_before + attackers * 256);
    EXPECT_LT(watched.latencies.percentile_ms(0.5), 50);
    RecordProperty("p99_us", static_cast<int>(watched.latencies.percentile_ms(0.99) * 1000));
    calm_looks_ = watched.calm_looks;
    return ended.output;
  }
};

constexpr const char* all_ended = "No open connections left";

TEST_F(HttpSlow, HeadsThatGoOnAndOnEnd) {
  const std::string said = attack({"-H", "-i", "1", "-x", "8", "-l", "30"}, "/hello");
  if (!IsSkipped()) EXPECT_THAT(said, HasSubstr(all_ended));
}
TEST_F(HttpSlow, BodiesThatGoOnAndOnEnd) {
  const std::string said =
      attack({"-B", "-i", "1", "-x", "8", "-s", "1000000", "-l", "30"}, "/size");
  if (!IsSkipped()) EXPECT_THAT(said, HasSubstr(all_ended));
}
TEST_F(HttpSlow, WhoHardlyReadsIsLetGo) {
  // It goes on for long with what is in its own buffers.
  attack({"-X", "-w", "512", "-y", "1024", "-n", "1", "-z", "16", "-l", "4"}, "/files/large");
  if (!IsSkipped()) EXPECT_GE(calm_looks_, 20);
}

}  // namespace
}  // namespace rouse::test
