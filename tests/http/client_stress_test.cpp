// The client and the server over TCP, on several threads: nobody gets another one's answer.
#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/join_handle.hpp"
#include "rouse/exec/spawner.hpp"
#include "rouse/runtime/runtime.hpp"
#include "rouse/sync/cancellation_token.hpp"
#include "rouse/time/sleep.hpp"
#include "rouse/time/timeout.hpp"

#include "http/client_support.hpp"

namespace rouse::http {
namespace {

Async<Response> say_target(Request& request) {
  if (request.target().ends_with('7')) co_await sleep(2ms);
  Response answer = Response::text(request.target());
  if (request.target().ends_with('3')) answer.header("Connection", "close");
  co_return answer;
}

Async<void> serve_targets(Server server, sync::CancellationToken stop) {
  Router routes;
  routes.get("/{number}", say_target);
  co_await server.serve(std::move(routes), stop.cancelled());
}

/// Some wait for less time than the server takes, and some drop what they have not read.
Async<void> ask_often(Client client, std::string base, int first, std::atomic<int>& answers) {
  for (int i = first; i < first + 100; ++i) {
    const std::string target = '/' + std::to_string(i);
    auto request = client.get(base + target);
    if (i % 5 == 0) {
      (void)co_await timeout(std::chrono::microseconds(i * 3), request.send()).result();
      continue;
    }
    auto reply = co_await request.send();
    if (i % 11 == 0) continue;
    EXPECT_EQ(co_await reply.text(), target);
    ++answers;
  }
}

TEST(HttpClientStress, NobodyGetsAnotherOnesAnswer) {
  Runtime runtime = Runtime::builder().worker_threads(3).build();
  std::atomic<int> answers{0};
  const auto run = [&]() -> Async<void> {
    auto server = co_await Server::bind("127.0.0.1:0");
    const std::string base = "http://" + server.local_addr().to_string();
    const sync::CancellationToken stop;
    auto serving = spawn(serve_targets, std::move(server), stop);
    const Client client = Client::builder().connections_per_host(6).build();
    std::vector<JoinHandle<void>> tasks;
    for (int i = 0; i < 10; ++i) {
      tasks.push_back(spawn(ask_often, client, base, 1000 * i, std::ref(answers)));
    }
    for (auto& task : tasks) co_await task;
    EXPECT_LE(client.metrics().open, 6U);
    stop.cancel();
    co_await serving;
  };
  runtime.block_on(run());
  EXPECT_GT(answers, 600);
}

}  // namespace
}  // namespace rouse::http
