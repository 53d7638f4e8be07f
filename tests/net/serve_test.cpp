#include "rouse/net/serve.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/future/join_all.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/yield_now.hpp"
#include "rouse/net/tcp_socket.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "net/support.hpp"

namespace rouse::net {
namespace {

using namespace std::chrono_literals;

class Serve : public OnRuntime {};
INSTANTIATE_TEST_SUITE_P(On, Serve, both_kinds(), name_of);

template <class S>
Async<void> echo(S stream) {
  std::array<char, 64> buf{};
  while (const std::size_t n = co_await stream.read(buf)) {
    co_await stream.write_all({buf.data(), n});
  }
}

Async<void> echo_tcp(TcpStream stream, SocketAddr peer) {
  EXPECT_EQ(stream.peer_addr(), peer);
  co_await echo(std::move(stream));
}

Async<std::string> ask(SocketAddr server, std::string question) {
  auto stream = co_await TcpStream::connect(server);
  co_await stream.write_all(question);
  co_await stream.shutdown();
  co_return co_await stream.read_to_string();
}

/// Completes when nobody listens there any more.
Async<void> refused(SocketAddr server) {
  for (;;) {
    const auto connected = co_await TcpStream::connect(server).result();
    if (!connected) co_return;
    co_await yield_now();
  }
}

TEST_P(Serve, EveryConnectionHasATaskAndTheTokenEndsItAll) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    ServeLimits limits;
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), echo_tcp, limits));
    std::vector<Async<std::string>> asking;
    for (int i = 0; i < 10; ++i) asking.push_back(ask(at, std::to_string(i)));
    const auto answers = co_await join_all(std::move(asking));
    for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], std::to_string(i));
    stop.cancel();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.accepted, 10U);
    EXPECT_EQ(served.failed, 0U);
    EXPECT_EQ(served.aborted, 0U);
    co_await refused(at);
  });
}

TEST_P(Serve, WorksWithUnixSocketsAndAHandlerOfTheStreamOnly) {
  run([]() -> Async<void> {
    const std::string name = abstract_name();
    auto listener = co_await UnixListener::bind(name);
    ServeLimits limits;
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), echo<UnixStream>, limits));
    auto client = co_await UnixStream::connect(name);
    co_await client.write_all("there");
    co_await client.shutdown();
    const std::string answer = co_await client.read_to_string();
    EXPECT_EQ(answer, "there");
    stop.cancel();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.accepted, 1U);
  });
}

struct Load {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
};

TEST_P(Serve, NoMoreConnectionsAreOpenThanTheLimitSays) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    const auto load = std::make_shared<Load>();
    // NOLINTNEXTLINE(*-avoid-capturing-lambda-coroutines): each task owns a copy
    const auto count = [load](TcpStream stream) -> Async<void> {
      const int now = ++load->now;
      int most = load->most;
      while (now > most && !load->most.compare_exchange_weak(most, now)) {
      }
      co_await echo(std::move(stream));
      --load->now;
    };
    ServeLimits limits;
    limits.max_connections = 2;
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), count, limits));
    // Two are open and stay open: nobody else is served until one of them ends.
    auto first = co_await TcpStream::connect(at);
    auto second = co_await TcpStream::connect(at);
    std::array<char, 1> buf{};
    co_await first.write_all("1");
    co_await first.read_exact(buf);
    co_await second.write_all("2");
    co_await second.read_exact(buf);
    auto third = co_await TcpStream::connect(at);  // in the backlog
    co_await third.write_all("3");
    for (int i = 0; i < 20; ++i) {
      co_await first.write_all("x");
      co_await first.read_exact(buf);
    }
    const auto early = third.try_read(buf);
    EXPECT_TRUE(!early && early.error() == std::errc::operation_would_block);
    co_await first.shutdown();
    co_await third.read_exact(buf);
    EXPECT_EQ(buf[0], '3');
    co_await second.shutdown();
    co_await third.shutdown();

    std::vector<Async<std::string>> asking;
    for (int i = 0; i < 20; ++i) asking.push_back(ask(at, "x"));
    const auto answers = co_await join_all(std::move(asking));
    EXPECT_EQ(std::ranges::count(answers, "x"), 20);
    stop.cancel();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.accepted, 23U);
    EXPECT_EQ(load->most, 2);
  });
}

