// rouse::tls against OpenSSL's own client and server, and curl.
#include "rouse/tls.hpp"

#include <string>
#include <utility>
#include <vector>

#include "counterparts/support.hpp"
#include "support/certificates.hpp"

namespace rouse::test {
namespace {

using TlsSocket = tls::Stream<net::TcpStream>;

class Tls : public Counterpart {
 protected:
  Tls() : authority_("Test CA") {
    const Issued server = authority_.issue(For("localhost"));
    files_.write("ca.pem", authority_.pem());
    files_.write("cert.pem", server.certificate);
    files_.write("key.pem", server.key);
  }

  [[nodiscard]] std::string file(const char* name) const { return files_.file(name); }
  [[nodiscard]] tls::ServerConfig config() const {
    return tls::ServerConfig::pem(file("cert.pem"), file("key.pem"));
  }

  /// Answers every connection with a text, on a port of 127.0.0.1.
  std::uint16_t serve(tls::ServerConfig config, std::string answer) {
    auto listener = run(net::TcpListener::bind("127.0.0.1:0"));
    const std::uint16_t port = listener.local_addr().port();
    rt.spawn(accept_all, std::move(listener), tls::Acceptor(config), std::move(answer)).detach();
    return port;
  }

  Ended s_client(const std::string& openssl, std::uint16_t port, std::vector<std::string> more) {
    std::vector<std::string> command{openssl,
                                     "s_client",
                                     "-connect",
                                     text_of(port),
                                     "-CAfile",
                                     file("ca.pem"),
                                     "-verify_return_error",
                                     "-verify_hostname",
                                     "localhost",
                                     "-servername",
                                     "localhost"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  }

 private:
  static Async<> answer_one(tls::Acceptor acceptor, net::TcpStream socket, std::string answer) {
    Result<TlsSocket> peer = co_await acceptor.accept(std::move(socket)).result();
    if (!peer) co_return;  // the client is to say so
    co_await peer->write_all(answer);
    co_await peer->shutdown();
    std::string rest;
    (void)co_await peer->read_to_end(rest).result();
  }
  static Async<> accept_all(net::TcpListener listener, tls::Acceptor acceptor, std::string answer) {
    for (;;) {
      auto accepted = co_await listener.accept();
      spawn(answer_one, acceptor, std::move(accepted.stream), answer).detach();
    }
  }

  TempDirectory files_;
  Authority authority_;
};

TEST_F(Tls, IsReadByOpenSsl) {
  const std::string openssl = program("openssl");
  if (IsSkipped()) return;
  const std::uint16_t port = serve(config(), "hello, s_client\n");
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const Ended ended = s_client(openssl, port, {"-quiet", version});
    EXPECT_EQ(ended.output, "hello, s_client\n") << version;
  }
}

TEST_F(Tls, ResumesSessionsOfOpenSsl) {
  const std::string openssl = program("openssl");
  if (IsSkipped()) return;
  const std::uint16_t port = serve(config().alpn({"h2"}), "x\n");
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const std::vector<std::string> options{version, "-ign_eof", "-alpn", "h2"};
    std::vector<std::string> first = options;
    first.insert(first.end(), {"-sess_out", file("session")});
    const Ended begun = s_client(openssl, port, first);
    EXPECT_NE(begun.output.find("New, TLSv1."), std::string::npos) << begun.output;
    EXPECT_NE(begun.output.find("ALPN protocol: h2"), std::string::npos) << begun.output;
    EXPECT_NE(begun.output.find("Verify return code: 0 (ok)"), std::string::npos) << begun.output;
    std::vector<std::string> second = options;
    second.insert(second.end(), {"-sess_in", file("session")});
    const Ended resumed = s_client(openssl, port, second);
    EXPECT_NE(resumed.output.find("Reused, TLSv1."), std::string::npos) << resumed.output;
  }
}

TEST_F(Tls, TalksToAServerOfOpenSsl) {
  const std::string openssl = program("openssl");
  if (IsSkipped()) return;
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const std::uint16_t port = free_port();
    Program server({"/bin/sh", "-c",
                    "exec " + openssl + " s_server -accept " + text_of(port) + " -cert " +
                        file("cert.pem") + " -key " + file("key.pem") + " -rev -quiet " + version +
                        " 2>/dev/null"});
    server.wait_for_port(port);
    const tls::Connector connector(tls::ClientConfig().trust_file(file("ca.pem")));
    auto talk = [&]() -> Async<> {
      for (int i = 0; i < 3; ++i) {
        auto socket = co_await net::TcpStream::connect(text_of(port));
        TlsSocket peer = co_await connector.connect(std::move(socket), "localhost");
        EXPECT_EQ(peer.is_resumed(), i > 0) << version;
        co_await peer.write_all("stressed\n");
        co_await peer.flush();
        std::string answer(9, ' ');
        co_await peer.read_exact(answer);
        EXPECT_EQ(answer, "desserts\n");
        co_await peer.shutdown();
      }
    };
    run(talk());
  }
}

TEST_F(Tls, IsProbedByTheExample) {
  const std::string probe = built_example("tls_probe");
  if (IsSkipped()) return;
  const std::uint16_t port = serve(config().alpn({"h2"}), "");
  const std::string at = "localhost:" + std::to_string(port);
  // The system's authorities are those of this file, for this program.
  const std::string trusting = "SSL_CERT_FILE=" + file("ca.pem") + " ";
  EXPECT_EQ(run_shell(trusting + probe + " " + at).output,
            at + ": TLS 1.3, TLS_AES_256_GCM_SHA384, CN=localhost, h2\n");
  const Ended stranger = run_shell(probe + " " + at);
  EXPECT_TRUE(
      stranger.output.starts_with(at + ": TLS with " + at + " (the issuer is CN=Test CA): "))
      << stranger.output;
}

TEST_F(Tls, ServesCurl) {
  const std::string curl = program("curl");
  if (IsSkipped()) return;
  const std::uint16_t port =
      serve(config().alpn({"http/1.1"}), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n");
  const std::string at = "https://localhost:" + std::to_string(port) + "/";
  const std::string resolve = "localhost:" + std::to_string(port) + ":127.0.0.1";
  const Ended good =
      run_program({curl, "-sS", "--cacert", file("ca.pem"), "--resolve", resolve, at});
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.output, "hello\n");
  const Ended stranger = run_shell(curl + " -sS --resolve " + resolve + " " + at + " 2>&1");
  EXPECT_EQ(stranger.status, 60) << "it does not know the authority: " << stranger.output;
}

}  // namespace
}  // namespace rouse::test
