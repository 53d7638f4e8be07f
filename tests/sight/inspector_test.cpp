// The inspector answers; and neither a slow, a half nor a wrong request keeps it from that.
#include "sight/inspector.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/exec/task_builder.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sight/start.hpp"

#include "sight/inspected.hpp"
#include "sight/page.hpp"
#include "sight/seen.hpp"
#include "sys/process_fork.hpp"

namespace {

using namespace rouse;
using namespace std::chrono_literals;
using rouse::test::body_of;
using rouse::test::field_of;
using rouse::test::get;
using rouse::test::Inspected;
using rouse::test::InspectorClient;
using rouse::test::Json;
using rouse::test::let_run;
using rouse::test::runtime_with;
using rouse::test::see_idle;
using rouse::test::status_of;
using ::testing::HasSubstr;
using ::testing::Not;

// --- What it answers. ---

TEST(Inspector, ShowsTheTasksInEachFormat) {
  const Runtime runtime = runtime_with(2);
  see_idle({let_run(
      task::Builder().name("waits").spawn_on(runtime.spawner(), pending_forever<void>()))});
  Inspected inspected;
  EXPECT_THAT(inspected.ask(get("/dump")), HasSubstr("\"waits\"  idle"));
  EXPECT_EQ(inspected.ask(get("/dump?format=text")).substr(0, 15), "HTTP/1.1 200 OK");
  const std::string json = inspected.ask(get("/dump?format=json"));
  EXPECT_EQ(field_of(json, "Content-Type"), "application/json");
  EXPECT_EQ(rouse::test::dump_schema().problem_of(Json::parse(body_of(json))), "");
  EXPECT_THAT(body_of(inspected.ask(get("/dump?format=folded"))), HasSubstr("idle"));
  EXPECT_EQ(status_of(inspected.ask(get("/dump?format=xml"))), 404);
}

TEST(Inspector, EachRouteAnswersWithItsLength) {
  Inspected inspected;
  for (const char* const route : {"/", "/dump", "/metrics", "/sites", "/slow", "/trace"}) {
    const std::string answer = inspected.ask(get(route));
    EXPECT_EQ(status_of(answer), 200) << route;
    EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(body_of(answer).size())) << route;
    EXPECT_EQ(field_of(answer, "Connection"), "close");
    EXPECT_EQ(field_of(answer, "Cache-Control"), "no-store");
    EXPECT_EQ(field_of(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_THAT(field_of(answer, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
    EXPECT_EQ(field_of(answer, "Access-Control-Allow-Origin"), "");
    EXPECT_EQ(field_of(answer, "Set-Cookie"), "");
  }
  for (const char* const route : {"/other", "/dump/", "//", "/../etc/passwd", "/Dump"}) {
    EXPECT_EQ(status_of(inspected.ask(get(route))), 404) << route;
  }
}

TEST(Inspector, ThePageRunsNothingButItsOwnScript) {
  Inspected inspected;
  const std::string answer = inspected.ask(get("/"));
  EXPECT_EQ(body_of(answer), sight::page());
  EXPECT_LT(sight::page().size(), 60 * 1024U);
  const std::string policy = field_of(answer, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(std::string(sight::page()), Not(HasSubstr("innerHTML")));
}

TEST(Inspector, ToHeadItTellsWhatGetWouldBe) {
  Inspected inspected;
  const std::string answer = inspected.ask("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(sight::page().size()));
  EXPECT_EQ(body_of(answer), "");
}

TEST(Inspector, HostileNamesStayText) {
  const Runtime runtime = runtime_with(1);
  see_idle({let_run(task::Builder()
                        .name("<script>alert(1)</script>\x1b[31m\r\n\r\nHTTP/1.1 200 OK")
                        .spawn_on(runtime.spawner(), pending_forever<void>()))});
  Inspected inspected;
  const std::string json = inspected.ask(get("/dump?format=json"));
  EXPECT_EQ(field_of(json, "Content-Length"), std::to_string(body_of(json).size()));
  EXPECT_EQ(rouse::test::dump_schema().problem_of(Json::parse(body_of(json))), "");
  const std::string text = inspected.ask(get("/dump"));
  EXPECT_TRUE(rouse::test::is_harmless(body_of(text)));
  EXPECT_EQ(field_of(text, "Content-Type"), "text/plain; charset=utf-8");
}

/// All workers are stuck, and one task that waits is shown all the same.
TEST(Inspector, AnswersWhileAllWorkersAreStuck) {
  const std::string path = Inspected::directory().file("stuck");
  const sight::Sight sight = sight::start(sight::Options().socket(path).tcp());
  EXPECT_EQ(sight.socket_path(), path);
  EXPECT_THAT(sight.url(), HasSubstr("http://127.0.0.1:"));
  Runtime runtime = runtime_with(2);
  std::atomic<int> begun = 0;
  std::atomic<bool> is_over = false;
  const auto spin = [&]() -> Async<void> {
    ++begun;
    while (!is_over) std::this_thread::yield();
    co_return;
  };
  auto first = runtime.spawn(spin);
  auto second = runtime.spawn(spin);
  while (begun != 2) std::this_thread::yield();
  InspectorClient client(*sys::unix_address(path));
  client.send(get("/dump"));
  std::string answer;
  const auto until = std::chrono::steady_clock::now() + rouse::test::patience;
  while (!client.is_over() && std::chrono::steady_clock::now() < until) {
    answer += client.take();
    std::this_thread::yield();
  }
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_THAT(answer, HasSubstr("running"));
  is_over = true;
  runtime.block_on(std::move(first));
  runtime.block_on(std::move(second));
}

// --- Clients that misbehave. ---

TEST(Inspector, ARequestMayComeByteForByte) {
  Inspected inspected;
  InspectorClient client = inspected.connect();
  for (const char c : get("/metrics")) {
    EXPECT_EQ(client.take(), "");
    client.send(std::string(1, c));
    inspected.turn();
  }
  EXPECT_EQ(status_of(inspected.read(client)), 200);
}

TEST(Inspector, AfterFiveSecondsHalfARequestIsCutOff) {
  Inspected inspected;
  InspectorClient client = inspected.connect();
  client.send("GET / HTTP/1.1\r\n");
  inspected.turn();
  EXPECT_EQ(inspected.next(), 5s);
  Inspected::pass(4999ms);
  client.send("Host: local");  // progress gives no more time
  inspected.turn();
  EXPECT_EQ(client.take(), "");
  EXPECT_FALSE(client.is_over());
  EXPECT_EQ(inspected.next(), 1ms);
  Inspected::pass(1ms);
  inspected.turn();
  EXPECT_EQ(client.take(), "");
  EXPECT_TRUE(client.is_over());
  EXPECT_EQ(inspected.next(), std::chrono::nanoseconds::max());
}

TEST(Inspector, AClientThatSaysNothingIsCutOffToo) {
  Inspected inspected;
  InspectorClient client = inspected.connect();
  inspected.turn();
  Inspected::pass(5s);
  inspected.turn();
  (void)client.take();
  EXPECT_TRUE(client.is_over());
}

/// So many tasks of different names that their dump does not fit into the buffers of a socket.
class ManyTasks {
 public:
  static constexpr std::uint64_t count = 3000;
  ManyTasks() {
    for (std::uint64_t i = 0; i < count; ++i) {
      let_run(task::Builder()
                  .name(std::to_string(i) + std::string(240, '.'))
                  .spawn_on(runtime_.spawner(), pending_forever<void>()));
    }
  }

 private:
  Runtime runtime_ = runtime_with(1);
};

TEST(Inspector, ASlowReaderKeepsNobodyWaitingAndIsCutOff) {
  const ManyTasks tasks;
  Inspected inspected;
  InspectorClient slow = inspected.connect();
  slow.send(get("/dump"));
  inspected.turn();
  std::string got = slow.take(100);
  EXPECT_EQ(status_of(got), 200);
  EXPECT_EQ(status_of(inspected.ask(get("/metrics"))), 200);
  const auto size = std::stoul(field_of(got + slow.take(500), "Content-Length"));
  ASSERT_GT(size, 700'000U);
  inspected.turn();  // the one that asked meanwhile has closed
  // 5 s, and 1 s more for each 256 KiB.
  EXPECT_LT(inspected.next(), 5s + size * 4us);
  Inspected::pass(inspected.next());
  inspected.turn();
  std::size_t rest = 0;
  for (;;) {
    const std::size_t more = slow.take().size();
    rest += more;
    if (more == 0) break;
  }
  EXPECT_TRUE(slow.is_over());
  EXPECT_LT(rest, size);
}

TEST(Inspector, AFastReaderGetsAllOfALargeDump) {
  const ManyTasks tasks;
  Inspected inspected;
  for (int i = 0; i < 3; ++i) {  // the memory of one answer is there for the next
    const std::string answer = inspected.ask(get("/dump?format=json"));
    EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(body_of(answer).size()));
    EXPECT_EQ(Json::parse(body_of(answer))["tasks"].number(), ManyTasks::count);
  }
}

/// On a machine that has much else to do.
TEST(Inspector, TheTimeToReadADumpBeginsWhenItIsThere) {
  const ManyTasks tasks;
  Inspected inspected;
  InspectorClient client = inspected.connect();
  inspected.turn();
  client.send(get("/dump"));
  Inspected::pass_after_next_look_at_clock(60s);
  inspected.hear();
  const std::string answer = inspected.read(client);
  EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(body_of(answer).size()));
}

TEST(Inspector, AnAnswerThatDoesNotFitIsRefused) {
  const ManyTasks tasks;
  const std::string request = get("/dump");
  const auto head = sight::parse_http_head(request);
  sight::BodyRoom room{.left = 65536};
  sight::Answer answer;
  answer.make(*head, room);
  EXPECT_EQ(status_of(answer.head()), 503);
  EXPECT_EQ(room.left, 65536U);
  // While another one takes nearly all.
  room.left = sight::BodyRoom::all;
  sight::Answer other;
  other.make(*head, room);
  EXPECT_EQ(status_of(other.head()), 200);
  EXPECT_LT(room.left, sight::BodyRoom::all - other.body().size() + 65536);
  room.left = 0;
  answer.make(*head, room);
  EXPECT_EQ(status_of(answer.head()), 503);
  other.release();
  EXPECT_GT(room.left, 1'000'000U);
  answer.make(*head, room);
  EXPECT_EQ(status_of(answer.head()), 200);
}

TEST(Inspector, EightAreServedAndTheOthersWait) {
  Inspected inspected;
  std::vector<InspectorClient> idle;
  for (std::size_t i = 0; i < sight::Inspector::most_connections; ++i) {
    idle.push_back(inspected.connect());
    inspected.turn();
  }
  InspectorClient ninth = inspected.connect();
  ninth.send(get("/metrics"));
  inspected.turn();
  EXPECT_EQ(ninth.take(), "");
  EXPECT_FALSE(ninth.is_over());
  idle[3].close();
  EXPECT_EQ(status_of(inspected.read(ninth)), 200);
  // And those who hog all places have them for five seconds.
  idle[3] = inspected.connect();
  inspected.turn();
  InspectorClient next = inspected.connect();
  next.send(get("/metrics"));
  inspected.turn();
  EXPECT_EQ(next.take(), "");
  Inspected::pass(5s);
  EXPECT_EQ(status_of(inspected.read(next)), 200);
}

/// Whoever is on the machine reaches the port: he keeps the owner from nothing but the port.
TEST(Inspector, ByTcpNobodyTakesAllPlaces) {
  Inspected inspected(sight::Options().tcp().socket(Inspected::directory().file("beside_a_port")));
  std::vector<InspectorClient> idle;
  for (std::size_t i = 0; i < sight::Inspector::most_connections; ++i) {
    idle.push_back(inspected.connect_by_tcp());
    inspected.turn();
  }
  EXPECT_EQ(status_of(inspected.ask(get("/metrics"))), 200);
  InspectorClient next = inspected.connect_by_tcp();
  next.send(get("/"));
  inspected.turn();
  EXPECT_EQ(next.take(), "");
  for (InspectorClient& each : idle) each.close();
  EXPECT_EQ(status_of(inspected.read(next)), 200);
}

TEST(Inspector, OneRequestAConnectionIsAnswered) {
  Inspected inspected;
  InspectorClient client = inspected.connect();
  client.send(get("/sites") + get("/slow") + get("/metrics"));
  const std::string answer = inspected.read(client);
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos);
  EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(body_of(answer).size()));
}

TEST(Inspector, WhoNeverClosesIsLeftAfterASecond) {
  Inspected inspected;
  InspectorClient client = inspected.connect();
  client.send(get("/metrics"));
  inspected.turn();
  EXPECT_EQ(status_of(client.take()), 200);
  EXPECT_TRUE(client.is_over());  // it was told that this is all
  EXPECT_EQ(inspected.next(), 1s);
  client.send("more and more");
  inspected.turn();
  EXPECT_EQ(inspected.next(), 1s);
  Inspected::pass(1s);
  inspected.turn();
  EXPECT_EQ(inspected.next(), std::chrono::nanoseconds::max());
}

TEST(Inspector, AHeadOfMoreThanEightKilobytesIsRefused) {
  Inspected inspected;
  InspectorClient client = inspected.connect();
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  while (!client.is_over()) {
    client.send("X-More: " + std::string(1000, 'x') + "\r\n");
    inspected.turn();
    if (const std::string answer = client.take(); !answer.empty()) {
      EXPECT_EQ(status_of(answer), 431);
      break;
    }
  }
}

TEST(Inspector, WithoutDescriptorsItTriesAgain) {
  if (internal::address_sanitizer) {
    GTEST_SKIP() << "UBSan's check of virtual calls needs descriptors itself";
  }
  Inspected inspected;
  InspectorClient client = inspected.connect();
  client.send(get("/metrics"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  inspected.turn();
  EXPECT_EQ(inspected.next(), 100ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  inspected.turn();
  EXPECT_EQ(client.take(), "");
  Inspected::pass(100ms);
  EXPECT_EQ(status_of(inspected.read(client)), 200);
}

// --- Who may ask. ---

TEST(Inspector, ByTcpOnlyWhoHasTheToken) {
  Inspected inspected(sight::Options().tcp());
  const std::string right = "Authorization: Bearer " + inspected.token() + "\r\n";
  EXPECT_EQ(inspected.token().size(), 32U);
  EXPECT_EQ(status_of(inspected.ask_by_tcp(get("/"))), 200);
  for (const char* const route : {"/dump", "/metrics", "/sites", "/slow", "/trace", "/other"}) {
    EXPECT_EQ(status_of(inspected.ask_by_tcp(get(route))), 401) << route;
    EXPECT_EQ(status_of(inspected.ask_by_tcp(get(route, right))),
              std::string(route) == "/other" ? 404 : 200);
  }
  std::string almost = right;
  almost[almost.size() - 3] = almost[almost.size() - 3] == '0' ? '1' : '0';
  for (const std::string& wrong :
       {almost, std::string("Authorization: Bearer \r\n"),
        "Authorization: " + inspected.token() + "\r\n", right.substr(0, right.size() - 3) + "\r\n",
        right.substr(0, right.size() - 2) + "0\r\n",
        std::string("Authorization: Bearer ") + std::string(32, '0') + "\r\n"}) {
    EXPECT_EQ(status_of(inspected.ask_by_tcp(get("/dump", wrong))), 401) << wrong;
  }
  EXPECT_EQ(status_of(inspected.ask_by_tcp(get("/dump?token=" + inspected.token()))), 401);
}

TEST(Inspector, EachHasATokenOfItsOwn) {
  const Inspected one(sight::Options().tcp());
  const Inspected other(sight::Options().tcp());
  EXPECT_NE(one.token(), other.token());
}

TEST(Inspector, ByTcpOnlyToLoopbackNamesAndFromItsOwnPage) {
  Inspected inspected(sight::Options().tcp());
  const std::string more = "Authorization: Bearer " + inspected.token() + "\r\n";
  const auto ask = [&](const std::string& fields) {
    return status_of(inspected.ask_by_tcp("GET /metrics HTTP/1.1\r\n" + fields + more + "\r\n"));
  };
  const std::string port = std::to_string(inspected.port());
  for (const std::string host : {"localhost", "127.0.0.1", "[::1]"}) {
    EXPECT_EQ(ask("Host: " + host + "\r\n"), 200);
    EXPECT_EQ(ask("Host: " + host + ":" + port + "\r\n"), 200);
    EXPECT_EQ(
        ask("Host: " + host + ":" + port + "\r\nOrigin: http://" + host + ":" + port + "\r\n"),
        200);
  }
  for (const char* const host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "",
        "localhost:", "localhost:80x", "[::1", "10.0.0.1", "localhost:123456", "user@localhost"}) {
    EXPECT_EQ(ask(std::string("Host: ") + host + "\r\n"), 403) << host;
  }
  for (const char* const origin : {"http://evil.example", "null", "https://localhost", "localhost",
                                   "http://localhost:1", "http://127.0.0.1", ""}) {
    EXPECT_EQ(ask(std::string("Host: localhost\r\nOrigin: ") + origin + "\r\n"), 403) << origin;
  }
}

TEST(Inspector, TheSocketIsForThisUserOnly) {
  const Inspected inspected;
  struct stat found{};
  ASSERT_EQ(::stat(inspected.inspector().socket_path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
}

/// Also if somebody has opened the socket's file to all.
TEST(Inspector, AnotherUserIsNotServed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  rouse::test::TempDirectory open;
  const std::string path = open.file("sight");
  Inspected inspected(sight::Options().socket(path));
  ASSERT_EQ(::chmod(open.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(2);
    InspectorClient client(*sys::unix_address(path));
    (void)client.try_send(get("/metrics"));  // it may be over already
    while (client.take().empty() && !client.is_over()) ::usleep(1000);
    ::_exit(client.is_over() ? 0 : 1);
  }
  int status = -1;
  while (::waitpid(child, &status, WNOHANG) == 0) inspected.turn();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(status_of(inspected.ask(get("/metrics"))), 200);
}

// --- Forks. ---

TEST(Inspector, AForkedChildNeitherListensNorRemovesTheSocket) {
  auto inspected = std::make_unique<Inspected>(
      sight::Options().socket(Inspected::directory().file("forked")).tcp());
  const std::string path = inspected->inspector().socket_path();
  const std::uint16_t port = inspected->port();
  InspectorClient half = inspected->connect();
  half.send("GET /metrics HTTP/1.1\r\n");
  inspected->turn();
  int go[2];
  int begun[2];
  ASSERT_EQ(::pipe(go), 0);
  ASSERT_EQ(::pipe(begun), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(go[1]);
    inspected.reset();
    char byte = 0;
    if (::write(begun[1], &byte, 1) != 1) ::_exit(3);
    ::_exit(static_cast<int>(::read(go[0], &byte, 1)));  // until the parent is done
  }
  ::close(go[0]);
  char byte = 0;
  ASSERT_EQ(::read(begun[0], &byte, 1), 1);
  half.send("Host: localhost\r\n\r\n");  // the child has not ended it
  EXPECT_EQ(status_of(inspected->read(half)), 200);
  EXPECT_EQ(status_of(inspected->ask(get("/metrics"))), 200);
  inspected.reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  // Nobody listens any more, though the child lives.
  const io::OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sys::NativeAddress address = sys::loopback_address(port);
  EXPECT_EQ(::connect(fd.get(), address.data(), address.size), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  for (const int end : {go[1], begun[0], begun[1]}) ::close(end);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