TEST_P(Serve, DrainingClosesTheListenerAndWaitsForWhoIsThere) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    ServeLimits limits;
    limits.drain_timeout = std::chrono::hours(1);
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), echo_tcp, limits));
    auto client = co_await TcpStream::connect(at);
    std::array<char, 4> buf{};
    co_await client.write_all("one");
    co_await client.read_exact({buf.data(), 3});
    stop.cancel();
    co_await refused(at);
    EXPECT_FALSE(serving.is_finished());
    co_await client.write_all("more");
    co_await client.read_exact(buf);
    EXPECT_EQ(text_of(buf, 4), "more");
    co_await client.shutdown();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.aborted, 0U);
  });
}

TEST(ServeDraining, WhoStaysLongerThanTheGracePeriodIsAborted) {
  Runtime rt = Runtime::builder().current_thread().start_paused().build();
  rt.block_on([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    ServeLimits limits;
    limits.drain_timeout = 5s;
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), echo_tcp, limits));
    auto stays = co_await TcpStream::connect(at);
    auto leaves = co_await TcpStream::connect(at);
    std::array<char, 1> buf{};
    for (TcpStream* each : {&stays, &leaves}) {
      co_await each->write_all("x");
      co_await each->read_exact(buf);
    }
    co_await leaves.shutdown();
    const std::size_t at_end = co_await leaves.read(buf);
    EXPECT_EQ(at_end, 0U);
    const auto before = time::now();
    stop.cancel();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.accepted, 2U);
    EXPECT_EQ(served.aborted, 1U);
    EXPECT_GE(time::now() - before, 5s);
    const std::size_t closed = co_await stays.read(buf);
    EXPECT_EQ(closed, 0U);
  }());
}

TEST_P(Serve, WithoutAGracePeriodAllAreAbortedAtOnce) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    ServeLimits limits;
    limits.drain_timeout = 0ms;
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), echo_tcp, limits));
    auto client = co_await TcpStream::connect(at);
    std::array<char, 1> buf{};
    co_await client.write_all("x");
    co_await client.read_exact(buf);
    stop.cancel();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.aborted, 1U);
  });
}

TEST_P(Serve, AHandlerThatThrowsEndsItsConnectionAndTheHookHearsOfIt) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    const auto picky = [](TcpStream stream) -> Async<void> {
      std::array<char, 1> buf{};
      co_await stream.read_exact(buf);
      if (buf[0] == '!') throw std::runtime_error("rude");
      co_await stream.write_all(buf);
    };
    std::vector<std::string> heard;
    std::vector<SocketAddr> from;
    ServeLimits limits;
    limits.on_error = [&](const std::exception_ptr& error, const SocketAddr& peer) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& thrown) {
        heard.emplace_back(thrown.what());
      }
      from.push_back(peer);
    };
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), picky, limits));
    auto rude = co_await TcpStream::connect(at);
    co_await rude.write_all("!");
    std::array<char, 1> buf{};
    const std::size_t ended = co_await rude.read(buf);
    EXPECT_EQ(ended, 0U);
    const std::string answer = co_await ask(at, "?");
    EXPECT_EQ(answer, "?");
    stop.cancel();
    const Served served = co_await std::move(serving);
    EXPECT_EQ(served.failed, 1U);
    EXPECT_EQ(served.accepted, 2U);
    EXPECT_EQ(heard, std::vector<std::string>{"rude"});
    EXPECT_EQ(from, std::vector<SocketAddr>{rude.local_addr()});
  });
}

TEST_P(Serve, AHandlerThatGivesAnErrorHasFailed) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    const auto refuses = [](TcpStream) -> Async<Result<void>> { co_return std::errc::io_error; };
    ServeLimits limits;
    const sync::CancellationToken stop = limits.stop;
    auto serving = spawn(serve(std::move(listener), refuses, limits));
    auto client = co_await TcpStream::connect(at);
    EXPECT_EQ(co_await client.read_to_string(), "");
    stop.cancel();
    const Served served = co_await serving;
    EXPECT_EQ(served.failed, 1U);
  });
}

