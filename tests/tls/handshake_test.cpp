// Handshakes: what both ends agree on, over streams of any size, however often they are polled.
#include <array>
#include <string>
#include <utility>

#include "rouse/testing/drop_at_each_poll.hpp"

#include "support/shape_text.hpp"
#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::testing::drop_at_each_poll;
using tls::Version;

void expect_talk(Ends& ends) {
  ASSERT_TRUE(ends.client) << ends.client.error().message();
  ASSERT_TRUE(ends.server) << ends.server.error().message();
  const auto say = [](TlsPipe& from, TlsPipe& to, const std::string& text) {
    auto send = [](TlsPipe& peer, std::string said) -> Async<> {
      co_await peer.write_all(said);
      co_await peer.flush();
    };
    std::string heard(text.size(), ' ');
    block_on(join(send(from, text), to.read_exact(heard)));
    EXPECT_EQ(heard, text);
  };
  say(*ends.client, *ends.server, "hello");
  say(*ends.server, *ends.client, "good bye");
}

TEST(Handshake, BothEndsCanTalk) {
  Ends ends = connect(tls::Connector(client_config()), tls::Acceptor(server_config()));
  expect_talk(ends);
  EXPECT_EQ(ends.client->version(), Version::tls_1_3);
  EXPECT_EQ(ends.server->version(), Version::tls_1_3);
  EXPECT_TRUE(ends.client->cipher().starts_with("TLS_")) << ends.client->cipher();
  EXPECT_EQ(ends.client->cipher(), ends.server->cipher());
  EXPECT_EQ(ends.server->server_name(), "localhost");
  EXPECT_EQ(ends.client->peer_subject(), "CN=localhost");
  EXPECT_TRUE(ends.client->peer_certificate()->starts_with('\x30')) << "DER begins so";
  EXPECT_EQ(ends.server->peer_subject(), std::nullopt) << "nobody asked for the client's";
  EXPECT_EQ(ends.client->protocol(), "");
  EXPECT_FALSE(ends.client->is_resumed());
}

TEST(Handshake, WorksThroughStreamsOfAnySize) {
  const tls::Connector connector(client_config().remember_sessions(0));
  for (const Version version : {Version::tls_1_2, Version::tls_1_3}) {
    const tls::Acceptor acceptor(server_config().max_version(version));
    for (const std::size_t capacity : {1U, 2U, 3U, 5U, 7U, 16U, 100U, 1000U, 5000U}) {
      Ends ends = connect(connector, acceptor, "localhost", capacity);
      expect_talk(ends);
      EXPECT_EQ(ends.client->version(), version);
    }
  }
}

TEST(Handshake, AgreesOnAVersionOrFails) {
  const tls::Connector old(client_config().max_version(Version::tls_1_2));
  const tls::Connector recent(client_config().min_version(Version::tls_1_3));
  const tls::Acceptor old_server(server_config().max_version(Version::tls_1_2));
  const tls::Acceptor recent_server(server_config().min_version(Version::tls_1_3));
  EXPECT_EQ(connect(old, tls::Acceptor(server_config())).client->version(), Version::tls_1_2);
  Ends ends = connect(old, recent_server);
  EXPECT_EQ(ends.server.error(), tls::Error::no_common_version);
  EXPECT_EQ(ends.client.error(), tls::Alert::protocol_version);
  Ends others = connect(recent, old_server);
  EXPECT_EQ(others.server.error(), tls::Error::no_common_version);
  EXPECT_EQ(others.client.error(), tls::Alert::protocol_version);
}

TEST(Handshake, ChoosesTheProtocolThatTheServerLikesBest) {
  const tls::Acceptor acceptor(server_config().alpn({"h2", "http/1.1"}));
  Ends both = connect(tls::Connector(client_config().alpn({"http/1.1", "h2"})), acceptor);
  EXPECT_EQ(both.client->protocol(), "h2");
  EXPECT_EQ(both.server->protocol(), "h2");
  Ends one = connect(tls::Connector(client_config().alpn({"http/1.1"})), acceptor);
  EXPECT_EQ(one.client->protocol(), "http/1.1");
  Ends none = connect(tls::Connector(client_config()), acceptor);
  EXPECT_EQ(none.client->protocol(), "") << "who does not ask is not refused";
  Ends ignored =
      connect(tls::Connector(client_config().alpn({"h2"})), tls::Acceptor(server_config()));
  EXPECT_EQ(ignored.client->protocol(), "") << "nor is who asks a server that has none";
}

TEST(Handshake, WithoutACommonProtocolFailsAtBothEnds) {
  const tls::Acceptor acceptor(server_config().alpn({"h2"}));
  Ends ends = connect(tls::Connector(client_config().alpn({"smtp"})), acceptor);
  EXPECT_EQ(ends.server.error(), tls::Error::no_common_protocol);
  EXPECT_EQ(ends.client.error(), tls::Alert::no_application_protocol);
}

