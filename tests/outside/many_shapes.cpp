// usage: many_shapes FOLDER [restless | busy]
// A program whose tasks wait for all that there is, 1,000 of them and more. Writes what it says of
// them itself to FOLDER/json, FOLDER/text and FOLDER/folded, and then "ready" to standard output.
// Then it does what the next line on standard input says: "abort", or it ends.
//
// Restless: it has 50 tasks that never rest. Busy: a LocalExecutor whose thread is in one long
// poll, which the process can't look into. Of these it says nothing but "ready".
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <rouse/exec/await_local_set.hpp>
#include <rouse/rouse.hpp>
#include <rouse/sight.hpp>

namespace {

using namespace rouse;
using namespace std::chrono_literals;

template <class T>
void let_run(JoinHandle<T> handle) {
  handle.detach();
}
task::Builder named(std::string name) { return std::move(task::Builder().name(std::move(name))); }

// --- What tasks wait for. ---

struct Things {
  sync::Mutex<int> accounts{0};
  sync::Mutex<int> from{0};
  sync::Mutex<int> to{0};
  sync::RwLock<int> table{0};
  sync::Semaphore seats{0};
  sync::Notify told;
  sync::Barrier both{2};
  sync::OnceCell<int> cell;
  sync::CancellationToken token;
  std::array<sync::Mutex<int>, 2> of_parents;
};

Async<void> hold(sync::Mutex<int>& mutex) {
  auto guard = co_await mutex.lock();
  co_await sleep(20h);
}
Async<void> lock(sync::Mutex<int>& mutex) { auto guard = co_await mutex.lock(); }
Async<void> write(sync::RwLock<int>& table) {
  auto guard = co_await table.write();
  co_await sleep(21h);
}
Async<void> read(sync::RwLock<int>& table) { auto guard = co_await table.read(); }
Async<void> sit(sync::Semaphore& seats, [[maybe_unused]] int guest) {
  const int chairs = guest + 1;
  const auto seat = co_await seats.acquire();
  std::printf("%d\n", chairs);
}
Async<void> cross(sync::Mutex<int>& first, sync::Mutex<int>& second, sync::Barrier& both) {
  auto guard = co_await first.lock();
  co_await both.wait();
  auto other = co_await second.lock();
}
Async<void> dig(int depth) {
  if (depth == 0) {
    co_await sleep(22h);
  } else {
    co_await dig(depth - 1);
  }
}
Async<void> initialize(sync::OnceCell<int>& cell) {
  co_await cell.get_or_init([]() -> Async<int> {
    co_await sleep(23h);
    co_return 1;
  });
}
Async<void> nest(Things& things) {
  co_await timeout(24h, select(join(sit(things.seats, 1), sleep(25h)), things.told.notified()));
}
Async<void> gather(sync::Semaphore& seats, int count) {
  std::vector<Async<void>> all;
  for (int i = 0; i < count; ++i) all.push_back(sit(seats, i));
  co_await join_all(std::move(all));
}
Async<void> gather_in_any_order(sync::Semaphore& seats) {
  FuturesUnordered<Async<void>> all;
  for (int i = 0; i < 3; ++i) all.push(sit(seats, i));
  (void)co_await all.next();
}
AsyncStream<int> numbers(sync::Notify& told) {
  co_yield 1;
  co_await told.notified();
  co_yield 2;
}
Async<void> count(sync::Notify& told) {
  auto all = numbers(told);
  while (const auto number = co_await all.next()) {
    if (*number == 2) break;
  }
}
Async<void> branch(sync::Semaphore& seats) { co_await parallel(sit(seats, 5), sit(seats, 6)); }
Async<void> lock_in_a_scope(sync::Mutex<int>& mutex) {
  const auto guard = co_await mutex.lock();
  co_await scope([&](Scope& children) { children.spawn(lock, std::ref(mutex)); });
}
Async<void> lock_in_branches(sync::Mutex<int>& mutex) {
  const auto guard = co_await mutex.lock();
  co_await parallel(lock(mutex), lock(mutex));
}
Async<void> send_one(sync::Sender<int> to) { (void)co_await to.send(2); }
Async<void> receive(sync::Receiver<int>& from) { (void)co_await from.recv(); }
Async<void> accept_one(net::TcpListener listener) { (void)co_await listener.accept(); }
Async<void> read_bytes(net::TcpStream stream) {
  std::array<std::byte, 16> bytes;
  (void)co_await stream.read(bytes);
}
Async<void> join_it(JoinHandle<> task) { co_await task; }
Async<void> idle(int hours) { co_await sleep(std::chrono::hours(hours)); }

/// A future that keeps no waker.
class Forgetful {
 public:
  using Output = void;
  Poll<void> poll(Context&) { return pending; }
};
/// One that keeps it, and says nothing.
class Silent {
 public:
  using Output = void;
  Poll<void> poll(Context& cx) {
    waker_ = cx.waker();
    return pending;
  }

