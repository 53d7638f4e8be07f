// Thousands of connections at once, between two processes: this one has the clients, the example
// echo_server is the other. Each client sends and reads back, without a pause, until time is up.
// Nothing is lost, memory does not grow, and no descriptor stays open in either.
//
// By default 1,000 connections for 2 seconds; with ROUSE_STRESS=1, 10,000 for 60.
// ROUSE_STRESS_CONNECTIONS and ROUSE_STRESS_SECONDS say other numbers. A connection needs a
// descriptor in each process: where the system allows fewer, there are fewer connections.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/rouse.hpp"

#include "support/latencies.hpp"
#include "support/process_figures.hpp"
#include "support/program.hpp"
#include "support/sanitizer.hpp"

namespace rouse::test {
namespace {

using namespace std::chrono_literals;

std::size_t setting(const char* name, std::size_t usual, std::size_t under_stress) {
  if (const char* text = std::getenv(name)) return std::strtoul(text, nullptr, 10);
  return std::getenv("ROUSE_STRESS") != nullptr ? under_stress : usual;
}

/// Asks for all descriptors that this process and its children may have; says how many.
std::size_t raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

/// What the clients of one run share.
struct Shared {
  Shared(net::SocketAddr at, std::size_t clients) : server(at), all_connected(clients + 1) {}
  net::SocketAddr server;
  sync::Semaphore connecting{256};  // fewer than may wait to be accepted
  sync::Barrier all_connected;
  sync::CancellationToken stop;
  Latencies latencies;
  std::atomic<std::uint64_t> bytes{0};
};

/// Bytes that differ from one client, and from one message, to the next.
void fill(std::span<std::uint8_t> message, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::uint8_t& byte : message) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::uint8_t>(state >> 32);
  }
}

/// The number of requests. Throws if one byte came back other than it was sent, or too many.
Async<std::uint64_t> client(Shared& run, std::uint64_t number) {
  auto permit = co_await run.connecting.acquire();
  auto stream = co_await net::TcpStream::connect(run.server);
  stream.set_nodelay(true);
  std::array<std::uint8_t, 512> sent{};
  std::array<std::uint8_t, 512> got;
  // The server has accepted whom it has answered.
  co_await stream.write_all({sent.data(), 1});
  co_await stream.read_exact({got.data(), 1});
  permit.release();
  co_await run.all_connected.wait();

  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  while (!run.stop.is_cancelled()) {
    const std::size_t size = 1 + (number * 31 + requests * 97) % sent.size();
    fill({sent.data(), size}, number << 32 | requests);
    const time::Instant start = time::now();
    co_await stream.write_all({sent.data(), size});
    co_await stream.read_exact({got.data(), size});
    run.latencies.add(time::now() - start);
    if (!std::equal(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(size), got.begin())) {
      throw std::runtime_error("what came back differs from what was sent");
    }
    ++requests;
    bytes += size;
  }
  co_await stream.shutdown();
  const std::size_t more = co_await stream.read(got);
  if (more != 0) throw std::runtime_error("more came back than was sent");
  run.bytes.fetch_add(bytes, std::memory_order_relaxed);
  co_return requests;
}

struct Memory {
  std::size_t here;
  std::size_t server;
};

/// A few percent, and what an allocator may take for reasons of its own.
void expect_flat(const char* where, std::size_t before, std::size_t after) {
  std::printf("%s: %zu KiB after warm-up, %zu KiB at the end\n", where, before, after);
  if (sanitized) return;  // they keep what was freed
  EXPECT_LE(after, before + before / 20 + 2048) << where << ": memory grows";
}

/// Waits until a process has as many descriptors as before; says how many it has.
std::size_t descriptors_when_settled(pid_t process, std::size_t wanted) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (open_descriptors(process) > wanted && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(10ms);  // another process: nothing tells when
  }
  return open_descriptors(process);
}

Async<std::uint64_t> load(Shared& run, std::size_t clients, std::chrono::seconds time, Memory& warm,
                          Memory& end, pid_t server) {
  JoinSet<std::uint64_t> tasks;
  for (std::uint64_t i = 0; i < clients; ++i) tasks.spawn(client, std::ref(run), i);
  // Whoever ends before all are connected has failed: its exception comes from here.
  (void)co_await select(run.all_connected.wait(), tasks.join_next());
  co_await sleep(time / 4.0);
  warm = Memory{resident_memory(::getpid()), resident_memory(server)};
  co_await sleep(time * 3 / 4.0);
  end = Memory{resident_memory(::getpid()), resident_memory(server)};
  run.stop.cancel();
  std::uint64_t requests = 0;
  while (auto done = co_await tasks.join_next()) requests += *done;
  co_return requests;
}

TEST(EchoStress, ThousandsOfConnectionsLoseNothingAndLeaveNothingBehind) {
  const std::string echo_server = example("echo_server");
  if (echo_server.empty()) GTEST_SKIP() << "the example echo_server is not built";
  const std::size_t limit = raise_descriptor_limit();
  std::size_t connections = setting("ROUSE_STRESS_CONNECTIONS", 1000, 10'000);
  const std::chrono::seconds time(setting("ROUSE_STRESS_SECONDS", 2, 60));
  if (connections + 100 > limit) {
    connections = limit - 100;
    std::printf("only %zu connections: a process may have %zu descriptors\n", connections, limit);
  }

  Program server({echo_server, "127.0.0.1:0"});
  Runtime rt = Runtime::builder().worker_threads(2).build();
  Shared run(server.listening_on(), connections);
  const std::size_t server_descriptors = open_descriptors(server.pid());
  const std::size_t own_descriptors = open_descriptors(::getpid());

  Memory warm{};
  Memory end{};
  const std::uint64_t requests = rt.block_on(load(run, connections, time, warm, end, server.pid()));

  std::printf(
      "%zu connections, %lld s: %llu requests, %llu bytes each way, p50 %.1f ms, p99 %.1f ms\n",
      connections, static_cast<long long>(time.count()), static_cast<unsigned long long>(requests),
      static_cast<unsigned long long>(run.bytes.load()), run.latencies.percentile_ms(0.5),
      run.latencies.percentile_ms(0.99));
  EXPECT_GE(requests, connections);
  expect_flat("clients", warm.here, end.here);
  expect_flat("server", warm.server, end.server);
  EXPECT_EQ(open_descriptors(::getpid()), own_descriptors);
  EXPECT_EQ(descriptors_when_settled(server.pid(), server_descriptors), server_descriptors);
}

}  // namespace
}  // namespace rouse::test
