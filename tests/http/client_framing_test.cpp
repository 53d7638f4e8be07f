// How the client tells where an answer ends, and what it does with one that can't be told.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/future/yield_now.hpp"

#include "http/client_support.hpp"

namespace rouse::http {
namespace {

struct Answered {
  std::string outcome;  // "200 text", or the error
  bool is_kept = false;
};

/// What comes of these bytes, written `step` at a time; then the server closes, or waits.
Answered answered(std::string bytes, std::size_t step, bool closes, Method method = Method::get) {
  return run_paused([&]() -> Async<Answered> {
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      (void)co_await read_request(end);
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        co_await end.write_all(std::string_view(bytes).substr(at, step));
        for (int i = 0; i < 3; ++i) co_await yield_now();
      }
      if (!closes) co_await sleep(1h);
    });
    const Client client = script.client();
    Answered result;
    result.outcome = co_await outcome_of(client.request(method, "http://h/"));
    for (int i = 0; i < 10; ++i) co_await yield_now();  // the janitor's
    result.is_kept = client.metrics().open == 1;
    co_return result;
  });
}

/// The same however the bytes are cut.
void expect_answer(const std::string& bytes, const std::string& outcome, bool is_kept,
                   bool closes = false, Method method = Method::get) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
    const Answered got = answered(bytes, step, closes, method);
    EXPECT_EQ(got.outcome, outcome) << step << " bytes at a time of\n" << bytes;
    EXPECT_EQ(got.is_kept, is_kept) << step << " bytes at a time of\n" << bytes;
  }
}

const std::string eof = "rouse.io: the stream ended in the midst of what was to be read";
const std::string not_http = "rouse.http: the peer sent what is not HTTP, or not safely so";

TEST(HttpClientFraming, ContentLength) {
  expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello", true);
  expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 ", true);
  expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
                "200 hello", false);
}

TEST(HttpClientFraming, Chunks) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect_answer(head + "5\r\nhello\r\n1;ext=1\r\n!\r\n0\r\n\r\n", "200 hello!", true);
  expect_answer(head + "5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", "200 hello", true);
  expect_answer(head + "0\r\n\r\n", "200 ", true);
}

TEST(HttpClientFraming, UntilTheEnd) {
  expect_answer("HTTP/1.1 200 OK\r\n\r\nhello", "200 hello", false, true);
  expect_answer("HTTP/1.0 200 OK\r\n\r\nhello", "200 hello", false, true);
  expect_answer("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello", false);
  expect_answer("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello",
                "200 hello", true);
}

TEST(HttpClientFraming, AnswersWithoutABody) {
  expect_answer("HTTP/1.1 204 No Content\r\n\r\n", "204 ", true);
  expect_answer("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "304 ", true);
  expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "200 ", true, false, Method::head);
  expect_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 ", true, false,
                Method::head);
}

TEST(HttpClientFraming, InformationalAnswersAreNoAnswers) {
  expect_answer(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok("hello"),
      "200 hello", true);
  expect_answer("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
                "200 ", true, false, Method::head);
  expect_answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
                "rouse.http.client: the server switched to a protocol that nobody asked for",
                false);
  std::string many;
  for (int i = 0; i < 40; ++i) many += "HTTP/1.1 100 Continue\r\n\r\n";
  expect_answer(many + ok(""), not_http, false);
}

TEST(HttpClientFraming, AnEndThatComesTooEarlyIsAnError) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  for (std::size_t size = 0; size < chunked.size(); ++size) {
    const Answered got = answered(chunked.substr(0, size), 1000, true);
    EXPECT_EQ(got.outcome, eof) << size;
    EXPECT_FALSE(got.is_kept);
  }
  const std::string counted = ok("hello");
  for (std::size_t size = 0; size < counted.size(); ++size) {
    EXPECT_EQ(answered(counted.substr(0, size), 1000, true).outcome, eof) << size;
  }
}

TEST(HttpClientFraming, WhatIsNotHttpIsRefused) {
  expect_answer("SSH-2.0-OpenSSH_9.2\r\n", not_http, false);
  expect_answer("HTTP/2.0 200 OK\r\n\r\n", not_http, false);
  expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", not_http,
                false);
  expect_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
                not_http, false);
  expect_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", not_http, false);
  expect_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", not_http, false);
  expect_answer("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", not_http, false);
}

TEST(HttpClientFraming, AHeadThatIsTooLongIsRefused) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nX: " + std::string(40'000, 'x') + "\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(
      answered(bytes, bytes.size(), false).outcome,
      "rouse.http: the request line or the header fields of the peer are longer than allowed");
}

TEST(HttpClientFraming, BytesBehindAnAnswerEndTheConnection) {
  for (const std::string& bytes :
       {ok("hello") + "HTTP/1.1 200 OK\r\n", std::string("HTTP/1.1 204 No Content\r\n\r\nx")}) {
    const Answered got = answered(bytes, bytes.size(), false);
    EXPECT_TRUE(got.outcome.starts_with("20")) << got.outcome;
    EXPECT_FALSE(got.is_kept) << bytes;
  }
}

TEST(HttpClientFraming, AnAnswerThatNobodyAskedForIsNotTheNextOne) {
  run_paused([]() -> Async<void> {
    Script script([&](io::DuplexStream end, Seen&, int number) -> Async<void> {
      (void)co_await read_request(end);
      co_await end.write_all(ok("asked for"));
      co_await sleep(1s);
      if (number == 0) co_await end.write_all(ok("smuggled"));
      (void)co_await read_request(end);
      co_await end.write_all(ok("asked for, too"));
    });
    const Client client = script.client();
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 asked for");
    co_await sleep(2s);
    EXPECT_EQ(co_await outcome_of(client.get("http://h/")), "200 asked for");
    EXPECT_EQ(script->connections, 2);
  });
}

}  // namespace
}  // namespace rouse::http
