// A world of connections for tests of Pool: they count, and hang and fail as a test wants.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

#include "rouse/core/async.hpp"
#include "rouse/exec/this_task.hpp"
#include "rouse/runtime/pool.hpp"
#include "rouse/time/pause.hpp"
#include "rouse/time/sleep.hpp"

#include "time/paused.hpp"

namespace rouse::test {

/// What the connections of a test tell of themselves.
struct World {
  std::atomic<int> made{0};
  std::atomic<int> alive{0};
  std::atomic<int> most_alive{0};
  std::atomic<int> attempts{0};
  std::atomic<int> closed_by_others{0};  // than the janitor
  std::atomic<int> fails{0};             // so many of the next attempts
  std::chrono::nanoseconds connect_takes = std::chrono::nanoseconds(0);
  std::chrono::nanoseconds clean_takes = std::chrono::nanoseconds(0);
  bool clean_works = true;
};

class Connection {
 public:
  explicit Connection(std::shared_ptr<World> world) : world_(std::move(world)), id(++world_->made) {
    const int alive = ++world_->alive;
    if (alive > world_->most_alive) world_->most_alive = alive;
  }
  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (!world_) return;
    --world_->alive;
    if (task::name() != "pool janitor") ++world_->closed_by_others;
  }

 private:
  std::shared_ptr<World> world_;

 public:
  int id;
  bool is_open = true;
  bool is_between_requests = false;
  int uses = 0;  // guarded by the pool: thread sanitizer sees if two have it
};

/// Cannot clean: what is dirty is closed.
class Plain {
 public:
  explicit Plain(std::shared_ptr<World> world) : world_(std::move(world)) {}

  Async<Connection> connect() {
    ++world_->attempts;
    if (world_->connect_takes != std::chrono::nanoseconds(0)) co_await sleep(world_->connect_takes);
    if (world_->fails > 0) {
      --world_->fails;
      throw std::system_error(std::make_error_code(std::errc::connection_refused));
    }
    co_return Connection(world_);
  }
  static bool is_open(const Connection& connection) { return connection.is_open; }
  static bool is_clean(const Connection& connection) { return connection.is_between_requests; }

 protected:
  std::shared_ptr<World> world_;
};

class Cleaning : public Plain {
 public:
  using Plain::Plain;
  Async<bool> clean(Connection& connection) {
    if (world_->clean_takes != std::chrono::nanoseconds(0)) co_await sleep(world_->clean_takes);
    connection.uses = 0;
    co_return world_->clean_works;
  }
};

/// Runs `program(world)` with the paused clock.
template <class Program>
void run_with_world(Program program) {
  run_paused([&] { return program(std::make_shared<World>()); });
}

inline Async<void> let_others_run() { co_await time::advance(std::chrono::nanoseconds(0)); }

template <class M>
Async<int> take_and_give_back(Pool<M> pool) {
  auto lent = co_await pool.take();
  const int id = lent->id;
  lent.mark_clean();
  co_return id;
}

/// The error that `take` fails with.
template <class M>
Async<std::error_code> error_of_take(Pool<M> pool) {
  try {
    const auto lent = co_await pool.take().result();
    co_return lent ? std::error_code() : lent.error();
  } catch (const std::system_error& error) {  // of `connect`, which throws
    co_return error.code();
  }
}

}  // namespace rouse::test
