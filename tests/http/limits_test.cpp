// Time limits, with a paused clock; how connections end; peers that leave; the end of the server.
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/http/error.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/then.hpp"
#include "rouse/sync/notify.hpp"
#include "rouse/testing/drop_at_each_poll.hpp"
#include "rouse/time/timeout.hpp"

#include "http/support.hpp"

namespace rouse::http {
namespace {

/// Seconds since it was made.
class Watch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(time::now() - since_).count();
  }

 private:
  time::Instant since_ = time::now();
};

Async<Response> read_all(Request& request) {
  const std::string text = co_await request.body().text(no_limit - 1);
  co_return Response::text(std::to_string(text.size()));
}

TEST(HttpLimits, WhoSendsNothingIsGoneAfterTenSeconds) {
  run_paused([]() -> Async<void> {
    const Watch watch;
    Talk talk(hello);
    const std::string text = co_await talk.rest();
    EXPECT_EQ(text, "");
    EXPECT_NEAR(watch.seconds(), 10, 0.01);
  });
}

TEST(HttpLimits, ASlowHeadIs408TenSecondsAfterTheAccept) {
  run_paused([]() -> Async<void> {
    const Watch watch;
    Talk talk(hello);
    for (int i = 0; i < 9; ++i) {
      co_await talk.send(std::string(1, "GET / HTT"[i]));
      co_await sleep(1s);
    }
    const std::string text = co_await talk.rest();
    EXPECT_TRUE(text.starts_with("HTTP/1.1 408 Request Timeout\r\n")) << text;
    EXPECT_GE(watch.seconds(), 10);
    EXPECT_LE(watch.seconds(), 11.01);  // it lingers for a second
  });
}

TEST(HttpLimits, AnIdleConnectionIsClosedAfterAMinuteAndANewHeadHasTenSecondsOfItsOwn) {
  run_paused([]() -> Async<void> {
    const Watch watch;
    Talk talk(hello);
    for (int i = 0; i < 3; ++i) {
      co_await talk.send("GET / HTTP/1.1\r\nHost: a\r\n");
      co_await sleep(9s);
      co_await talk.send("\r\n");
      const std::string text = co_await talk.until("hello, /\n");
      EXPECT_TRUE(text.starts_with("HTTP/1.1 200")) << text;
      co_await sleep(59s);
    }
    const std::string text = co_await talk.rest();
    EXPECT_EQ(text, "");
    EXPECT_NEAR(watch.seconds(), 3 * 68 + 1, 0.01);
    co_await std::move(talk.server);
  });
}

TEST(HttpLimits, ASlowBodyIs408AndOneThatIsJustFastEnoughIsNot) {
  run_paused([]() -> Async<void> {
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n";
    Talk slow(read_all, ServerOptions());
    const Watch watch;
    co_await slow.send(head);
    auto [reader, writer] = io::split(std::move(slow.client));
    const auto trickle = [](io::WriteHalf<io::DuplexStream> to, std::size_t bytes) -> Async<void> {
      const std::string piece(bytes, 'x');
      for (std::size_t sent = 0; sent < 60'000; sent += bytes) {
        const auto done = co_await to.write_all(piece).result();
        if (!done) co_return;
        co_await sleep(1s);
      }
    };
    auto writing = spawn(trickle, std::move(writer), std::size_t{400});
    const std::string refused = co_await reader.read_to_string();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 408 ")) << refused;
    EXPECT_LT(watch.seconds(), 40);
    writing.abort();

    Router routes;
    routes.post("/", read_all).time_limit(no_time_limit);
    Talk fast(routes);
    co_await fast.send(head);
    auto [fast_reader, fast_writer] = io::split(std::move(fast.client));
    auto fast_writing = spawn(trickle, std::move(fast_writer), std::size_t{600});
    const std::string text = co_await fast_reader.read_to_string();
    EXPECT_TRUE(text.ends_with("\r\n\r\n60000")) << text;
    fast_writing.abort();
  });
}

