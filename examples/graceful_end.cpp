// How tasks end: by an exception that nobody joins, by an abort, and with their runtime. Whatever a
// task owns is destroyed each time.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include <rouse/rouse.hpp>

namespace {

/// Something that must be closed in the end, whatever happens.
class Connection {
 public:
  explicit Connection(std::atomic<int>& open) : open_(&open) { ++*open_; }
  Connection(Connection&& other) noexcept : open_(std::exchange(other.open_, nullptr)) {}
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (open_ != nullptr) --*open_;
  }

 private:
  std::atomic<int>* open_;
};

// [tasks]
rouse::Async<void> serve(Connection) {
  co_await rouse::pending_forever<>();  // stands for a server that waits for its clients
}

rouse::Async<void> fill_cache() {
  co_await rouse::yield_now();
  throw std::runtime_error("disk full");
}

rouse::Async<void> serve_for_a_while(std::atomic<int>* open) {
  rouse::JoinSet<> servers;
  for (int i = 0; i < 3; ++i) servers.spawn(serve, Connection(*open));
  std::printf("serving: %d connections\n", open->load());
  co_await servers.shutdown();  // aborts them, and waits until they have ended
  std::printf("aborted: %d connections\n", open->load());
}
// [/tasks]

std::string describe(const rouse::UnhandledException& unhandled) {
  try {
    std::rethrow_exception(unhandled.exception);
  } catch (const std::exception& error) {
    return "task " + unhandled.name + ": " + error.what();
  }
}

}  // namespace

int main() {
  std::promise<std::string> failure;
  auto rt =
      rouse::Runtime::builder()
          .worker_threads(2)
          .on_unhandled([&](const auto& unhandled) { failure.set_value(describe(unhandled)); })
          .build();

  // Nobody joins this task: its exception goes to the hook.
  rouse::task::Builder().name("cache").spawn_on(rt.spawner(), fill_cache).detach();
  std::printf("unhandled: %s\n", failure.get_future().get().c_str());

  std::atomic<int> open{0};
  rt.block_on(serve_for_a_while(&open));

  const rouse::RuntimeMetrics metrics = rt.metrics();
  std::printf("metrics: %zu workers, %zu tasks spawned, %zu alive\n", metrics.workers.size(),
              static_cast<std::size_t>(metrics.spawned_tasks),
              static_cast<std::size_t>(metrics.alive_tasks));

  // This one is still there when the runtime ends, which destroys it.
  auto last = rt.spawn(serve, Connection(open));
  std::printf("serving: %d connection\n", open.load());
  const bool all_gone = rt.shutdown_timeout(std::chrono::seconds(10));
  std::printf("ended: %s, %d connections\n", all_gone ? "all is gone" : "something runs on",
              open.load());
  try {
    rouse::block_on(last);
  } catch (const rouse::JoinError& error) {
    std::printf("the last join: %s\n", error.is_cancelled() ? "cancelled" : "failed");
  }
}
