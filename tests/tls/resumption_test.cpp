// Sessions that are resumed, and those that must not be.
#include <array>
#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "rouse/runtime/runtime.hpp"
#include "rouse/time/pause.hpp"

#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using namespace std::chrono_literals;
using tls::Version;

/// Connects, lets the client see the tickets that come after the handshake, and says whether the
/// session was resumed: as both ends say.
bool resumes(const tls::Connector& connector, const tls::Acceptor& acceptor,
             std::string_view name = "localhost") {
  Ends ends = connect(connector, acceptor, name);
  EXPECT_TRUE(ends.client) << ends.client.error().message();
  EXPECT_TRUE(ends.server) << ends.server.error().message();
  EXPECT_EQ(ends.client->is_resumed(), ends.server->is_resumed());
  std::array<char, 1> buf{};
  Context cx(Waker::noop());
  EXPECT_TRUE(ends.client->read(buf).poll(cx).is_pending());
  return ends.client->is_resumed();
}

const std::array versions{Version::tls_1_2, Version::tls_1_3};

TEST(Resumption, TheNextHandshakeIsAShortOne) {
  for (const Version version : versions) {
    const tls::Connector connector(client_config());
    const tls::Acceptor acceptor(server_config().max_version(version));
    EXPECT_FALSE(resumes(connector, acceptor));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(resumes(connector, acceptor)) << i;
    EXPECT_EQ(connect(connector, acceptor).client->peer_subject(), "CN=localhost")
        << "the session has it, though it was not sent again";
  }
}

TEST(Resumption, CopiesOfAConnectorShareSessionsAndOthersDoNot) {
  const tls::Connector connector(client_config());
  const tls::Connector copy = connector;
  const tls::Connector other(client_config());
  const tls::Acceptor acceptor(server_config());
  EXPECT_FALSE(resumes(connector, acceptor));
  EXPECT_TRUE(resumes(copy, acceptor));
  EXPECT_FALSE(resumes(other, acceptor));
}

TEST(Resumption, IsForTheSameNameAndPortOnly) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  EXPECT_FALSE(resumes(connector, acceptor, "localhost:443"));
  EXPECT_FALSE(resumes(connector, acceptor, "localhost:8443"));
  EXPECT_FALSE(resumes(connector, acceptor, "a.wild.test"));
  EXPECT_TRUE(resumes(connector, acceptor, "localhost:443"));
}

TEST(Resumption, IsLeftOutIfEitherEndDoesNotWantIt) {
  for (const Version version : versions) {
    const tls::Acceptor acceptor(server_config().max_version(version));
    const tls::Connector forgetful(client_config().remember_sessions(0));
    EXPECT_FALSE(resumes(forgetful, acceptor));
    EXPECT_FALSE(resumes(forgetful, acceptor));
    const tls::Acceptor without(server_config().max_version(version).no_tickets());
    const tls::Connector connector(client_config());
    EXPECT_FALSE(resumes(connector, without));
    EXPECT_FALSE(resumes(connector, without));
  }
}

TEST(Resumption, OnlySoManyServersAreRemembered) {
  const tls::Connector connector(client_config().remember_sessions(2));
  const tls::Acceptor acceptor(server_config());
  EXPECT_FALSE(resumes(connector, acceptor, "a.wild.test"));
  EXPECT_FALSE(resumes(connector, acceptor, "b.wild.test"));
  EXPECT_TRUE(resumes(connector, acceptor, "a.wild.test"));
  EXPECT_FALSE(resumes(connector, acceptor, "c.wild.test"));
  EXPECT_FALSE(resumes(connector, acceptor, "b.wild.test"))
      << "the one that was not asked for longest";
  EXPECT_TRUE(resumes(connector, acceptor, "c.wild.test"));
}

TEST(Resumption, AnotherProcessNeedsTheSameSecrets) {
  const std::string secret(32, 's');
  const auto with = [](const tls::TicketKeys& keys) {
    return tls::Acceptor(server_config().ticket_keys(keys));
  };
  const tls::Acceptor here = with(tls::TicketKeys::from_secrets({secret}));
  const tls::Acceptor there = with(tls::TicketKeys::from_secrets({secret}));
  const tls::Acceptor elsewhere = with(tls::TicketKeys::from_secrets({std::string(32, 't')}));
  const tls::Connector connector(client_config());
  EXPECT_FALSE(resumes(connector, here));
  EXPECT_TRUE(resumes(connector, there));
  EXPECT_FALSE(resumes(connector, elsewhere));
}