TEST_P(Serve, WithoutDescriptorsItPausesAndGoesOnWhenThereAreSome) {
  if (internal::address_sanitizer) {
    GTEST_SKIP() << "UBSan's check of virtual calls needs descriptors itself";
  }
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    ServeLimits limits;
    const sync::CancellationToken stop = limits.stop;
    auto client = co_await TcpStream::connect(at);
    testing::PollHarness serving(serve(std::move(listener), echo_tcp, limits));
    {
      const DescriptorLimit none(static_cast<rlim_t>(3));
      for (int i = 0; i < 3; ++i) {
        const bool is_pending = serving.poll().is_pending();
        EXPECT_TRUE(is_pending && serving.kept_waker());
      }
    }
    co_await client.write_all("x");
    co_await client.shutdown();
    const auto answered = [](TcpStream stream, sync::CancellationToken then) -> Async<std::string> {
      std::string answer = co_await stream.read_to_string();
      then.cancel();
      co_return answer;
    };
    auto answer = spawn(answered, std::move(client), stop);
    const Served served = co_await serving.future();
    EXPECT_EQ(served.accepted, 1U);
    const std::string text = co_await std::move(answer);
    EXPECT_EQ(text, "x");
  });
}

TEST_P(Serve, DroppedItClosesTheListenerAndAbortsTheConnections) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    const SocketAddr at = listener.local_addr();
    auto serving = spawn(serve(std::move(listener), echo_tcp));
    auto client = co_await TcpStream::connect(at);
    std::array<char, 1> buf{};
    co_await client.write_all("x");
    co_await client.read_exact(buf);
    serving.abort();
    const std::size_t closed = co_await client.read(buf);
    EXPECT_EQ(closed, 0U);
    co_await refused(at);
  });
}

TEST_P(Serve, ARuntimeThatEndsMeanwhileEndsIt) {
  const auto alive = std::make_shared<int>(0);
  const std::size_t before = open_descriptors();
  {
    Runtime inner = make_runtime(GetParam());
    auto listener = inner.block_on(TcpListener::bind("127.0.0.1:0"));
    const SocketAddr at = listener.local_addr();
    // NOLINTNEXTLINE(*-avoid-capturing-lambda-coroutines): each task owns a copy
    const auto handle = [alive](TcpStream stream) -> Async<void> {
      co_await echo(std::move(stream));
    };
    inner.spawn(serve(std::move(listener), handle)).detach();
    auto client = inner.block_on(TcpStream::connect(at));
    std::array<char, 1> buf{};
    inner.block_on(client.write_all("x"));
    inner.block_on(client.read_exact(buf));
    EXPECT_GT(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(Serve, AListenerThatIsNoneIsTheErrorAfterDraining) {
  run([]() -> Async<void> {
    io::OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto listener = TcpListener::from_fd(std::move(fd)).value();
    std::error_code failure;
    try {
      (void)co_await serve(std::move(listener), echo_tcp);
    } catch (const std::system_error& error) {
      failure = error.code();
    }
    EXPECT_EQ(failure, std::errc::invalid_argument);
  });
}

TEST_P(Serve, StoppedBeforeItBeginsItServesNobody) {
  run([]() -> Async<void> {
    auto listener = co_await TcpListener::bind("127.0.0.1:0");
    auto waiting = co_await TcpStream::connect(listener.local_addr());
    ServeLimits limits;
    limits.stop.cancel();
    const Served served = co_await serve(std::move(listener), echo_tcp, limits);
    EXPECT_EQ(served.accepted, 0U);
  });
}

TEST_P(Serve, DroppedAtAnyPollItLeavesNoDescriptorOpen) {
  run([]() -> Async<void> {
    const std::size_t before = open_descriptors();
    for (std::size_t polls = 1; polls <= 3; ++polls) {
      auto listener = co_await TcpListener::bind("127.0.0.1:0");
      const SocketAddr at = listener.local_addr();
      std::optional<TcpStream> client;
      {
        testing::PollHarness serving(serve(std::move(listener), echo_tcp));
        for (std::size_t i = 0; i < polls; ++i) {
          EXPECT_TRUE(serving.poll().is_pending());
          if (!client) client = co_await TcpStream::connect(at);
        }
      }
      std::array<char, 1> buf{};
      const auto closed = co_await client->read(buf).result();
      EXPECT_TRUE(!closed || *closed == 0);
    }
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(ServeDeath, ALimitOfNobodyIsRefused) {
  Runtime rt = Runtime::builder().current_thread().build();
  auto listener = rt.block_on(TcpListener::bind("127.0.0.1:0"));
  ServeLimits limits;
  limits.max_connections = 0;
  EXPECT_DEATH((void)rt.block_on(serve(std::move(listener), echo_tcp, limits)),
               "allow one at least");
}

}  // namespace
}  // namespace rouse::net
