// Which certificates are refused, and what is said about them.
#include <string>
#include <utility>

#include "support/program.hpp"
#include "tls/support.hpp"

namespace {

using namespace rouse;
using namespace rouse::test;

/// What a client says of a server that shows this, and what the server hears.
struct Refused {
  std::error_code code;
  std::string text;
  std::error_code heard;
};
Refused refusal(const Issued& shown, const std::string& name = "localhost",
                const tls::ClientConfig& config = client_config()) {
  const tls::Connector connector(config);
  const tls::Acceptor acceptor(server_config(shown));
  Ends ends = connect(connector, acceptor, name);
  Refused refused;
  if (ends.client) return refused;
  refused.code = ends.client.error();
  if (!ends.server) refused.heard = ends.server.error();
  auto [near, far] = io::duplex(65536);
  auto both =
      join(connector.connect(std::move(near), name), acceptor.accept(std::move(far)).result());
  refused.text = why_not(std::move(both));
  return refused;
}

TEST(Certificate, ThatHasExpired) {
  const Refused refused = refusal(authority().issue(For("localhost").days(-20, -10)));
  EXPECT_EQ(refused.code, tls::Error::certificate_expired);
  EXPECT_EQ(refused.heard, tls::Alert::certificate_expired);
  EXPECT_TRUE(refused.text.starts_with("TLS with localhost (that of CN=localhost ended 20"))
      << refused.text;
  EXPECT_TRUE(refused.text.ends_with("UTC): the peer's certificate has expired")) << refused.text;
}

TEST(Certificate, ThatIsNotYetValid) {
  const Refused refused = refusal(authority().issue(For("localhost").days(10, 20)));
  EXPECT_EQ(refused.code, tls::Error::certificate_not_yet_valid);
  EXPECT_EQ(refused.heard, tls::Alert::bad_certificate);
  EXPECT_NE(refused.text.find("begins 20"), std::string::npos) << refused.text;
}

TEST(Certificate, ForAnotherName) {
  const Refused refused =
      refusal(authority().issue(For("a.test").name("*.b.test").address("10.0.0.1")), "c.test");
  EXPECT_EQ(refused.code, tls::Error::wrong_name);
  EXPECT_EQ(refused.text,
            "TLS with c.test (its certificate is for a.test, *.b.test, 10.0.0.1): the peer's "
            "certificate is for another name");
}

TEST(Certificate, ForManyOtherNames) {
  For whom("n0.test");
  for (int i = 1; i < 9; ++i) whom.name("n" + std::to_string(i) + ".test");
  const Refused refused = refusal(authority().issue(whom));
  EXPECT_NE(refused.text.find("(its certificate is for n0.test, n1.test, n2.test, n3.test, n4.test "
                              "and others)"),
            std::string::npos)
      << refused.text;
}

TEST(Certificate, WithACommonNameOnlyIsForNobody) {
  const Refused refused = refusal(authority().issue(For("localhost").without_names()));
  EXPECT_EQ(refused.code, tls::Error::wrong_name);
  EXPECT_NE(refused.text.find("for nobody: it has no names"), std::string::npos) << refused.text;
}

TEST(Certificate, WithAWildcardInPartOfALabelIsNotFollowed) {
  EXPECT_EQ(refusal(authority().issue(For("w*.test")), "www.test").code, tls::Error::wrong_name);
  EXPECT_EQ(refusal(authority().issue(For("*.test")), "a.b.test").code, tls::Error::wrong_name);
}

TEST(Certificate, ThatIsSignedByItself) {
  const Refused refused = refusal(self_signed(For("localhost")));
  EXPECT_EQ(refused.code, tls::Error::self_signed);
  EXPECT_EQ(refused.heard, tls::Alert::unknown_ca);
  EXPECT_NE(refused.text.find("(CN=localhost)"), std::string::npos) << refused.text;
}

TEST(Certificate, ThatIsSignedByItselfIsGoodWhenItIsTrusted) {
  const Issued own = self_signed(For("localhost"));
  const tls::Connector connector(
      tls::ClientConfig().trust_pem(own.certificate).no_handshake_timeout());
  EXPECT_TRUE(connect(connector, tls::Acceptor(server_config(own))).client);
}

TEST(Certificate, OfAnAuthorityThatNobodyKnows) {
  const Authority other("Another CA");
  const Refused refused = refusal(other.issue(For("localhost")));
  EXPECT_EQ(refused.code, tls::Error::unknown_issuer);
  EXPECT_EQ(refused.heard, tls::Alert::unknown_ca);
  EXPECT_NE(refused.text.find("(the issuer is CN=Another CA)"), std::string::npos) << refused.text;
}

TEST(Certificate, OfAnIntermediateAuthorityNeedsThatOneSent) {
  const Authority middle = authority().intermediate("Middle CA");
  Issued whole = middle.issue(For("localhost"));
  EXPECT_EQ(refusal(whole).code, std::error_code());
  const std::string end = "-----END CERTIFICATE-----\n";
  whole.certificate.resize(whole.certificate.find(end) + end.size());
  const Refused refused = refusal(whole);
  EXPECT_EQ(refused.code, tls::Error::unknown_issuer);
  EXPECT_NE(refused.text.find("(the issuer is CN=Middle CA)"), std::string::npos) << refused.text;
}

TEST(Certificate, OfAnIntermediateAuthorityThatIsTrustedItself) {
  const Authority middle = authority().intermediate("Middle CA");
  const auto config = tls::ClientConfig().trust_pem(middle.pem()).no_handshake_timeout();
  EXPECT_EQ(refusal(middle.issue(For("localhost")), "localhost", config).code, std::error_code());
}

TEST(Certificate, ThatIsNotForServers) {
  const Refused refused = refusal(authority().issue(For("localhost").purpose("clientAuth")));
  EXPECT_EQ(refused.code, tls::Error::bad_purpose);
  EXPECT_EQ(refused.heard, tls::Alert::unsupported_certificate);
}

TEST(Certificate, WithAKeyThatIsTooShort) {
  const Issued weak = authority().issue(For("localhost").rsa(1024));
  try {
    const tls::Acceptor acceptor(server_config(weak));
    FAIL() << "it was taken";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), tls::Error::weak_certificate);
    EXPECT_NE(std::string(error.what()).find("CN=localhost"), std::string::npos) << error.what();
  }
}

