// The client over TLS, and through proxies.
#include <array>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rouse/tls.hpp"

#include "http/client_support.hpp"
#include "support/certificates.hpp"

namespace rouse::http {
namespace {

const test::Authority& authority() {
  static const test::Authority one("Test CA");
  return one;
}
tls::Acceptor acceptor_for(const test::For& whom) {
  const test::Issued issued = authority().issue(whom);
  return tls::Acceptor(
      tls::ServerConfig::pem_text(issued.certificate, issued.key).alpn({"h2", "http/1.1"}));
}
tls::ClientConfig trusting() { return tls::ClientConfig().trust_pem(authority().pem()); }

Async<Response> hello_to(Request& request) {
  co_return Response::text("hello, " + std::string(*request.header("Host")) + request.target());
}
Router routes() {
  Router made;
  made.get("/{rest}", hello_to);
  made.get("/", hello_to);
  return made;
}

/// A server of rouse behind TLS.
Script::Serve serving_tls(const tls::Acceptor& acceptor, std::string* protocol = nullptr) {
  return [acceptor, protocol](io::DuplexStream end, Seen&, int) -> Async<void> {
    auto stream = co_await acceptor.accept(std::move(end));
    if (protocol) *protocol = stream.protocol();
    co_await serve_connection(std::move(stream), routes());
  };
}

TEST(HttpClientTls, SpeaksToAServerThatProvesWhoItIs) {
  run_paused([]() -> Async<void> {
    std::string protocol;
    Script script(serving_tls(acceptor_for(test::For("example.org")), &protocol));
    const Client client = script.builder().tls(trusting()).build();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(co_await outcome_of(client.get("https://example.org/x")),
                "200 hello, example.org/x");
    }
    EXPECT_EQ(script->connections, 1) << "also of TLS a connection is used again";
    EXPECT_EQ(script->hosts.at(0), "example.org:443");
    EXPECT_EQ(protocol, "http/1.1");
  });
}

TEST(HttpClientTls, ASessionIsResumedOnlyWithTheSamePort) {
  run_paused([]() -> Async<void> {
    const tls::Acceptor acceptor = acceptor_for(test::For("h"));
    std::vector<bool> resumed;
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      auto stream = co_await acceptor.accept(std::move(end));
      resumed.push_back(stream.is_resumed());
      co_await serve_connection(std::move(stream), routes());
    });
    const ClientBuilder builder = script.builder().tls(trusting());
    for (const std::string url : {"https://h/", "https://h/", "https://h:444/", "https://h:444/"}) {
      const Client with_new_connections = builder.build();
      const std::string outcome = co_await outcome_of(with_new_connections.get(url));
      EXPECT_TRUE(outcome.starts_with("200 hello")) << outcome;
    }
    EXPECT_EQ(resumed, (std::vector<bool>{false, true, false, true}));
  });
}

TEST(HttpClientTls, AWrongCertificateIsAnErrorThatSaysWhy) {
  run_paused([]() -> Async<void> {
    Script script(serving_tls(acceptor_for(test::For("example.org"))));
    const Client client = script.builder().tls(trusting()).build();
    try {
      (void)co_await client.get("https://other.org/").send();
      ADD_FAILURE() << "it should have thrown";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), tls::Error::wrong_name);
      EXPECT_NE(std::string(error.what()).find("other.org"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("example.org"), std::string::npos) << error.what();
    }
    EXPECT_EQ(co_await error_of(script.client().get("https://example.org/")),
              tls::Error::unknown_issuer);
  });
}

TEST(HttpClientTls, AnHttpUrlIsNoHttpsUrl) {
  run_paused([]() -> Async<void> {
    Script script(serving_tls(acceptor_for(test::For("h"))));
    const Client client = script.builder().tls(trusting()).build();
    EXPECT_TRUE(co_await error_of(client.get("http://h:443/")));
  });
}