TEST(Resumption, OldSecretsAreStillGoodWhileTheyAreNamed) {
  const std::string old(32, 'o');
  const std::string recent(32, 'n');
  tls::TicketKeys keys = tls::TicketKeys::from_secrets({old});
  const tls::Acceptor acceptor(server_config().ticket_keys(keys));
  for (const Version version : versions) {
    keys.set_secrets({old});
    const tls::Connector connector(client_config().max_version(version));
    EXPECT_FALSE(resumes(connector, acceptor));
    keys.set_secrets({recent, old});
    EXPECT_TRUE(resumes(connector, acceptor));
    keys.set_secrets({recent});
    EXPECT_TRUE(resumes(connector, acceptor)) << "the client was given a new ticket meanwhile";
  }
}

TEST(Resumption, SecretsThatAreTooShortAreRefused) {
  EXPECT_THROW(tls::TicketKeys::from_secrets({}), std::system_error);
  EXPECT_THROW(tls::TicketKeys::from_secrets({std::string(31, 'x')}), std::system_error);
}

TEST(Resumption, KeysAreReplacedEveryTwelveHours) {
  Runtime runtime = Runtime::builder().current_thread().build();
  auto go = []() -> Async<> {
    time::pause();
    const tls::Acceptor acceptor(server_config().max_version(Version::tls_1_2));
    const tls::Connector connector(client_config());
    auto resumed = [&]() -> Async<bool> {
      auto [near, far] = io::duplex(65536);
      auto [client, server] = co_await join(connector.connect(std::move(near), "localhost"),
                                            acceptor.accept(std::move(far)));
      co_return client.is_resumed();
    };
    EXPECT_FALSE(co_await resumed());
    co_await time::advance(11h);
    EXPECT_TRUE(co_await resumed());
    co_await time::advance(11h + 59min);  // the client keeps the first session for 12 h
    EXPECT_FALSE(co_await resumed());
    EXPECT_TRUE(co_await resumed());
    co_await time::advance(25h);
    EXPECT_FALSE(co_await resumed());
  };
  runtime.block_on(go());
}

TEST(Resumption, OutlivesAReload) {
  const tls::Connector connector(client_config());
  tls::Acceptor acceptor(server_config());
  EXPECT_FALSE(resumes(connector, acceptor));
  acceptor.reload(server_config().alpn({"h2"}));
  EXPECT_TRUE(resumes(connector, acceptor));
}

TEST(Resumption, IsNoWayAroundAClientsCertificate) {
  const Authority clients("Clients");
  for (const Version version : versions) {
    const tls::Connector connector(client_config().max_version(version));
    tls::Acceptor acceptor(server_config());
    EXPECT_FALSE(resumes(connector, acceptor));
    acceptor.reload(server_config().client_ca_text(clients.pem()).require_client_certificate());
    EXPECT_EQ(connect(connector, acceptor).server.error(), tls::Error::no_certificate);
    const Issued ann = clients.issue(For("ann"));
    const tls::Connector known(
        client_config().max_version(version).certificate_pem(ann.certificate, ann.key));
    EXPECT_FALSE(resumes(known, acceptor));
    EXPECT_TRUE(resumes(known, acceptor)) << "who has shown it need not do so again";
    EXPECT_EQ(connect(known, acceptor).server->peer_subject(), "CN=ann");
  }
}

/// As resumes(), for a server whose clock a test moves. That of the client, which keeps a session
/// for 12 h, goes on as ever.
Async<bool> resumes_now(const tls::Connector& connector, const tls::Acceptor& acceptor) {
  auto pipes = io::duplex(65536);
  const auto connect_outside = [&] {
    return connector.connect(std::move(pipes.first), "localhost");
  };
  auto connecting = std::async(std::launch::async, connect_outside).get();
  auto [client, server] =
      co_await join(std::move(connecting), acceptor.accept(std::move(pipes.second)));
  EXPECT_EQ(client.is_resumed(), server.is_resumed());
  std::array<char, 1> buf{};
  Context cx(Waker::noop());
  EXPECT_TRUE(client.read(buf).poll(cx).is_pending());
  co_return client.is_resumed();
}

