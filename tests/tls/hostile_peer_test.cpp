// Peers that break the rules, or use them against us.
#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "rouse/io/split.hpp"
#include "rouse/testing/poll_harness.hpp"

#include "support/program.hpp"
#include "tls/raw_peer.hpp"
#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;
using rouse::testing::PollHarness;
using As = RawPeer::As;

struct Connected {
  TlsPipe ours;
  RawPeer peer;
};
Connected to_server(int version, std::size_t capacity = 1 << 20) {
  auto [near, far] = io::duplex(capacity);
  RawPeer peer(As::server, std::move(far), version);
  const tls::Connector connector(client_config());
  TlsPipe ours = shake_hands(connector.connect(std::move(near), "localhost"), peer);
  return Connected{std::move(ours), std::move(peer)};
}
Connected to_client(int version, std::size_t capacity = 1 << 20) {
  auto [near, far] = io::duplex(capacity);
  RawPeer peer(As::client, std::move(far), version);
  const tls::Acceptor acceptor(server_config());
  TlsPipe ours = shake_hands(acceptor.accept(std::move(near)), peer);
  return Connected{std::move(ours), std::move(peer)};
}

/// What the peer can read.
std::string heard_by(RawPeer& peer) {
  peer.receive();
  std::string heard;
  std::array<char, 4096> buf{};
  for (int n = 0; (n = SSL_read(peer.ssl(), buf.data(), buf.size())) > 0;)
    heard.append(buf.data(), static_cast<std::size_t>(n));
  return heard;
}

TEST(HostilePeer, NewKeysAreFollowedAndAnsweredWithTheNextWrite) {
  auto [ours, peer] = to_server(TLS1_3_VERSION);
  std::array<char, 16> buf{};
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_write(peer.ssl(), "ping", 4), 4);
    peer.send();
    EXPECT_EQ(block_on(ours.read(buf)), 4U);
    EXPECT_EQ(peer.receive(), 0U) << "a read writes nothing";
    block_on(ours.write_all("pong"));
    EXPECT_EQ(heard_by(peer), "pong");
  }
}

TEST(HostilePeer, AFloodOfNewKeysMakesNoAnswersPileUp) {
  auto [ours, peer] = to_server(TLS1_3_VERSION);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
    ASSERT_EQ(SSL_do_handshake(peer.ssl()), 1);
  }
  peer.send();
  std::array<char, 16> buf{};
  Context cx(Waker::noop());
  EXPECT_TRUE(ours.read(buf).poll(cx).is_pending());
  block_on(ours.write_all("here"));
  EXPECT_EQ(heard_by(peer), "here") << "one answer for all of them";
}

TEST(HostilePeer, WhoMakesUsAnswerAndDoesNotReadIsCutOff) {
  // Each request to negotiate anew is answered with a warning that we do not.
  auto [ours, peer] = to_server(TLS1_2_VERSION);
  std::array<char, 16> buf{};
  Context cx(Waker::noop());
  std::error_code error;
  for (int i = 0; i < 20'000 && !error; ++i) {
    ASSERT_EQ(SSL_renegotiate(peer.ssl()), 1);
    ASSERT_EQ(SSL_do_handshake(peer.ssl()), 1);
    if (i % 1000 != 999) continue;
    peer.send();
    auto reading = ours.read(buf);
    const auto polled = reading.poll_result(cx);
    if (polled.is_ready()) error = polled.value().error();
  }
  EXPECT_EQ(error, tls::Error::forced_output);
  EXPECT_EQ(block_on(ours.write("x").result()).error(), tls::Error::forced_output);
}