TEST(Certificate, IsAcceptedWhateverItIsIfThatIsWanted) {
  const auto config = client_config().dangerously_accept_any_certificate();
  EXPECT_EQ(refusal(self_signed(For("other.test").days(-9, -8)), "localhost", config).code,
            std::error_code());
}

TEST(Certificate, OfTheSystemsAuthoritiesIsTrustedByDefault) {
  // There is none of ours among them.
  const auto config = tls::ClientConfig().no_handshake_timeout();
  EXPECT_EQ(refusal(localhost(), "localhost", config).code, tls::Error::unknown_issuer);
  EXPECT_EQ(refusal(localhost(), "localhost", client_config().trust_system()).code,
            std::error_code());
}

// --- files and text ------------------------------------------------------------------------------

std::string thrown_by(auto&& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Pem, ComesFromFiles) {
  const TempDirectory folder;
  folder.write("cert.pem", localhost().certificate);
  folder.write("key.pem", localhost().key);
  folder.write("ca.pem", authority().pem());
  const tls::Acceptor acceptor(
      tls::ServerConfig::pem(folder.file("cert.pem"), folder.file("key.pem"))
          .no_handshake_timeout());
  const tls::Connector connector(
      tls::ClientConfig().trust_file(folder.file("ca.pem")).no_handshake_timeout());
  EXPECT_TRUE(connect(connector, acceptor).client);
}

TEST(Pem, ThatIsWrongIsThrownWithTheNameOfTheFile) {
  const TempDirectory folder;
  folder.write("empty.pem", "");
  folder.write("cert.pem", localhost().certificate);
  folder.write("key.pem", localhost().key);
  folder.write("other.pem", authority().issue(For("localhost")).key);
  const auto server = [&](const char* certificate, const char* key) {
    return thrown_by([&] { tls::ServerConfig::pem(folder.file(certificate), folder.file(key)); });
  };
  const std::string at = folder.path() + "/";
  EXPECT_EQ(server("none.pem", "key.pem"), at + "none.pem: No such file or directory");
  EXPECT_EQ(server("empty.pem", "key.pem"),
            at + "empty.pem has no certificate: this is not what it should be in PEM");
  EXPECT_EQ(
      server("cert.pem", "cert.pem"),
      at + "cert.pem has no key, or one with a passphrase: this is not what it should be in PEM");
  EXPECT_EQ(server("cert.pem", "other.pem"),
            at + "other.pem and " + at + "cert.pem: the key does not belong to the certificate");
  EXPECT_EQ(server(".", "key.pem"), at + ".: Is a directory");
}

TEST(Pem, WithACertificateThatIsCutOffIsNotTakenInPart) {
  const std::string text = authority().pem() + localhost().certificate.substr(0, 200);
  EXPECT_EQ(
      thrown_by([&] { tls::ClientConfig().trust_pem(text); }),
      "certificate 2 in the text to trust can't be read: this is not what it should be in PEM");
}

}  // namespace
