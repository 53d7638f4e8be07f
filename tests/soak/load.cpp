#include "soak/load.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "rouse/rouse.hpp"

namespace rouse::soak {
namespace {

using namespace std::chrono_literals;
using Random = std::minstd_rand;

void count(Figures::Count& counted, std::uint64_t n = 1) {
  counted.fetch_add(n, std::memory_order_relaxed);
}

// --- Echo. ---

/// Until the client goes, in whatever way.
Async<void> serve(net::TcpStream peer) {
  std::vector<char> buf(4096);
  for (;;) {
    const Result<std::size_t> n = co_await peer.read(buf).result();
    if (!n || *n == 0) co_return;
    const Result<void> written = co_await peer.write_all({buf.data(), *n}).result();
    if (!written) co_return;
  }
}

Async<void> listen(net::TcpListener listener) {
  for (;;) {
    auto accepted = co_await listener.accept();
    spawn(serve, std::move(accepted.stream)).detach();
  }
}

Async<void> ask(net::TcpStream& stream, const std::vector<char>& sent, std::vector<char>& got) {
  got.assign(sent.size(), 0);
  co_await stream.write_all(sent);
  co_await stream.read_exact(got);
}

/// A connection, until it was used for some time or a round trip was dropped midway.
Async<void> talk(Figures& figures, net::SocketAddr server, Random& random, End end) {
  auto stream = co_await net::TcpStream::connect(server);
  stream.set_nodelay(true);
  // Mostly without a farewell: the addresses of those who say one are kept for a minute.
  if (random() % 8 != 0) stream.set_linger(0s);
  std::vector<char> sent;
  std::vector<char> got;
  for (std::size_t trips = 100 + random() % 1000; trips != 0 && end.is_ahead(); --trips) {
    sent.resize(1 + random() % (random() % 16 == 0 ? 4096 : 64));
    std::ranges::generate(sent, [&random] { return static_cast<char>(random()); });
    const time::Instant start = time::now();
    // Most get much time, some so little that they are dropped midway.
    const bool in_a_hurry = random() % 64 == 0;
    const auto given = in_a_hurry ? std::chrono::microseconds(random() % 4 * 100) : 60s;
    const Result<void> in_time = co_await timeout(given, ask(stream, sent, got)).result();
    if (!in_time && in_a_hurry) {
      count(figures.cut);
      co_return;
    }
    if (!in_time) throw std::runtime_error("no reply within a minute");
    if (sent != got) figures.mistake("a reply differs from what was sent");
    figures.round_trip.add(time::now() - start);
    count(figures.replies);
  }
}

Async<void> client(Figures& figures, net::SocketAddr server, unsigned seed, End end) {
  Random random(seed);
  while (end.is_ahead()) {
    bool no_address_left = false;
    try {
      co_await talk(figures, server, random, end);
    } catch (const std::system_error& error) {
      no_address_left = error.code() == std::errc::address_not_available;
      if (!no_address_left) figures.mistake(std::string("echo: ") + error.what());
    } catch (const std::exception& error) {
      figures.mistake(std::string("echo: ") + error.what());
    }
    if (no_address_left) co_await sleep(20ms);
  }
}

// --- Timers. ---

Async<void> ticks(Figures& figures, End end) {
  Interval every = interval(1ms);
  every.set_missed_tick(MissedTick::skip);
  while (end.is_ahead()) {
    const time::Instant due = co_await every.tick();
    figures.tick.add(time::now() - due);
  }
}

Async<void> sleeper(Figures& figures, unsigned seed, End end) {
  Random random(seed);
  while (end.is_ahead()) {
    const auto duration = std::chrono::microseconds(random() % 20'000);
    const time::Instant start = time::now();
    if (random() % 2 == 0) {
      co_await sleep(duration);
    } else {
      const Result<void> late = co_await timeout(duration, pending_forever<void>()).result();
      if (late) figures.mistake("what never ends has ended");
      const Result<void> in_time = co_await timeout(1h, yield_now()).result();
      if (!in_time) figures.mistake("a timeout of an hour is over at once");
    }
    if (time::now() < start + duration) figures.mistake("a timer was early");
    count(figures.timers);
  }
}

// --- Channels. ---

Async<void> produce(sync::Sender<std::uint64_t> tx, End end) {
  for (std::uint64_t i = 0; end.is_ahead(); ++i) {
    const Result<void> sent = co_await tx.send(i);
    if (!sent) co_return;
  }
}

Async<void> consume(Figures& figures, sync::Receiver<std::uint64_t> rx) {
  for (std::uint64_t expected = 0;; ++expected) {
    const std::optional<std::uint64_t> got = co_await rx.recv();
    if (!got) co_return;
    if (*got != expected) figures.mistake("a message is lost, doubled or out of order");
    count(figures.messages);
  }
}

class Question {
 public:
  Question(std::uint64_t asked, sync::OneshotSender<std::uint64_t> to) noexcept
      : number(asked), reply(std::move(to)) {}
  std::uint64_t number;
  sync::OneshotSender<std::uint64_t> reply;
};

Async<void> answer(sync::UnboundedReceiver<Question> questions) {
  for (;;) {
    std::optional<Question> question = co_await questions.recv();
    if (!question) co_return;
    (void)question->reply.send(question->number + 1);
  }
}

Async<void> question(Figures& figures, sync::UnboundedSender<Question> tx, unsigned seed, End end) {
  Random random(seed);
  while (end.is_ahead()) {
    auto [reply, answered] = sync::oneshot<std::uint64_t>();
    const std::uint64_t number = random();
    const auto sent = tx.send(Question(number, std::move(reply)));
    if (!sent) figures.mistake("a channel that is in use is closed");
    if (random() % 16 == 0) continue;  // not interested any more
    const std::optional<std::uint64_t> got = co_await answered;
    if (got != number + 1) figures.mistake("a question has the wrong answer");
    count(figures.messages, 2);
  }
}

// --- Tasks that are aborted, and blocking calls. ---

/// Counts what is inside of tasks.
class Guard {
 public:
  explicit Guard(Figures& figures) noexcept : figures_(&figures) { count(figures.guards); }
  Guard(Guard&& other) noexcept : figures_(std::exchange(other.figures_, nullptr)) {}
  Guard& operator=(Guard&&) = delete;
  ~Guard() {
    if (figures_) figures_->guards.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  Figures* figures_;
};

Async<void> nested(Guard guard, unsigned depth) {
  const Guard kept(std::move(guard));
  if (depth == 0) co_await pending_forever<void>();
  for (unsigned i = 0; i < depth; ++i) co_await yield_now();
  co_await sleep(1h);
}

Async<void> waits_for_message(Guard guard) {
  const Guard kept(std::move(guard));
  auto [tx, rx] = sync::channel<int>(1);
  (void)co_await rx.recv();
}

unsigned long long work(unsigned steps) {
  unsigned long long sum = 0;
  for (unsigned i = 0; i < steps; ++i) sum = sum * 6364136223846793005U + i;
  return sum;
}

Async<void> waits_for_call(Guard guard, unsigned steps) {
  const Guard kept(std::move(guard));
  (void)co_await spawn_blocking(work, steps);
  co_await pending_forever<void>();
}

JoinHandle<> spawn_victim(Figures& figures, Random& random) {
  const auto some = static_cast<unsigned>(random() % 64);
  switch (random() % 8) {
    case 0:
      return spawn(waits_for_call, Guard(figures), some * 100);
    case 1:
      return spawn(waits_for_message, Guard(figures));
    default:
      return spawn(nested, Guard(figures), some);
  }
}

Async<void> aborter(Figures& figures, unsigned seed, End end) {
  Random random(seed);
  while (end.is_ahead()) {
    std::vector<JoinHandle<>> victims;
    for (std::size_t n = random() % 16; n != 0; --n) {
      victims.push_back(spawn_victim(figures, random));
    }
    for (std::size_t n = random() % 8; n != 0; --n) co_await yield_now();
    if (random() % 8 == 0) co_await sleep(1ms);
    for (JoinHandle<>& victim : victims) {
      victim.abort();
      count(figures.aborted);
      if (random() % 2 == 0) continue;  // nobody waits for its end
      bool is_cancelled = false;
      try {
        co_await victim;
      } catch (const JoinError&) {
        is_cancelled = true;
      }
      if (!is_cancelled) figures.mistake("a task that never ends has ended without an abort");
    }
  }
}

Async<void> blocker(Figures& figures, unsigned seed, End end) {
  Random random(seed);
  while (end.is_ahead()) {
    const auto steps = static_cast<unsigned>(random() % 20'000);
    auto call = spawn_blocking(work, steps);
    count(figures.blocking);
    if (random() % 8 == 0) {
      call.abort();  // before it begins, or not at all
      continue;
    }
    const unsigned long long got = co_await call;
    if (got != work(steps)) figures.mistake("a blocking call has the wrong result");
  }
}

}  // namespace

Async<void> full_load(Figures& figures, End end) {
  constexpr unsigned clients = 24;
  constexpr unsigned sleepers = 64;
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  const net::SocketAddr server = listener.local_addr();
  auto listening = spawn(listen, std::move(listener));

  JoinSet<> tasks;
  tasks.spawn(ticks, std::ref(figures), end);
  for (unsigned i = 1; i <= clients; ++i) tasks.spawn(client, std::ref(figures), server, i, end);
  for (unsigned i = 1; i <= sleepers; ++i) tasks.spawn(sleeper, std::ref(figures), i, end);
  for (unsigned i = 1; i <= 2; ++i) {
    auto [tx, rx] = sync::channel<std::uint64_t>(64);
    tasks.spawn(produce, std::move(tx), end);
    tasks.spawn(consume, std::ref(figures), std::move(rx));
    tasks.spawn(aborter, std::ref(figures), i, end);
    tasks.spawn(blocker, std::ref(figures), i, end);
  }
  auto [ask_here, questions] = sync::unbounded<Question>();
  tasks.spawn(answer, std::move(questions));
  for (unsigned i = 1; i <= 4; ++i) tasks.spawn(question, std::ref(figures), ask_here, i, end);
  {
    const auto last = std::move(ask_here);
  }
  for (;;) {
    const bool more = co_await tasks.join_next();
    if (!more) break;
  }
  listening.abort();
}

}  // namespace rouse::soak
