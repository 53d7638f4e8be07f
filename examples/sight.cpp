// What do 1,005 tasks wait for? A dump says so without polling one. Three never go on: one whose
// future forgot its waker, and two that want each other's locks. A last one hogs its worker.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include <rouse/rouse.hpp>
#include <rouse/sight/dump.hpp>
#include <rouse/sight/start.hpp>

using namespace std::chrono_literals;

// [lost]
/// A future that is ready once somebody has rung. Its poll has a bug.
class Bell {
 public:
  using Output = void;

  rouse::Poll<void> poll(rouse::Context&) {
    if (has_rung_) return rouse::Poll<void>::ready();
    return rouse::pending;  // and keeps no waker: ring() has nobody to wake
  }
  void ring() { has_rung_ = true; }

 private:
  bool has_rung_ = false;
};

rouse::Async<void> answer_the_door() { co_await Bell(); }
// [/lost]

// [crossed]
using Account = rouse::sync::Mutex<int>;

rouse::Async<void> move_money(Account* from, Account* to, rouse::sync::Barrier* both_began) {
  auto source = co_await from->lock();
  co_await both_began->wait();
  auto target = co_await to->lock();  // which the other task holds
  *target += std::exchange(*source, 0);
}
// [/crossed]

rouse::Async<void> doze() { co_await rouse::sleep(1h); }
rouse::Async<void> sleep_long(int) { co_await doze(); }

// [server]
rouse::Async<void> serve(rouse::net::TcpStream peer) {
  std::array<char, 4096> buf;
  while (auto n = co_await peer.read(buf)) co_await peer.write_all({buf.data(), n});
}

rouse::Async<void> listen(rouse::net::TcpListener listener) {
  for (;;) {
    auto [peer, addr] = co_await listener.accept();
    rouse::spawn(serve(std::move(peer))).detach();
  }
}
// [/server]

rouse::Async<int> count_primes_below(int limit) {
  co_await rouse::yield_now();
  int primes = 0;
  for (int n = 2; n < limit; ++n) {
    int divisor = 2;
    while (n % divisor != 0) ++divisor;
    primes += divisor == n ? 1 : 0;
  }
  co_return primes;  // no other task had this worker meanwhile
}

void tell(const rouse::sight::SlowPoll& poll) {
  static bool is_told = false;  // and again when it has taken twice as long
  if (poll.awaits.empty() || std::exchange(is_told, true)) return;
  const auto& last = poll.awaits.front();
  std::printf("\nSLOW POLL of \"%s\"\n  after %s:%u  %s\n", poll.name, last.file_name(),
              last.line(), last.function_name());
}

/// A dump, as soon as all of so many tasks wait.
rouse::sight::Report dump_when_quiet(std::size_t tasks) {
  for (int tries = 1;; ++tries) {
    std::this_thread::sleep_for(100ms);
    auto report = rouse::sight::dump();
    const bool is_quiet = report.folded().find("queued") == std::string::npos &&
                          report.folded().find("running") == std::string::npos;
    if ((is_quiet && report.tasks() == tasks) || tries == 100) return report;
  }
}

int main() {
  Account savings(100);
  Account checking(50);
  rouse::sync::Barrier both_began(2);
  auto rt = rouse::Runtime::builder().worker_threads(2).build();

  auto listener = rt.block_on(rouse::net::TcpListener::bind("127.0.0.1:0"));
  const auto address = listener.local_addr();
  rt.spawn(answer_the_door()).detach();
  rouse::task::Builder builder;
  builder.name("save")
      .spawn_on(rt.spawner(), move_money, &checking, &savings, &both_began)
      .detach();
  builder.name("spend")
      .spawn_on(rt.spawner(), move_money, &savings, &checking, &both_began)
      .detach();
  for (int i = 0; i < 1000; ++i) rt.spawn(sleep_long, i).detach();
  rt.spawn(listen(std::move(listener))).detach();
  const auto client = rt.block_on(rouse::net::TcpStream::connect(address));

  std::fputs(dump_when_quiet(1005).text().c_str(), stdout);
  const auto sight =
      rouse::sight::start(rouse::sight::Options().slow_poll(50ms).on_slow_poll(tell));
  builder.name("primes");
  std::printf("%d\n", rt.block_on(builder.spawn_on(rt.spawner(), count_primes_below, 40'000)));
  rt.shutdown_timeout(10s);  // destroys the tasks, wherever they wait
}