TEST(Handshake, ProtocolsWithoutANameAreRefusedWhenTheyAreSet) {
  EXPECT_THROW(client_config().alpn({""}), std::system_error);
  EXPECT_THROW(server_config().alpn({std::string(256, 'x')}), std::system_error);
  EXPECT_NO_THROW(server_config().alpn({std::string(255, 'x')}));
}

TEST(Handshake, TheServerShowsTheCertificateForTheNameThatIsAskedFor) {
  const Issued one = authority().issue(For("one.test"));
  const Issued two = authority().issue(For("two.test").name("*.two.test"));
  const Issued rsa = authority().issue(For("two.test").rsa(2048));
  const tls::Acceptor acceptor(server_config(one)
                                   .add_pem_text(localhost().certificate, localhost().key)
                                   .add_pem_text(two.certificate, two.key)
                                   .add_pem_text(rsa.certificate, rsa.key));
  const tls::Connector connector(client_config());
  for (const std::string name : {"one.test", "two.test", "a.two.test", "localhost", "TWO.test."}) {
    Ends ends = connect(connector, acceptor, name);
    ASSERT_TRUE(ends.client) << name << ": " << ends.client.error().message();
  }
  EXPECT_EQ(connect(connector, acceptor, "a.two.test").client->peer_subject(), "CN=two.test");
  Ends unknown = connect(connector, acceptor, "three.test");
  EXPECT_EQ(unknown.client.error(), tls::Error::wrong_name)
      << "it shows the first, which is not for it";
  EXPECT_EQ(connect(connector, acceptor, "a.b.two.test").client.error(), tls::Error::wrong_name);
}

TEST(Handshake, ChecksAnAddressWithoutAskingForIt) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  for (const std::string name : {"127.0.0.1", "127.0.0.1:443"}) {
    Ends ends = connect(connector, acceptor, name);
    ASSERT_TRUE(ends.client) << ends.client.error().message();
    EXPECT_EQ(ends.server->server_name(), "");
  }
  EXPECT_EQ(connect(connector, acceptor, "127.0.0.2").client.error(), tls::Error::wrong_name);
  EXPECT_EQ(connect(connector, acceptor, "[::1]:443").client.error(), tls::Error::wrong_name);
}

TEST(Handshake, WithoutAServerNameThereIsNone) {
  const tls::Connector connector(client_config());
  for (const std::string name : {"", ".", "a..b", "-a.test", "a b", "a\nb", "h\xc3\xb6st", "1.2.3",
                                 "[::1", "[::1]x", ":443", "::g", "a/b"}) {
    auto [near, far] = io::duplex(4096);
    const Result<TlsPipe> peer = block_on(connector.connect(std::move(near), name).result());
    ASSERT_FALSE(peer) << name;
    EXPECT_EQ(peer.error(), tls::Error::bad_server_name) << name;
    EXPECT_EQ(peer.error(), std::errc::invalid_argument);
    EXPECT_EQ(block_on(far.read_to_string()), "") << "nothing was sent";
  }
  EXPECT_FALSE(
      block_on(connector.connect(io::duplex(1).first, std::string(64, 'a') + ".test").result()));
  EXPECT_FALSE(
      block_on(connector.connect(io::duplex(1).first, std::string("a\0.test", 7)).result()));
}

TEST(Handshake, AClientMayShowACertificate) {
  const Authority clients("Clients");
  const Issued ann = clients.issue(For("ann").purpose("clientAuth"));
  const tls::Connector with(client_config().certificate_pem(ann.certificate, ann.key));
  const tls::Connector without(client_config());
  const tls::Acceptor may(server_config().client_ca_text(clients.pem()));
  EXPECT_EQ(connect(with, may).server->peer_subject(), "CN=ann");
  EXPECT_EQ(connect(without, may).server->peer_subject(), std::nullopt);
}

TEST(Handshake, AClientsCertificateIsForClientsAndOfTheAuthorityThatIsNamed) {
  const Authority middle = authority().intermediate("Middle CA");
  const tls::Acceptor acceptor(server_config().client_ca_text(middle.pem()));
  const auto as = [&](const Issued& shown) {
    const tls::Connector connector(client_config().certificate_pem(shown.certificate, shown.key));
    const Ends ends = connect(connector, acceptor);
    return ends.server ? std::error_code() : ends.server.error();
  };
  EXPECT_EQ(as(middle.issue(For("ann").purpose("clientAuth"))), std::error_code());
  EXPECT_EQ(as(middle.issue(For("ann").purpose("serverAuth"))), tls::Error::bad_purpose);
  EXPECT_EQ(as(authority().issue(For("ann"))), tls::Error::unknown_issuer);
}