 private:
  Waker waker_;
};
Async<void> forget() { co_await Forgetful(); }

void spawn_all(const Spawner& on, Things& things) {
  let_run(on.spawn(hold, std::ref(things.accounts)));
  for (int i = 0; i < 3; ++i) let_run(on.spawn(lock, std::ref(things.accounts)));
  let_run(on.spawn(write, std::ref(things.table)));
  let_run(on.spawn(read, std::ref(things.table)));
  for (int i = 0; i < 10; ++i) let_run(on.spawn(sit, std::ref(things.seats), i));
  let_run(named("first").spawn_on(on, cross, std::ref(things.from), std::ref(things.to),
                                  std::ref(things.both)));
  let_run(named("second").spawn_on(on, cross, std::ref(things.to), std::ref(things.from),
                                   std::ref(things.both)));
  let_run(on.spawn(lock_in_a_scope, std::ref(things.of_parents[0])));
  let_run(on.spawn(lock_in_branches, std::ref(things.of_parents[1])));
  let_run(on.spawn(dig, 10));
  let_run(on.spawn(dig, 100));
  let_run(on.spawn(initialize, std::ref(things.cell)));
  let_run(on.spawn(nest, std::ref(things)));
  for (const int count : {3, 20, 3000}) let_run(on.spawn(gather, std::ref(things.seats), count));
  let_run(on.spawn(gather_in_any_order, std::ref(things.seats)));
  let_run(on.spawn(count, std::ref(things.told)));
  let_run(on.spawn(borrowed(things.token.cancelled())));
  let_run(on.spawn(join_it, on.spawn(pending_forever<void>())));
  let_run(on.spawn(AnyFuture<void>(idle(30))));
  let_run(on.spawn(AnyFuture<void>(sleep(31h))));
  let_run(on.spawn(forget()));
  let_run(on.spawn(Silent()));
  let_run(named("\x1b[31mred\"\n\xff caf\xc3\xa9").spawn_on(on, idle, 32));
  let_run(named(std::string(255, 'n') + "\xc3\xa9").spawn_on(on, idle, 33));
}
[[noreturn]] void end_as_told() {
  std::puts("ready");
  std::fflush(stdout);
  std::string command;
  std::getline(std::cin, command);
  if (command == "abort") std::abort();
  ::_exit(0);
}

Async<void> poll_long() {
  end_as_told();
  co_return;
}
Async<void> spawn_busy_ones() {
  let_run(named("waits").spawn_local(pending_forever<void>()));
  let_run(named("long").spawn_local(poll_long));
  co_return;
}
Async<void> run_busy_set() {
  LocalSet set;
  co_await run_until(set, spawn_busy_ones());
  co_await run_all(set);
}
[[noreturn]] void run_busy() {
  LocalExecutor outer;
  let_run(named("waits").spawn_on(outer.spawner(), pending_forever<void>()));
  let_run(named("outer").spawn_on(outer.spawner(), run_busy_set));
  outer.run();
  std::abort();
}

// --- The program. ---

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

/// Once all are where they will stay: two dumps that are the same say so.
void write_when_settled(const std::string& folder) {
  std::string before;
  std::string now;
  do {
    before = std::move(now);
    std::this_thread::sleep_for(20ms);
    now = sight::dump(sight::DumpOptions().patience(1ms)).json();
  } while (now != before || count_of(now, "\"state\":\"queued\"") != 2 ||
           count_of(now, "\"state\":\"running\"") != 1 ||
           count_of(now, "\"state\":\"blocking\"") != 2);
  for (const auto& [name, format] :
       {std::pair("/json", sight::Format::json), std::pair("/text", sight::Format::text),
        std::pair("/folded", sight::Format::folded)}) {
    const std::string file = folder + name;
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !sight::dump_to(fd, format)) std::abort();
    ::close(fd);
  }
}

