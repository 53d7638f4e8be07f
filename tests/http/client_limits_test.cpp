// Every wait of the client has an end, and what it gathers a bound.
#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/runtime/deadline.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/time/timeout.hpp"

#include "http/client_support.hpp"

namespace rouse::http {
namespace {

/// A server that says this much and then nothing.
Script::Serve saying(std::string text) {
  return [text](io::DuplexStream end, Seen&, int) -> Async<void> {
    (void)co_await read_request(end);
    co_await end.write_all(text);
    co_await sleep(1h);
  };
}

TEST(HttpClientLimits, ARequestEndsAfter30Seconds) {
  run_paused([]() -> Async<void> {
    Script script(saying(""));
    const Client client = script.client();
    const auto begin = time::now();
    EXPECT_EQ(co_await error_of(client.get("http://h/")), std::errc::timed_out);
    EXPECT_EQ(time::now() - begin, 30s);
    EXPECT_EQ(co_await error_of(client.get("http://h/").timeout(2s)), std::errc::timed_out);
    EXPECT_EQ(time::now() - begin, 32s);
  });
}

TEST(HttpClientLimits, SoDoesItsBody) {
  run_paused([]() -> Async<void> {
    Script script(saying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"));
    const Client client = script.builder().timeout(7s).build();
    const auto begin = time::now();
    auto reply = co_await client.get("http://h/").send();
    EXPECT_EQ(time::now(), begin);
    const auto text = co_await reply.text().result();
    EXPECT_EQ(text.error(), std::errc::timed_out);
    EXPECT_EQ(time::now() - begin, 7s);
    EXPECT_EQ((co_await reply.text().result()).error(), std::errc::timed_out) << "and stays so";
  });
}

TEST(HttpClientLimits, AServerThatSendsAByteASecondHoldsNobodyUp) {
  run_paused([]() -> Async<void> {
    Script script([](io::DuplexStream end, Seen&, int) -> Async<void> {
      (void)co_await read_request(end);
      co_await end.write_all("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      for (;;) {
        co_await end.write_all("x");
        co_await sleep(1s);
      }
    });
    const Client client = script.client();
    const auto begin = time::now();
    EXPECT_EQ(co_await error_of(client.get("http://h/")), std::errc::timed_out);
    EXPECT_EQ(time::now() - begin, 30s);
  });
}

TEST(HttpClientLimits, TheDeadlineCountsIfItIsEarlier) {
  run_paused([]() -> Async<void> {
    Script script(saying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"));
    const Client client = script.builder().no_timeout().build();
    const auto begin = time::now();
    EXPECT_EQ(co_await with_deadline(3s, error_of(client.get("http://h/"))), DeadlineError::passed);
    EXPECT_EQ(time::now() - begin, 3s);
    Script silent(saying(""));
    const Client other = silent.client();
    EXPECT_EQ(co_await with_deadline(3s, error_of(other.get("http://h/"))), DeadlineError::passed);
    EXPECT_EQ(time::now() - begin, 6s);
  });
}

TEST(HttpClientLimits, ConnectingHasALimitOfItsOwn) {
  run_paused([]() -> Async<void> {
    auto never = [](net::Endpoint) -> AsyncResult<io::AnyConnection> {
      co_await pending_forever<void>();
      co_return std::errc::connection_refused;
    };
    const Client client = Client::builder().connector(never).build();
    const auto begin = time::now();
    try {
      (void)co_await client.get("http://h/").send();
      ADD_FAILURE() << "it should have thrown";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::timed_out);
      EXPECT_STREQ(error.what(), "http::Client: connecting to h:80: Connection timed out");
    }
    EXPECT_EQ(time::now() - begin, 5s);
  });
}

TEST(HttpClientLimits, ATextHasABound) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering(
        {ok("12345"),
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n"}));
    const Client small = script.builder().body_limit(4).build();
    EXPECT_EQ(co_await error_of(small.get("http://h/")), io::Error::too_long);
    EXPECT_EQ(co_await error_of(small.get("http://h/")), io::Error::too_long);
    const Client enough = script.builder().body_limit(5).build();
    EXPECT_EQ(co_await outcome_of(enough.get("http://h/")), "200 12345");
  });
}

TEST(HttpClientLimits, NoServerIsARefusalThatSaysWhere) {
  run_paused([]() -> Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const std::string address = listener.local_addr().to_string();
    {
      const auto closed = std::move(listener);
    }
    try {
      (void)co_await Client().get("http://" + address + "/").send();
      ADD_FAILURE() << "it should have thrown";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::connection_refused);
      EXPECT_EQ(error.what(), "http::Client: connecting to " + address + ": Connection refused");
    }
  });
}

TEST(HttpClientLimits, AddressesMayBeRefused) {
  run_paused([]() -> Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const std::string url = "http://" + listener.local_addr().to_string() + "/";
    std::vector<std::string> asked;
    const auto no_loopback = [&](const net::SocketAddr& address) {
      asked.push_back(address.to_string());
      return !address.ip().is_loopback();
    };
    const Client client = Client::builder().allow_address(no_loopback).build();
    EXPECT_EQ(co_await error_of(client.get(url)), ClientError::address_refused);
    EXPECT_EQ(asked, std::vector<std::string>{listener.local_addr().to_string()});
  });
}

TEST(HttpClientLimits, AnAddressIsRefusedHoweverItIsWritten) {
  run_paused([]() -> Async<void> {
    auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
    const std::string port = std::to_string(listener.local_addr().port());
    std::vector<std::string> asked;
    const auto one_only = [&](const net::SocketAddr& address) {
      asked.push_back(address.to_string());
      return address.ip() != net::IpAddr::loopback();
    };
    const Client client = Client::builder().allow_address(one_only).timeout(1s).build();
    for (const std::string host : {"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"}) {
      EXPECT_EQ(co_await error_of(client.get("http://" + host + ":" + port + "/")),
                ClientError::address_refused)
          << host;
      EXPECT_EQ(asked.back(), "127.0.0.1:" + port) << host;
    }
  });
}

TEST(HttpClientLimits, ABadUrlIsToldWithoutItsPassword) {
  run_paused([]() -> Async<void> {
    const Client client;
    for (const std::string url :
         {"http://ann:secret@h h/x", "http://ann:sec@ret@h:99999/x", "ftp://ann:secret@h/x",
          "http://ann:sec/ret@h/x", "ann:secret@h/x"}) {
      try {
        (void)co_await client.get(url).send();
        ADD_FAILURE() << "it should have thrown: " << url;
      } catch (const std::system_error& error) {
        const std::string what = error.what();
        EXPECT_EQ(error.code(), ClientError::bad_url);
        EXPECT_EQ(what.find("ann"), std::string::npos) << what;
        EXPECT_EQ(what.find("ret"), std::string::npos) << what;
        EXPECT_NE(what.find("@h"), std::string::npos) << what;
        EXPECT_NE(what.find("/x'"), std::string::npos) << what;
      }
    }
  });
}

TEST(HttpClientLimits, WhoVisitsManyHostsDoesNotRememberThemAll) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("")}));
    const Client client = script.client();
    for (int i = 0; i < 300; ++i) {
      EXPECT_EQ(co_await outcome_of(client.get("http://h" + std::to_string(i) + "/")), "200 ");
      co_await sleep(20s);
    }
    EXPECT_EQ(client.metrics().requests, 300U);
    EXPECT_LE(client.metrics().opened, 64U) << "of the hosts that are remembered";
  });
}

}  // namespace
}  // namespace rouse::http