TEST(HostilePeer, ARecordInPartHoldsUpTheReaderOnly) {
  auto [ours, peer] = to_server(TLS1_3_VERSION);
  ASSERT_EQ(SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
  ASSERT_EQ(SSL_write(peer.ssl(), "late", 4), 4);
  const std::string bytes = peer.outgoing();
  block_on(peer.pipe().write_all(bytes.substr(0, 10)));
  std::array<char, 16> buf{};
  PollHarness reading(ours.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  block_on(ours.write_all("still writing"));
  EXPECT_EQ(heard_by(peer), "still writing");
  block_on(peer.pipe().write_all(bytes.substr(10)));
  EXPECT_TRUE(reading.is_woken());
  EXPECT_TRUE(reading.poll().is_ready());
}

/// A message of the protocol that is in two records, of which one came: OpenSSL writes nothing
/// before it has read the other. Tickets are as long as that if the client's certificate is long.
struct HalfATicket {
  HalfATicket() {
    const Authority clients("Clients");
    For ann("ann");
    for (int i = 0; i < 30; ++i) ann.name("ann" + std::to_string(i) + ".very.long.name.test");
    const Issued shown = clients.issue(ann);
    auto [near, far] = io::duplex(1 << 20);
    peer.emplace(As::server, std::move(far));
    SSL_set_verify(peer->ssl(), SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
    SSL_set_session_id_context(peer->ssl(), reinterpret_cast<const unsigned char*>("x"), 1);
    const tls::Connector connector(client_config().certificate_pem(shown.certificate, shown.key));
    ours.emplace(shake_hands(connector.connect(std::move(near), "localhost"), *peer));
    std::array<char, 1> buf{};
    Context cx(Waker::noop());
    EXPECT_TRUE(ours->read(buf).poll(cx).is_pending()) << "the first tickets";
    SSL_set_max_send_fragment(peer->ssl(), 512);
    EXPECT_EQ(SSL_new_session_ticket(peer->ssl()), 1);
    EXPECT_EQ(SSL_do_handshake(peer->ssl()), 1);
    EXPECT_EQ(SSL_write(peer->ssl(), "after it", 8), 8);
    const std::string bytes = peer->outgoing();
    constexpr std::size_t first = 512 + 1 + 16 + 5;
    EXPECT_GT(bytes.size(), first);
    block_on(peer->pipe().write_all(bytes.substr(0, first)));
    rest = bytes.substr(first);
  }
  std::optional<RawPeer> peer;
  std::optional<TlsPipe> ours;
  std::string rest;
};

TEST(HostilePeer, AWriterWaitsForTheReaderInTheMidstOfAMessage) {
  HalfATicket half;
  auto [reader, writer] = io::split(*std::move(half.ours));
  std::array<char, 16> buf{};
  PollHarness reading(reader.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  PollHarness writing(writer.write("now"));
  EXPECT_TRUE(writing.poll().is_pending());
  EXPECT_TRUE(writing.kept_waker());
  EXPECT_FALSE(writing.is_woken());
  block_on(half.peer->pipe().write_all(half.rest));
  EXPECT_TRUE(reading.is_woken());
  EXPECT_FALSE(writing.is_woken());
  EXPECT_TRUE(reading.poll().is_ready());
  EXPECT_TRUE(writing.is_woken());
  EXPECT_TRUE(writing.poll().is_ready());
  EXPECT_EQ(heard_by(*half.peer), "now");
}

TEST(HostilePeer, AWriterThatWaitsForTheReaderHearsThatThereIsNothingMore) {
  HalfATicket half;
  auto [reader, writer] = io::split(*std::move(half.ours));
  std::array<char, 16> buf{};
  PollHarness reading(reader.read(buf));
  EXPECT_TRUE(reading.poll().is_pending());
  PollHarness writing(writer.write("now").result());
  EXPECT_TRUE(writing.poll().is_pending());
  half.peer.reset();
  EXPECT_TRUE(reading.is_woken());
  EXPECT_THROW((void)reading.poll(), std::system_error);
  EXPECT_TRUE(writing.is_woken());
  EXPECT_FALSE(writing.poll().value());
}

TEST(HostilePeer, AShutdownInTheMidstOfAMessageDoesNotWait) {
  HalfATicket half;
  std::array<char, 16> buf{};
  Context cx(Waker::noop());
  EXPECT_TRUE(half.ours->read(buf).poll(cx).is_pending());
  EXPECT_TRUE(block_on(half.ours->shutdown().result()));
  EXPECT_EQ(heard_by(*half.peer), "");
}

TEST(HostilePeer, GarbageAfterTheHandshakeEndsTheConnection) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto [ours, peer] = to_client(version);
    block_on(peer.pipe().write_all(noise(2000)));
    std::array<char, 16> buf{};
    const auto read = block_on(ours.read(buf).result());
    ASSERT_FALSE(read);
    EXPECT_EQ(&read.error().category(), &tls::error_category()) << read.error().message();
    EXPECT_EQ(block_on(ours.read(buf).result()).error(), read.error()) << "and so it stays";
    EXPECT_EQ(block_on(ours.write("x").result()).error(), read.error());
    EXPECT_TRUE(block_on(ours.shutdown().result()));
    peer.receive();
    EXPECT_LE(SSL_read(peer.ssl(), buf.data(), buf.size()), 0) << "it hears an alert";
  }
}

TEST(HostilePeer, AChangedByteIsACorruptRecord) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto [ours, peer] = to_client(version);
    ASSERT_EQ(SSL_write(peer.ssl(), "precious", 8), 8);
    std::string bytes = peer.outgoing();
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    block_on(peer.pipe().write_all(bytes));
    std::array<char, 16> buf{};
    EXPECT_EQ(block_on(ours.read(buf).result()).error(), tls::Error::corrupt_record);
  }
}