Async<void> lock_and_yield(sync::Mutex<int>& mutex, int depth) {
  if (depth != 0) co_return co_await lock_and_yield(mutex, depth - 1);
  auto guard = co_await mutex.lock();
  ++*guard;
  co_await yield_now();
}
Async<void> never_rest(sync::Mutex<int>& mutex, int number) {
  for (int i = number;; ++i) co_await lock_and_yield(mutex, i % 5);
}
[[noreturn]] void run_restless() {
  std::array<sync::Mutex<int>, 10> mutexes;
  const Runtime runtime = Runtime::builder().worker_threads(2).build();
  for (int i = 0; i < 50; ++i) {
    let_run(runtime.spawn(never_rest, std::ref(mutexes[static_cast<std::size_t>(i % 10)]), i));
  }
  end_as_told();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2 && argv[2] == std::string("busy")) run_busy();
  if (argc > 2) run_restless();
  Things things;
  const auto name = sight::name(things.accounts, "accounts \x1b");
  auto [tx, rx] = sync::channel<int>(1);
  (void)tx.try_send(1);
  auto [other_tx, other_rx] = sync::channel<int>(1);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return 1;

  std::array<sync::Mutex<int>, 70> ring;
  sync::Barrier all_have_one(ring.size());

  Runtime runtime = Runtime::builder().worker_threads(4).max_blocking_threads(3).build();
  const Spawner on = runtime.spawner();
  for (int i = 0; i < 1000; ++i) let_run(on.spawn(idle, 1 + i % 3));
  spawn_all(on, things);
  for (std::size_t i = 0; i < ring.size(); ++i) {
    let_run(on.spawn(cross, std::ref(ring[i]), std::ref(ring[(i + 3) % ring.size()]),
                     std::ref(all_have_one)));
  }
  let_run(on.spawn(send_one, tx));
  let_run(on.spawn(receive, std::ref(other_rx)));
  let_run(on.spawn(branch, std::ref(things.seats)));
  const auto connect = [&]() -> Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    auto connection = co_await net::TcpStream::connect(listener.local_addr());
    auto accepted = co_await listener.accept();
    let_run(spawn(accept_one, std::move(listener)));
    let_run(spawn(read_bytes, std::move(accepted.stream)));
    let_run(spawn(read_bytes, std::move(connection)));
  };
  runtime.block_on(connect());

  // One that is polled, one that blocks, calls of the blocking pool.
  const auto read_pipe = [fd = pipe[0]] {
    char byte = 0;
    (void)!::read(fd, &byte, 1);
  };
  let_run(on.spawn([read_pipe]() -> Async<void> {
    read_pipe();
    co_return;
  }));
  std::binary_semaphore has_begun(0);
  let_run(on.spawn([&]() -> Async<void> {
    block_in_place([&] {
      has_begun.release();
      read_pipe();
    });
    co_return;
  }));
  has_begun.acquire();
  const auto block = [&]() -> Async<void> {
    for (int i = 0; i < 3; ++i) let_run(task::Builder().name("call").spawn_blocking(read_pipe));
    co_return;
  };
  runtime.block_on(block());

  // A LocalExecutor with its thread in it, one that nobody runs, and one that was never run.
  std::binary_semaphore is_running(0);
  std::thread([&] {
    const auto here = runtime.enter();
    Things things_here;
    LocalExecutor executor;
    spawn_all(executor.spawner(), things_here);
    is_running.release();
    executor.run();
  }).detach();
  is_running.acquire();
  const auto here = runtime.enter();
  Things other_things;
  LocalExecutor left;
  spawn_all(left.spawner(), other_things);
  left.run_until(sleep(1ms));
  const LocalExecutor fresh;
  let_run(fresh.spawner().spawn(idle, 40));

  write_when_settled(argv[1]);
  end_as_told();
}