/// A server whose clock is paused, and its clients.
class ClientSession : public ::testing::TestWithParam<Version> {
 public:
  void run(Async<> (*test)(const ClientSession&)) const {
    Runtime runtime = Runtime::builder().current_thread().build();
    runtime.block_on([](Async<> inner) -> Async<> {
      time::pause();
      co_await inner;
    }(test(*this)));
  }
  tls::Connector client(const Issued& shown) const {
    return tls::Connector(client_config().certificate_pem(shown.certificate, shown.key));
  }
  tls::ServerConfig config() const {
    return server_config().max_version(GetParam()).client_ca_text(clients.pem());
  }

  const Authority clients{"Clients"};
};
INSTANTIATE_TEST_SUITE_P(Resumption, ClientSession, ::testing::ValuesIn(versions),
                         [](const auto& made) {
                           return std::string(made.param == Version::tls_1_2 ? "1_2" : "1_3");
                         });

TEST_P(ClientSession, EndsWithTheCertificate) {
  run([](const ClientSession& with) -> Async<> {
    const tls::Connector ann = with.client(with.clients.issue(For("ann").hours(-1, 3)));
    const tls::Acceptor acceptor(with.config().require_client_certificate());
    EXPECT_FALSE(co_await resumes_now(ann, acceptor));
    co_await time::advance(1h);
    EXPECT_TRUE(co_await resumes_now(ann, acceptor));
    co_await time::advance(1h + 59min);
    EXPECT_TRUE(co_await resumes_now(ann, acceptor));
    co_await time::advance(2min);
    EXPECT_FALSE(co_await resumes_now(ann, acceptor))
        << "a ticket that was given when a session was resumed ends with that session";
  });
}

TEST_P(ClientSession, EndsWithTheCertificateOfAnIssuer) {
  run([](const ClientSession& with) -> Async<> {
    const Authority between = with.clients.intermediate("Between", 3);
    const tls::Connector ann = with.client(between.issue(For("ann")));
    const tls::Acceptor acceptor(with.config());
    EXPECT_FALSE(co_await resumes_now(ann, acceptor));
    co_await time::advance(2h + 59min);
    EXPECT_TRUE(co_await resumes_now(ann, acceptor));
    co_await time::advance(2min);
    EXPECT_FALSE(co_await resumes_now(ann, acceptor));
  });
}

TEST_P(ClientSession, EndsTwelveHoursAfterTheCertificateWasShown) {
  run([](const ClientSession& with) -> Async<> {
    const tls::Connector ann = with.client(with.clients.issue(For("ann")));
    const tls::Acceptor acceptor(with.config());
    EXPECT_FALSE(co_await resumes_now(ann, acceptor));
    co_await time::advance(6h);
    EXPECT_TRUE(co_await resumes_now(ann, acceptor));
    co_await time::advance(5h + 59min);
    EXPECT_TRUE(co_await resumes_now(ann, acceptor));
    co_await time::advance(2min);
    EXPECT_FALSE(co_await resumes_now(ann, acceptor));
    EXPECT_TRUE(co_await resumes_now(ann, acceptor)) << "it was shown again";
  });
}

TEST_P(ClientSession, EndsAlsoInAnotherProcess) {
  run([](const ClientSession& with) -> Async<> {
    const std::string secret(32, 's');
    const tls::Acceptor here(with.config().ticket_keys(tls::TicketKeys::from_secrets({secret})));
    const tls::Acceptor there(with.config().ticket_keys(tls::TicketKeys::from_secrets({secret})));
    const tls::Connector ann = with.client(with.clients.issue(For("ann").hours(-1, 3)));
    EXPECT_FALSE(co_await resumes_now(ann, here));
    co_await time::advance(2h + 59min);
    EXPECT_TRUE(co_await resumes_now(ann, there));
    co_await time::advance(2min);
    EXPECT_FALSE(co_await resumes_now(ann, there));
  });
}

}  // namespace