TEST(HostilePeer, AFatalAlertIsToldByItsName) {
  auto [ours, peer] = to_client(TLS1_2_VERSION);
  // Of TLS 1.2 a garbled record makes OpenSSL send one.
  block_on(ours.write_all("x"));
  std::array<std::byte, 100> record{};
  Context cx(Waker::noop());
  const auto read = peer.pipe().poll_read(cx, record);
  ASSERT_TRUE(read.is_ready());
  record[*read.value() - 1] ^= std::byte{1};
  BIO_write(SSL_get_rbio(peer.ssl()), record.data(), static_cast<int>(*read.value()));
  char byte = 0;
  ASSERT_LE(SSL_read(peer.ssl(), &byte, 1), 0);
  peer.send();
  std::array<char, 16> buf{};
  const auto answer = block_on(ours.read(buf).result());
  EXPECT_EQ(answer.error(), tls::Alert::bad_record_mac);
  EXPECT_EQ(answer.error().message(), "the peer ended the connection: bad_record_mac");
}

TEST(HostilePeer, WhateverBytesComeInTheHandshakeItEnds) {
  const tls::Connector connector(client_config());
  const tls::Acceptor acceptor(server_config());
  std::minstd_rand random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = noise(1 + random() % 300, random());
    // Half of them begin like a record of a handshake.
    if (i % 2 == 0) bytes = std::string("\x16\x03\x01\x00\x40", 5) + bytes;
    for (const bool as_client : {false, true}) {
      auto [near, far] = io::duplex(4096);
      block_on(far.write_all(bytes));
      {
        const Pipe gone = std::move(far);
      }
      const Result<TlsPipe> peer =
          as_client ? block_on(connector.connect(std::move(near), "localhost").result())
                    : block_on(acceptor.accept(std::move(near)).result());
      ASSERT_FALSE(peer);
    }
  }
}

/// A handshake in which every byte that the server sends may be changed or missing.
TEST(HostilePeer, AHandshakeThatIsCutOrChangedAnywhereFails) {
  const tls::Connector connector(client_config().remember_sessions(0));
  for (std::size_t at = 0; at < 2000; at += 37) {
    for (const bool cuts : {false, true}) {
      auto [near, far] = io::duplex(1 << 16);
      RawPeer peer(As::server, std::move(far));
      auto ours = connector.connect(std::move(near), "localhost");
      Context cx(Waker::noop());
      std::size_t sent = 0;
      bool was_touched = false;
      bool is_done = false;
      for (int i = 0; i < 10 && !is_done; ++i) {
        const auto polled = ours.poll_result(cx);
        is_done = polled.is_ready();
        if (is_done) {
          EXPECT_EQ(polled.value().has_value(), !was_touched) << at;
        }
        peer.receive();
        SSL_do_handshake(peer.ssl());
        std::string bytes = peer.outgoing();
        const bool is_here = at >= sent && at < sent + bytes.size();
        if (is_here && cuts) bytes.resize(at - sent);
        if (is_here && !cuts) bytes[at - sent] = static_cast<char>(bytes[at - sent] ^ 0x20);
        sent += bytes.size();
        if (!bytes.empty()) (void)block_on(peer.pipe().write_all(bytes).result());
        was_touched = was_touched || is_here;
        if (is_here && cuts) block_on(peer.pipe().shutdown());
      }
      if (!was_touched || is_done) continue;
      // It waits for more, of a record that became longer.
      block_on(peer.pipe().shutdown());
      const auto polled = ours.poll_result(cx);
      EXPECT_TRUE(polled.is_ready() && !polled.value()) << at;
    }
  }
}

}  // namespace