TEST(HttpClientTls, ARedirectToHttpIsNotFollowed) {
  run_paused([]() -> Async<void> {
    const tls::Acceptor acceptor = acceptor_for(test::For("h"));
    Script script([&](io::DuplexStream end, Seen&, int) -> Async<void> {
      auto stream = co_await acceptor.accept(std::move(end));
      std::array<char, 1000> buf{};
      (void)co_await stream.read(buf);
      co_await stream.write_all(
          "HTTP/1.1 302 Found\r\nLocation: http://h/\r\n"
          "Content-Length: 0\r\n\r\n");
      co_await stream.flush();
    });
    const Client client = script.builder().tls(trusting()).build();
    EXPECT_EQ(co_await error_of(client.get("https://h/")), ClientError::insecure_redirect);
  });
}

TEST(HttpClientTls, AnEndWithoutFarewellIsForgivenOnlyIfTheLengthIsKnown) {
  run_paused([]() -> Async<void> {
    const tls::Acceptor acceptor = acceptor_for(test::For("h"));
    Script script([&](io::DuplexStream end, Seen&, int number) -> Async<void> {
      auto stream = co_await acceptor.accept(std::move(end));
      std::array<char, 1000> buf{};
      (void)co_await stream.read(buf);
      co_await stream.write_all(number == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                                            : "HTTP/1.1 200 OK\r\n\r\nhello");
      co_await stream.flush();
      if (number == 2) co_await stream.shutdown();
    });
    const Client client = script.builder().tls(trusting()).build();
    EXPECT_EQ(co_await outcome_of(client.get("https://h/")), "200 hello");
    co_await sleep(10ms);
    EXPECT_EQ(co_await error_of(client.get("https://h/")), io::Error::unexpected_eof);
    EXPECT_EQ(co_await outcome_of(client.get("https://h/")), "200 hello");
  });
}

TEST(HttpClientProxy, PassesRequestsOn) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering({ok("through")}));
    const Client client = script.builder().proxy("http://ann:secret@proxy:3128").build();
    EXPECT_EQ(co_await outcome_of(client.get("http://h:81/x?y")), "200 through");
    EXPECT_EQ(co_await outcome_of(client.get("http://i/")), "200 through");
    EXPECT_EQ(script->hosts, std::vector<std::string>{"proxy:3128"}) << "one connection for both";
    const std::string& request = script->requests.at(0);
    EXPECT_TRUE(request.starts_with("GET http://h:81/x?y HTTP/1.1\r\nHost: h:81\r\n")) << request;
    EXPECT_NE(request.find("Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n"), std::string::npos);
  });
}

TEST(HttpClientProxy, OpensATunnelForHttps) {
  run_paused([]() -> Async<void> {
    const auto serve = serving_tls(acceptor_for(test::For("example.org")));
    Script script([&](io::DuplexStream end, Seen& self, int number) -> Async<void> {
      self.requests.push_back(co_await read_request(end));
      co_await end.write_all("HTTP/1.1 200 Connection established\r\n\r\n");
      co_await serve(std::move(end), self, number);
    });
    const Client client =
        script.builder().tls(trusting()).proxy("http://ann:secret@proxy:3128").build();
    EXPECT_EQ(co_await outcome_of(client.get("https://example.org/x")), "200 hello, example.org/x");
    EXPECT_EQ(co_await outcome_of(client.get("https://example.org/y")), "200 hello, example.org/y");
    EXPECT_EQ(script->hosts, std::vector<std::string>{"proxy:3128"});
    EXPECT_EQ(script->requests,
              std::vector<std::string>{"CONNECT example.org:443 HTTP/1.1\r\n"
                                       "Host: example.org:443\r\n"
                                       "Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n\r\n"});
  });
}

TEST(HttpClientProxy, OneThatRefusesIsAnErrorThatSaysSo) {
  run_paused([]() -> Async<void> {
    Script script(Script::answering(
        {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"}));
    const Client client = script.builder().proxy("http://proxy:3128").build();
    try {
      (void)co_await client.get("https://h/").send();
      ADD_FAILURE() << "it should have thrown";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), ClientError::proxy_refused);
      EXPECT_NE(std::string(error.what()).find("407"), std::string::npos) << error.what();
    }
    EXPECT_THROW(Client::builder().proxy("proxy:3128"), std::system_error);
  });
}

}  // namespace
}  // namespace rouse::http
