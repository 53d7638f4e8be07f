// What is answered, by serve_connection over a duplex.
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/io/error.hpp"
#include "rouse/io/split.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/stream/iter.hpp"
#include "rouse/stream/then.hpp"

#include "http/support.hpp"

namespace rouse::http {
namespace {

const std::string hello_answer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\n\r\n"
    "hello, /\n";

TEST(HttpServer, ARequestIsAnsweredAndTheConnectionStaysOpen) {
  EXPECT_EQ(answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", hello), hello_answer);
  EXPECT_EQ(answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                    hello),
            hello_answer +
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
                "Content-Length: 9\r\nConnection: close\r\n\r\nhello, /\n");
}

TEST(HttpServer, AnswersToPipelinedRequestsComeInTheirOrderHoweverTheBytesAreCut) {
  std::string requests;
  std::string expected;
  for (int i = 0; i < 30; ++i) {
    const std::string path = "/" + std::to_string(i);
    if (i % 3 == 1) {
      requests += "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
    } else if (i % 3 == 2) {
      requests += "POST " + path +
                  " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n"
                  "0\r\n\r\n";
    } else {
      requests += "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }
    expected += path + (i % 3 == 0 ? "=" : "=body") + ";";
  }
  const auto tell = [](Request& request) -> Async<Response> {
    std::string body = co_await request.body().text();
    co_return Response::text("<" + request.path() + "=" + body + ";>");
  };
  for (const std::size_t capacity : {1U, 2U, 3U, 7U, 64U, 1000U, 65536U}) {
    const std::string text = answers(requests, tell, ServerOptions(), capacity);
    std::string told;
    for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; ++at) {
      told += text.substr(at + 1, text.find('>', at) - at - 1);
    }
    EXPECT_EQ(told, expected) << capacity;
  }
}

/// All that a server says to bytes that come in pieces of random sizes, with pauses between some.
Async<std::string> answers_in_pieces(std::string bytes, Router routes, unsigned seed) {
  Talk talk(std::move(routes), ServerOptions(), 1 + seed % 300);
  auto [reader, writer] = io::split(std::move(talk.client));
  const auto write = [](io::WriteHalf<io::DuplexStream> to, std::string text,
                        unsigned from) -> Async<void> {
    std::minstd_rand random(from);
    for (std::size_t at = 0; at < text.size();) {
      const std::string piece = text.substr(at, 1 + random() % 60);
      at += piece.size();
      const auto sent = co_await to.write_all(piece).result();
      if (!sent) co_return;
      if (random() % 3 == 0) co_await yield_now();
      if (random() % 20 == 0) co_await sleep(10ms);
    }
    co_await sleep(1h);
  };
  auto writing = spawn(write, std::move(writer), std::move(bytes), seed + 1);
  std::string text;
  const auto all = co_await reader.read_to_end(text).result();
  (void)all;
  writing.abort();
  co_return without_dates(std::move(text));
}

TEST(HttpServer, RandomPiecesAreAnsweredAsTheWhole) {
  const std::string requests =
      "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;x=y\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nT: u\r\n\r\n"
      "HEAD /c HTTP/1.1\r\nHost: a\r\n\r\n"
      "PUT /d HTTP/1.1\r\nHost: a\r\nContent-Length: 300\r\n\r\n" +
      std::string(300, 'd') + "GET /e HTTP/1.1\r\nHost: a\r\nX\0: y\r\n\r\nGET /f";
  const auto echo = [](Request& request) -> Async<Response> {
    std::string body = co_await request.body().text();
    co_await yield_now();
    co_return Response::text(request.path() + ":" + body);
  };
  const std::string whole = answers(requests, echo);
  EXPECT_EQ(count_of(whole, "200 OK"), 4U) << whole;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const std::string text = run_paused([&] { return answers_in_pieces(requests, echo, seed); });
    EXPECT_EQ(text, whole) << seed;
  }
}

TEST(HttpServer, HTTP10ClosesUnlessItAsksToStay) {
  EXPECT_EQ(answers("GET / HTTP/1.0\r\n\r\n", hello),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\n"
            "Connection: close\r\n\r\nhello, /\n");
  EXPECT_EQ(answers("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", hello),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\n"
            "Connection: keep-alive\r\n\r\nhello, /\n");
}

TEST(HttpServer, HeadIsAnsweredAsGetWithoutTheBody) {
  Router routes;
  routes.get("/", hello);
  EXPECT_EQ(answers("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", routes),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\n"
            "\r\n" +
                hello_answer);
}

TEST(HttpServer, ABodyOfUnknownLengthIsSentInChunks) {
  const auto three = [](Request&) -> Async<Response> {
    auto parts = stream::iter(std::vector<std::string>{"one", "", "two-and-more", "three"});
    co_return Response(Status::ok, "text/plain", Body::chunks(std::move(parts)));
  };
  EXPECT_EQ(answers("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", three),
            answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", three) +
                answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", three));
  EXPECT_EQ(answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", three),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\none\r\nc\r\ntwo-and-more\r\n5\r\nthree\r\n0\r\n\r\n");
  EXPECT_EQ(answers("GET / HTTP/1.0\r\n\r\n", three),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
            "onetwo-and-morethree");
}

TEST(HttpServer, APartOfABodyIsSentWhenNoMoreIsReadyYet) {
  run_paused([]() -> Async<void> {
    const auto slow = [](Request&) -> Async<Response> {
      auto parts = stream::then(stream::iter(std::vector<std::string>{"first", "second"}),
                                [](std::string part) -> Async<std::string> {
                                  co_await sleep(10s);
                                  co_return part;
                                });
      co_return Response(Status::ok, "text/plain", Body::chunks(std::move(parts)));
    };
    Talk talk(slow);
    co_await talk.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto before = time::now();
    co_await talk.until("\r\n\r\n");
    EXPECT_LT(time::now() - before, 1s);
    co_await talk.until("first\r\n");
    EXPECT_LT(time::now() - before, 11s);
    co_await talk.until("second\r\n0\r\n\r\n");
    EXPECT_GE(time::now() - before, 20s);
  });
}

TEST(HttpServer, ABodyThatIsShorterThanItSaysEndsTheConnection) {
  int errors = 0;
  ServerOptions options;
  options.on_error = [&](const std::exception_ptr&, const Request&) { ++errors; };
  const auto lies = [](Request&) -> Async<Response> {
    auto parts = stream::iter(std::vector<std::string>{"12345"});
    co_return Response(Status::ok, "text/plain", Body::chunks(std::move(parts), 10));
  };
  const std::string text =
      answers("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", lies, options);
  EXPECT_EQ(count_of(text, "HTTP/1.1"), text.empty() ? 0U : 1U);
  EXPECT_EQ(errors, 1);
}

TEST(HttpServer, ABodyCanBeSentBackWhileItComes) {
  const auto echo = [](Request& request) -> Async<Response> {
    co_return Response(Status::ok, "text/plain", std::move(request.body()));
  };
  const std::string big(300'000, 'x');
  const std::string text = answers(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 300000\r\n\r\n" + big +
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
          "5\r\nhello\r\n0\r\n\r\n",
      echo, ServerOptions(), 1000);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(count_of(text, "x"), 300'000U + 2);  // text/plain, twice
  EXPECT_NE(text.find("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n"),
            std::string::npos);
}

TEST(HttpServer, ContinueIsSaidOnlyWhenTheHandlerBeginsToRead) {
  run_paused([]() -> Async<void> {
    Router routes;
    routes.post("/read", [](Request& request) -> Async<Response> {
      co_await sleep(1s);
      std::string text = co_await request.body().text();
      co_return Response::text(std::move(text));
    });
    routes.post("/refuse",
                [](Request&) -> Async<Response> { co_return Response(Status::forbidden); });
    Talk reads(routes);
    co_await reads.send(
        "POST /read HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
        "Content-Length: 3\r\n\r\n");
    const std::string said = co_await reads.until("\r\n\r\n");
    EXPECT_EQ(said, "HTTP/1.1 100 Continue\r\n\r\n");
    co_await reads.send("abc");
    const std::string answer = co_await reads.until("abc");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer;
    Talk refused(routes);
    co_await refused.send(
        "POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
        "Content-Length: 3\r\n\r\n");
    const std::string refusal = co_await refused.rest();
    EXPECT_EQ(refusal, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
}

TEST(HttpServer, ABodyThatNobodyReadsIsSkippedIfItIsShort) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ";
  EXPECT_EQ(
      count_of(answers(head + "5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n", hello), "200 OK"),
      2U);
  const std::string big(200'000, 'x');
  const std::string text =
      answers(head + "200000\r\n\r\n" + big + "GET / HTTP/1.1\r\nHost: a\r\n\r\n", hello);
  EXPECT_EQ(count_of(text, "200 OK"), 1U);
  EXPECT_EQ(count_of(text, "Connection: close"), 1U);
}

TEST(HttpServer, ABodyAboveTheLimitIs413) {
  const auto read = [](Request& request) -> Async<Response> {
    (void)co_await request.body().text(10);
    co_return Response();
  };
  const auto status = [&](const std::string& body) {
    return answers("POST / HTTP/1.1\r\nHost: a\r\n" + body, read).substr(9, 3);
  };
  EXPECT_EQ(status("Content-Length: 10\r\n\r\n0123456789"), "200");
  EXPECT_EQ(status("Content-Length: 11\r\n\r\n01234567890"), "413");
  EXPECT_EQ(status("Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n"), "413");
}

TEST(HttpServer, AMalformedChunkIs400AndTheHandlerSeesWhy) {
  std::error_code seen;
  const auto read = [&](Request& request) -> Async<Response> {
    try {
      (void)co_await request.body().text();
    } catch (const std::system_error& error) {
      seen = error.code();
      throw;
    }
    co_return Response();
  };
  const std::string text =
      answers("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", read);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 400 Bad Request\r\n")) << text;
  EXPECT_NE(text.find("Connection: close"), std::string::npos);
  EXPECT_EQ(seen, Error::bad_message);
}

TEST(HttpServer, WhatAHandlerThrowsIs500AndStaysHere) {
  std::string told;
  ServerOptions options;
  options.on_error = [&](const std::exception_ptr& thrown, const Request& request) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      told += request.path() + ": " + error.what() + "\n";
    }
  };
  Router routes;
  routes.get("/async", [](Request&) -> Async<Response> {
    co_await yield_now();
    throw std::runtime_error("secret");
  });
  routes.get("/at-once", [](Request&) -> Async<Response> { throw std::runtime_error("secret 2"); });
  const std::string text = answers(
      "GET /async HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /at-once HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /none HTTP/1.1\r\nHost: a\r\n\r\n",
      routes, options);
  EXPECT_EQ(count_of(text, "500 Internal Server Error"), 2U);
  EXPECT_EQ(count_of(text, "404 Not Found"), 1U);
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_EQ(told, "/async: secret\n/at-once: secret 2\n");
}

TEST(HttpServer, EachRequestHasADeadlineAndItsRouteMayHaveAnother) {
  const auto left = [](Request&) -> Async<Response> {
    co_return Response::text(
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(Deadline::left()).count()));
  };
  Router routes;
  routes.get("/", left);
  routes.get("/long", left).time_limit(1h);
  routes.get("/ever", left).time_limit(no_time_limit);
  EXPECT_TRUE(answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", routes).ends_with("\r\n30"));
  EXPECT_TRUE(answers("GET /long HTTP/1.1\r\nHost: a\r\n\r\n", routes).ends_with("\r\n3600"));
  EXPECT_TRUE(answers("GET /ever HTTP/1.1\r\nHost: a\r\n\r\n", routes).ends_with("\r\n9223372036"));
}

TEST(HttpServer, TheHookSeesEachRequestWithItsStatus) {
  std::string told;
  ServerOptions options;
  options.on_request = [&](const Request& request, Status status) {
    told += request.target() + " " + std::to_string(number_of(status)) + "\n";
  };
  Router routes;
  routes.get("/a", hello);
  (void)answers("GET /a?b HTTP/1.1\r\nHost: a\r\n\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n", routes,
                options);
  EXPECT_EQ(told, "/a?b 200\n/c 404\n");
}

TEST(HttpServer, MoreRequestsThanAllowedAtATimeAre503) {
  ServerOptions options;
  options.max_requests = 0;
  const std::string text = answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", hello, options);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << text;
}

TEST(HttpServer, APeerThatSendsManyRequestsAtOnceLeavesRoomForTheOthers) {
  run_paused([]() -> Async<void> {
    constexpr std::size_t many = 2000;
    std::size_t answered = 0;
    const auto count = [&answered](Request&) -> Async<Response> {
      ++answered;
      co_return Response::text("x");
    };
    std::string requests;
    for (std::size_t i = 0; i < many; ++i) requests += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    Talk talk(count, ServerOptions(), std::size_t{1} << 20U);
    co_await talk.send(requests);
    while (answered < many) {
      const std::size_t before = answered;
      co_await yield_now();
      EXPECT_LE(answered - before, Context::task_budget);
    }
  });
}

TEST(HttpServer, FramingThatAHandlerSetsIsNotSent) {
  const auto lies = [](Request&) -> Async<Response> {
    Response response = Response::text("four");
    response.header("Content-Length", "3").header("transfer-encoding", "chunked");
    co_return response;
  };
  EXPECT_EQ(
      answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", lies),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\n"
      "four");
}

TEST(HttpServer, AnAnswerThatMayHaveNoBodyHasNone) {
  const auto nothing = [](Request&) -> Async<Response> {
    co_return Response::text("surely not").status(Status::no_content);
  };
  EXPECT_EQ(answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", nothing),
            "HTTP/1.1 204 No Content\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n");
}

TEST(HttpServer, TheBodyOfAnAnsweredRequestCannotBeReadAnyMore) {
  Body kept;
  const auto keep = [&](Request& request) -> Async<Response> {
    kept = std::move(request.body());
    co_return Response();
  };
  run_paused([&]() -> Async<void> {
    const std::string text =
        co_await answers_to("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", keep);
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK")) << text;
    const auto late = co_await kept.text().result();
    EXPECT_EQ(late.error(), Error::exchange_over);
  });
}

TEST(HttpServer, AnUpgradedConnectionBelongsToItsHandlerWithWhatCameAlready) {
  const auto echo = [](io::AnyConnection peer) -> Async<void> {
    const std::string text = co_await peer.read_to_string();
    co_await peer.write_all("echo " + text);
    co_await peer.shutdown();
  };
  const auto chat = [echo](Request& request) -> Async<Response> {
    co_return upgrade(request, "echo", echo);
  };
  run_paused([&]() -> Async<void> {
    Talk talk(chat);
    co_await talk.send(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n"
        "Upgrade: other, Echo\r\n\r\nabc");
    const std::string head = co_await talk.until("\r\n\r\n");
    EXPECT_EQ(head,
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
    co_await talk.send("def");
    co_await talk.client.shutdown();
    const std::string rest = co_await talk.rest();
    EXPECT_EQ(rest, "echo abcdef");
  });
  const std::string text = answers("GET / HTTP/1.1\r\nHost: a\r\n\r\n", chat);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 426 Upgrade Required\r\nUpgrade: echo\r\n")) << text;
}

}  // namespace
}  // namespace rouse::http
