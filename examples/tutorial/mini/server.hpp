// The server: a task for each connection, limits, and an end that loses no reply.
#pragma once

#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <rouse/rouse.hpp>

#include "mini/session.hpp"

namespace mini {

// [serve]
/// Serves one client until it leaves, or has to. The stream may be a socket or a pipe in memory.
template <class Stream>
rouse::Async<void> serve(Stream stream, std::shared_ptr<Shared> shared) {
  Session session(*shared);
  auto stopped = shared->stop.cancelled();  // one future for all rounds: by_ref
  const Limits& limits = shared->limits;
  for (;;) {
    const bool has_more = session.run();
    if (!session.replies().empty()) {
      co_await rouse::timeout(limits.write, stream.write_all(session.replies()));
      session.replies().clear();
    }
    if (session.is_over()) co_return;
    if (has_more) continue;

    std::size_t read = 0;  // stays 0 at end of file, and when the server stops
    const auto stop = [] {};
    const auto take = [&](std::size_t n) { read = n; };
    if (session.is_subscribed()) {
      // Messages are replies, too. A subscriber may be silent for as long as it likes.
      bool is_message = false;
      const auto deliver = [&](const auto& message) {
        is_message = true;
        session.replies() = *message->second;
      };
      co_await rouse::select_biased(rouse::on(rouse::by_ref(stopped), stop),
                                    rouse::on(session.inboxes().next(), deliver),
                                    rouse::on(stream.read(session.room()), take));
      if (is_message) continue;
    } else {
      auto reading = rouse::select_biased(rouse::on(rouse::by_ref(stopped), stop),
                                          rouse::on(stream.read(session.room()), take));
      if (limits.idle) {
        co_await rouse::timeout(*limits.idle, std::move(reading));
      } else {
        co_await reading;
      }
    }
    if (read == 0) co_return;
    session.add(read);
  }
}
// [/serve]

// [client]
using Slot = rouse::sync::BasicPermit<std::shared_ptr<rouse::sync::Semaphore>>;

/// A client of the network: whatever happens to it, the others do not notice. Its slot becomes free
/// and its token goes when it ends.
inline rouse::Async<void> serve_client(rouse::net::TcpStream stream, std::shared_ptr<Shared> shared,
                                       Slot, rouse::sync::TaskTracker::Token) {
  try {
    stream.set_nodelay(true);
    co_await serve(std::move(stream), shared);
  } catch (const std::system_error& error) {  // it is gone, too slow, or silent
    std::cerr << std::string("a client: ") + error.what() + "\n";
  }
}
// [/client]

// [accept]
/// Accepts until the server stops.
inline rouse::Async<void> accept_all(rouse::net::TcpListener listener,
                                     std::shared_ptr<Shared> shared,
                                     rouse::sync::TaskTracker clients) {
  const auto slots = std::make_shared<rouse::sync::Semaphore>(shared->limits.clients);
  while (auto accepted = co_await shared->stop.run_until_cancelled(listener.accept())) {
    auto slot = rouse::sync::Semaphore::try_acquire_owned(slots);
    if (!slot) {
      (void)accepted->stream.try_write("-ERR max number of clients reached\r\n");
      continue;
    }
    rouse::spawn(serve_client, std::move(accepted->stream), shared, std::move(*slot),
                 clients.token())
        .detach();
  }
}
// [/accept]

// [sweep]
/// Removes keys whose time is up and that nobody asks for, until the server stops.
inline rouse::Async<void> sweep(std::shared_ptr<Shared> shared) {
  auto every = rouse::interval(std::chrono::milliseconds(100));
  every.set_missed_tick(rouse::MissedTick::delay);
  while (co_await shared->stop.run_until_cancelled(every.tick())) {
    shared->store.with_each([](Shard& shard) { shard.sweep(rouse::time::now(), 100); });
  }
}
// [/sweep]

// [run]
/// Serves until `stop` is cancelled, then lets the clients finish what they are doing.
inline rouse::Async<void> run_server(rouse::net::TcpListener listener,
                                     std::shared_ptr<Shared> shared) {
  const rouse::sync::TaskTracker clients;
  rouse::spawn(sweep, shared).detach();
  co_await accept_all(std::move(listener), shared, clients);
  clients.close();
  (void)co_await rouse::timeout(shared->limits.drain, clients.wait()).result();
}
// [/run]

}  // namespace mini