TEST(HttpLimits, TimeInWhichTheHandlerDoesNotReadIsNotThePeers) {
  for (const std::size_t early : {0U, 500U}) {
    run_paused([early]() -> Async<void> {
      const auto busy = [](Request& request) -> Async<Response> {
        std::array<char, 1000> buf;
        auto first = co_await timeout(100ms, request.body().read(buf)).result();
        EXPECT_FALSE(first);
        co_await sleep(1500ms);
        const std::string text = co_await request.body().text();
        co_return Response::text(std::to_string(text.size()) + ".");
      };
      ServerOptions options;
      options.progress_time = 1s;
      options.progress_bytes = 1000;
      Talk talk(busy, options);
      co_await talk.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
      co_await sleep(300ms);
      co_await talk.send(std::string(early, 'x'));
      co_await sleep(1700ms);
      co_await talk.send(std::string(1000 - early, 'x'));
      const std::string text = co_await talk.until("1000.");
      EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text;
    });
  }
}

TEST(HttpLimits, AHandlerThatKeepsGivingUpItsReadsWaitsForThePeerAllTheSame) {
  run_paused([]() -> Async<void> {
    const auto impatient = [](Request& request) -> Async<Response> {
      std::array<char, 1000> buf;
      for (;;) {
        auto got = co_await timeout(100ms, request.body().read(buf)).result();
        if (!got && got.error() == Error::too_slow) throw std::system_error(got.error());
      }
    };
    ServerOptions options;
    options.progress_time = 1s;
    Talk talk(impatient, options);
    const Watch watch;
    co_await talk.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    const std::string text = co_await talk.until("Timeout\n");
    EXPECT_TRUE(text.starts_with("HTTP/1.1 408 ")) << text;
    EXPECT_NEAR(watch.seconds(), 1, 0.01);
  });
}