TEST(Handshake, AClientThatMustShowACertificateIsRefusedWithoutOne) {
  const Authority clients("Clients");
  const Issued ann = clients.issue(For("ann"));
  const Issued stranger = authority().issue(For("eve"));
  for (const Version version : {Version::tls_1_2, Version::tls_1_3}) {
    const tls::Acceptor must(server_config()
                                 .client_ca_text(clients.pem())
                                 .require_client_certificate()
                                 .max_version(version));
    EXPECT_TRUE(
        connect(tls::Connector(client_config().certificate_pem(ann.certificate, ann.key)), must)
            .server);
    Ends none = connect(tls::Connector(client_config()), must);
    EXPECT_EQ(none.server.error(), tls::Error::no_certificate);
    Ends other = connect(
        tls::Connector(client_config().certificate_pem(stranger.certificate, stranger.key)), must);
    EXPECT_EQ(other.server.error(), tls::Error::unknown_issuer);
    if (version == Version::tls_1_2) {
      EXPECT_EQ(none.client.error(), tls::Alert::handshake_failure);
      EXPECT_EQ(other.client.error(), tls::Alert::unknown_ca);
      continue;
    }
    // In TLS 1.3 a client has done its part before it hears of it.
    ASSERT_TRUE(none.client) << none.client.error().message();
    std::array<char, 1> buf{};
    EXPECT_EQ(block_on(none.client->read(buf).result()).error(), tls::Alert::certificate_required);
    EXPECT_EQ(block_on(other.client->read(buf).result()).error(), tls::Alert::unknown_ca);
  }
}

TEST(Handshake, IsGivenUpWhenItIsDroppedAtAnyPoll) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  for (const std::size_t capacity : {64U, 100'000U}) {
    std::optional<Pipe> far;
    std::optional<AsyncResult<TlsPipe>> other;
    const auto step = [&](std::size_t) {
      Context cx(Waker::noop());
      if (other && other->poll(cx).is_ready()) other.reset();
    };
    const auto as_client = [&] {
      auto [near, away] = io::duplex(capacity);
      other.emplace(acceptor.accept(std::move(away)));
      return connector.connect(std::move(near), "localhost");
    };
    const auto as_server = [&] {
      auto [near, away] = io::duplex(capacity);
      other.emplace(connector.connect(std::move(away), "localhost"));
      return acceptor.accept(std::move(near));
    };
    const auto client = drop_at_each_poll(as_client, step);
    EXPECT_GE(client.polls, 2U);
    const auto server = drop_at_each_poll(as_server, step);
    EXPECT_GE(server.polls, 2U);
    EXPECT_FALSE(client.threw || server.threw);
  }
}

TEST(Handshake, NobodyRequiresCertificatesThatNobodyMayIssue) {
  EXPECT_THROW(tls::Acceptor(server_config().require_client_certificate()), std::system_error);
}

/// One end, whose other one is gone.
Pipe alone() {
  auto [near, far] = io::duplex(1000);
  return std::move(near);
}

TEST(Handshake, WithAPeerThatLeavesIsUnexpectedEof) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  EXPECT_EQ(block_on(acceptor.accept(alone()).result()).error(), io::Error::unexpected_eof);
  EXPECT_EQ(
      why_not(acceptor.accept(alone())),
      "TLS with a client (in the handshake): the stream ended in the midst of what was to be read");
  EXPECT_FALSE(block_on(connector.connect(alone(), "localhost").result()));
}

TEST(Handshake, WithAPeerThatSaidWhyBeforeItLeftTellsThat) {
  const tls::Connector connector(client_config());
  auto [near, far] = io::duplex(1000);
  block_on(far.write_all(io::Buffer("\x15\x03\x03\x00\x02\x02\x28", 7)));  // a fatal alert
  {
    const Pipe gone = std::move(far);
  }
  EXPECT_EQ(why_not(connector.connect(std::move(near), "localhost")),
            "TLS with localhost: the peer ended the connection: handshake_failure")
      << "and not that the pipe is broken";
}

TEST(Handshake, SaysWhatAPeerSpeaksThatIsNotTls) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  const auto answered = [&](const char* answer) {
    auto [near, far] = io::duplex(4096);
    block_on(far.write_all(answer));
    return why_not(connector.connect(std::move(near), "web.test"));
  };
  EXPECT_EQ(answered("HTTP/1.1 400 Bad Request\r\n\r\n"),
            "TLS with web.test (it answered with HTTP): the peer does not speak TLS");
  EXPECT_EQ(answered("SSH-2.0-OpenSSH_9.2\r\n"),
            "TLS with web.test (it speaks SSH): the peer does not speak TLS");
  EXPECT_EQ(answered("220 mail.test ESMTP\r\n"),
            "TLS with web.test (it sent \"220 mail\"): the peer does not speak TLS");
  auto [near, far] = io::duplex(4096);
  block_on(far.write_all("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(why_not(acceptor.accept(std::move(near))),
            "TLS with a client (it sent an HTTP request): the peer does not speak TLS");
}

TEST(Handshake, ADumpSeesWhatItWaitsFor) {
  auto [near, far] = io::duplex(16);
  const tls::Connector connector(client_config());
  auto connecting = connector.connect(std::move(near), "localhost");
  Context cx(Waker::noop());
  EXPECT_TRUE(connecting.poll(cx).is_pending());
  const std::string text = ShapeText(connecting).text();
  EXPECT_NE(text.find("TLS handshake(duplex"), std::string::npos) << text;
}

}  // namespace
