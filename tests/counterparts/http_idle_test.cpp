// Ten thousand connections on which nothing happens, of a program of its own: what they cost, and
// that nobody else minds them.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "rouse/http.hpp"

#include "counterparts/http.hpp"
#include "support/process_figures.hpp"

namespace rouse::test {
namespace {

/// As many descriptors as a process may have, while it lives; its children may have as many.
class MoreDescriptors {
 public:
  MoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit most = before_;
    most.rlim_cur = most.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &most) == 0) count_ = most.rlim_cur;
  }
  MoreDescriptors(const MoreDescriptors&) = delete;
  MoreDescriptors& operator=(const MoreDescriptors&) = delete;
  ~MoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  rlimit before_{};
  std::size_t count_ = 1024;
};

constexpr const char* many_connections = R"(
import signal, socket, sys
port, count, asks = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "asks"
peers = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
for peer in peers if asks else ():
    peer.sendall(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
for peer in peers if asks else ():
    if not peer.recv(4096).startswith(b"HTTP/1.1 200 OK"):
        sys.exit("no answer")
print("there", flush=True)
signal.pause()
)";

Async<http::Response> hello(http::Request&) { co_return http::Response::text("hello\n"); }

class HttpIdle : public HttpCounterpart {
 protected:
  void SetUp() override { python_ = program("python3"); }  // skipped without it
  /// Bytes of memory for each connection; those of the system are not counted.
  void expect_costs_less_than(std::size_t bytes, const std::string& kind) {
    const MoreDescriptors descriptors;
    // The server takes 80% of them at most.
    const std::size_t count = std::min<std::size_t>(10'000, descriptors.count() / 5 * 4 - 100);
    http::ServerOptions options;
    options.head_time = 60s;
    const std::uint16_t port = serve(hello, options);
    EXPECT_EQ(ask(port), "hello\n");
    files_.write("many.py", many_connections);
    const std::size_t before = resident_memory(::getpid());
    Program many(
        {python_, files_.file("many.py"), std::to_string(port), std::to_string(count), kind});
    EXPECT_EQ(many.line(), "there");
    const std::size_t each = (resident_memory(::getpid()) - before) * 1024 / count;
    RecordProperty("connections", static_cast<int>(count));
    RecordProperty("bytes_each", static_cast<int>(each));
    EXPECT_LT(each, bytes) << count << " connections";
    const auto begun = time::now();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(port), "hello\n");
    EXPECT_LT(time::now() - begun, 2s);
    EXPECT_GE(open_descriptors(::getpid()), count);
  }

  std::string ask(std::uint16_t port) {
    const std::string said =
        run(all_said_to(port, "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    return said.substr(said.find("\r\n\r\n") + 4);
  }

  std::string python_;
  TempDirectory files_;
  std::optional<Program> many_;  // until all were closed: idle ones are at once
};

TEST_F(HttpIdle, TenThousandThatNeverAskedCostLittle) { expect_costs_less_than(24'576, "waits"); }
TEST_F(HttpIdle, TenThousandThatHaveAskedCostLittle) { expect_costs_less_than(24'576, "asks"); }

}  // namespace
}  // namespace rouse::test