TEST(HttpLimits, WhoDoesNotReadItsAnswerIsCutOff) {
  run_paused([]() -> Async<void> {
    for (const bool is_streamed : {false, true}) {
      const auto much = [is_streamed](Request&) -> Async<Response> {
        Body body(std::string(200'000, 'x'));
        if (is_streamed) body = Body::stream(std::move(body));
        co_return Response(Status::ok, "text/plain", std::move(body));
      };
      Talk talk(much, ServerOptions(), 1000);
      const Watch watch;
      co_await talk.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      co_await std::move(talk.server);
      EXPECT_NEAR(watch.seconds(), 30, 0.01);
    }
  });
}

/// A stream whose flush waits once, as one of TLS does.
class SlowToFlush : public io::ReadMembers<SlowToFlush>, public io::WriteMembers<SlowToFlush> {
 public:
  explicit SlowToFlush(io::DuplexStream stream) : stream_(std::move(stream)) {}
  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) {
    return stream_.poll_read(cx, buf);
  }
  Poll<Result<std::size_t>> poll_write(Context& cx, std::span<const std::byte> data) {
    has_waited_ = false;
    return stream_.poll_write(cx, data);
  }
  Poll<Result<void>> poll_flush(Context& cx) {
    if (std::exchange(has_waited_, true)) return stream_.poll_flush(cx);
    cx.waker().wake_by_ref();
    return pending;
  }
  Poll<Result<void>> poll_shutdown(Context& cx) { return stream_.poll_shutdown(cx); }

 private:
  io::DuplexStream stream_;
  bool has_waited_ = false;
};

TEST(HttpLimits, TimeInWhichThereIsNothingToSendIsNotThePeers) {
  run_paused([]() -> Async<void> {
    const auto slow = [](Request&) -> Async<Response> {
      auto parts = stream::then(stream::iter(std::vector<std::size_t>{1, 500}),
                                [](std::size_t size) -> Async<std::string> {
                                  co_await sleep(40s);
                                  co_return std::string(size, 'x');
                                });
      co_return Response(Status::ok, "a/b", Body::chunks(std::move(parts)));
    };
    auto [client, server] = io::duplex(200);
    auto serving = spawn(serve_connection(SlowToFlush(std::move(server)), slow));
    co_await client.write_all("GET / HTTP/1.0\r\n\r\n");
    co_await sleep(81s);  // the second part waits to be read
    const std::string text = co_await client.read_to_string();
    EXPECT_EQ(count_of(text, "x"), 501U) << text;
    co_await std::move(serving);
  });
}

TEST(HttpLimits, AHandlerThatTakesTooLongIsDroppedAnd503) {
  run_paused([]() -> Async<void> {
    const auto alive = std::make_shared<int>();
    const auto slow = [alive](Request&) -> Async<Response> {
      const auto held = alive;
      co_await sleep(31s);
      co_return Response();
    };
    Talk talk(slow);
    const Watch watch;
    co_await talk.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string text = co_await talk.until("Unavailable\n");
    EXPECT_TRUE(text.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << text;
    EXPECT_NEAR(watch.seconds(), 30, 0.01);
    co_await talk.until("Unavailable\n");
    EXPECT_NEAR(watch.seconds(), 60, 0.01);
    co_await talk.rest();
    co_await std::move(talk.server);
  });
}

TEST(HttpLimits, AnErrorIsAnsweredThoughTheClientSendsOn) {
  run_paused([]() -> Async<void> {
    Talk talk(hello, ServerOptions(), 1000);
    auto [reader, writer] = io::split(std::move(talk.client));
    const auto flood = [](io::WriteHalf<io::DuplexStream> to) -> Async<std::size_t> {
      const std::string piece(1000, 'x');
      std::size_t sent = 0;
      for (;;) {
        const auto done = co_await to.write_all(piece).result();
        if (!done) co_return sent;
        sent += piece.size();
      }
    };
    auto flooding = spawn(flood, std::move(writer));
    const std::string text = co_await reader.read_to_string();
    EXPECT_TRUE(text.starts_with("HTTP/1.1 400 Bad Request\r\n")) << text;
    const std::size_t taken = co_await std::move(flooding);
    EXPECT_GE(taken, 60'000U);
    EXPECT_LE(taken, 80'000U);
  });
}

TEST(HttpLimits, AClientThatSendsNoMoreAfterAnErrorIsLeftAfterASecond) {
  run_paused([]() -> Async<void> {
    Talk talk(hello);
    const Watch watch;
    co_await talk.send("\x16\x03\x01 this is no HTTP\r\n\r\n");
    co_await std::move(talk.server);
    EXPECT_NEAR(watch.seconds(), 1, 0.01);
  });
}

// --- Peers that leave. ---------------------------------------------------------------------------

/// A handler that waits for ever, or until it is dropped.
struct Waiting {
  std::shared_ptr<int> alive = std::make_shared<int>();
  std::shared_ptr<bool> is_done = std::make_shared<bool>(false);

  Handler handler() const {
    return [alive = alive, is_done = is_done](Request& request) -> Async<Response> {
      const auto held = alive;
      (void)co_await request.body().text();
      co_await sleep(10s);
      *is_done = true;
      co_return Response();
    };
  }
  [[nodiscard]] bool is_running() const { return alive.use_count() > 3; }
};

Async<double> leave_early(const Router& routes, std::string request) {
  Talk talk(routes);
  const Watch watch;
  co_await talk.send(request);
  co_await sleep(1s);
  {
    const auto gone = std::move(talk.client);
  }
  co_await std::move(talk.server);
  co_return watch.seconds();
}

TEST(HttpPeers, WhoLeavesDropsAHandlerThatChangesNothing) {
  run_paused([]() -> Async<void> {
    const Waiting waiting;
    Router routes;
    routes.any("/", waiting.handler());
    const double got = co_await leave_early(routes, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_NEAR(got, 1, 0.01);
    EXPECT_FALSE(*waiting.is_done);
    const double posted =
        co_await leave_early(routes, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    EXPECT_NEAR(posted, 10, 0.01);
    EXPECT_TRUE(*waiting.is_done);
  });
}

TEST(HttpPeers, ARouteMayChoose) {
  run_paused([]() -> Async<void> {
    const Waiting waiting;
    Router routes;
    routes.get("/", waiting.handler()).drop_when_peer_leaves(false);
    routes.post("/", waiting.handler()).drop_when_peer_leaves();
    const double posted = co_await leave_early(routes, "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_NEAR(posted, 1, 0.01);
    EXPECT_FALSE(*waiting.is_done);
    const double got = co_await leave_early(routes, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_NEAR(got, 10, 0.01);
    EXPECT_TRUE(*waiting.is_done);
  });
}

TEST(HttpPeers, WhatIsSentAheadWhileAHandlerRunsIsKept) {
  run_paused([]() -> Async<void> {
    const auto slow = [](Request& request) -> Async<Response> {
      co_await sleep(1s);
      co_return Response::text(request.path() + ".");
    };
    Talk talk(slow);
    co_await talk.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await sleep(500ms);
    co_await talk.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHo");
    co_await sleep(5s);
    co_await talk.send("st: a\r\n\r\n");
    const std::string text = co_await talk.until("/3.");
    EXPECT_LT(text.find("/1."), text.find("/2."));
    EXPECT_LT(text.find("/2."), text.find("/3."));
  });
}

// --- The end. ------------------------------------------------------------------------------------

TEST(HttpDrain, IdleConnectionsCloseAtOnceAndRequestsAreAnsweredFirst) {
  run_paused([]() -> Async<void> {
    const auto slow = [](Request&) -> Async<Response> {
      co_await sleep(5s);
      co_return Response::text("late");
    };
    ServerOptions options;
    Talk silent(slow, options);
    Talk busy(slow, options);
    Talk in_a_head(slow, options);
    co_await busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await in_a_head.send("GET / HTTP/1.1\r\nHo");
    co_await sleep(1s);
    const Watch watch;
    options.stop.cancel();
    co_await std::move(silent.server);
    EXPECT_NEAR(watch.seconds(), 0, 0.01);
    co_await in_a_head.send("st: a\r\n\r\n");
    for (Talk* talk : {&busy, &in_a_head}) {
      const std::string text = co_await talk->rest();
      EXPECT_EQ(
          text,
          "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n"
          "Connection: close\r\n\r\nlate");
    }
  });
}

/// Takes the client's end along when it goes, which keeps the server's waker.
Async<void> with_its_client(std::optional<io::DuplexStream>& client, Async<void> serving) {
  struct Guard {
    std::optional<io::DuplexStream>& client;
    ~Guard() { client.reset(); }
  } const guard{client};
  co_await std::move(serving);
}

TEST(HttpDrop, AConnectionThatIsDroppedAtAnyPollLeavesNothing) {
  run_paused([]() -> Async<void> {
    const auto alive = std::make_shared<int>();
    const auto echo = [alive](Request& request) -> Async<Response> {
      const auto held = alive;
      std::string text = co_await request.body().text();
      co_await yield_now();
      co_return Response(Status::ok, "text/plain", Body::stream(Body(text)));
    };
    std::optional<io::DuplexStream> client;
    std::size_t sent = 0;
    const std::string request =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n"
        "Connection: close\r\n\r\n";
    const auto report = testing::drop_at_each_poll(
        [&] {
          auto [near, far] = io::duplex(65536);
          client.emplace(std::move(near));
          sent = 0;
          return with_its_client(client, serve_connection(std::move(far), echo));
        },
        [&](std::size_t) {
          if (!client) return;
          Context cx(Waker::noop());
          const io::Buffer piece(request.data() + sent,
                                 std::min<std::size_t>(3, request.size() - sent));
          const auto written = client->poll_write(cx, piece);
          if (written.is_ready()) sent += *written.value();
          if (sent == request.size()) (void)client->poll_shutdown(cx);
        },
        [&](std::size_t) { EXPECT_EQ(alive.use_count(), 2); });
    EXPECT_EQ(report.wakers_left, 0U);
    EXPECT_FALSE(report.threw);
    co_return;
  });
}

}  // namespace
}  // namespace rouse::http
