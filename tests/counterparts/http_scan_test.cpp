// An HTTPS server of rouse as sslscan and testssl.sh see it: nothing weak is offered, and no known
// hole is open.
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "rouse/http.hpp"

#include "counterparts/http.hpp"
#include "support/certificates.hpp"

namespace rouse::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Async<http::Response> hello(http::Request&) { co_return http::Response::text("hello\n"); }

class HttpScan : public HttpCounterpart {
 protected:
  std::uint16_t serve_over_tls(For whom = For("localhost")) {
    const Authority authority("Test CA");
    const Issued issued = authority.issue(whom);
    return serve(hello, http::ServerOptions(),
                 tls::ServerConfig::pem_text(issued.certificate, issued.key));
  }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Those that are accepted are of TLS 1.3, or have forward secrecy and are authenticated as a
/// whole.
std::size_t expect_ciphers_are_strong(const std::string& scan) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(scan)) {
    if (!line.starts_with("Accepted") && !line.starts_with("Preferred")) continue;
    ++count;
    if (line.find(" TLS_") != std::string::npos) continue;
    EXPECT_THAT(line, HasSubstr(" ECDHE-"));
    EXPECT_TRUE(line.find("-GCM-") != std::string::npos ||
                line.find("-CHACHA20-POLY1305") != std::string::npos)
        << line;
  }
  return count;
}

TEST_F(HttpScan, SslscanFindsNothingWeak) {
  const std::string sslscan = program("sslscan");
  if (IsSkipped()) return;
  for (const int rsa_bits : {0, 2048}) {
    const std::uint16_t port = serve_over_tls(For("localhost").rsa(rsa_bits));
    const Ended scan = run_program({sslscan, "--no-colour", text_of(port)});
    EXPECT_EQ(scan.status, 0);
    for (const char* version : {"SSLv2     ", "SSLv3     ", "TLSv1.0   ", "TLSv1.1   "}) {
      EXPECT_THAT(scan.output, HasSubstr(std::string("\n") + version + "disabled\n"));
    }
    EXPECT_THAT(scan.output, HasSubstr("\nTLSv1.2   enabled\n"));
    EXPECT_THAT(scan.output, HasSubstr("\nTLSv1.3   enabled\n"));
    EXPECT_THAT(scan.output, HasSubstr("Server supports TLS Fallback SCSV"));
    EXPECT_THAT(scan.output, HasSubstr("Session renegotiation not supported"));
    EXPECT_THAT(scan.output, HasSubstr("not vulnerable to heartbleed"));
    EXPECT_THAT(scan.output, Not(HasSubstr("Compression enabled")));
    EXPECT_GE(expect_ciphers_are_strong(scan.output), 4U) << scan.output;
  }
}

TEST_F(HttpScan, TestsslFindsNoHole) {
  const std::string testssl = program("testssl");
  if (IsSkipped()) return;
  // Those that sslscan does not look for; all that it can do takes a minute.
  const Ended scan =
      run_program({testssl, "--color", "0", "--warnings", "off", "--nodns", "min", "--ip", "one",
                   "--ccs-injection", "--ticketbleed", "--robot", text_of(serve_over_tls())});
  EXPECT_EQ(scan.status, 0) << scan.output;
  EXPECT_THAT(scan.output, ContainsRegex("CCS \\(CVE-2014-0224\\) +not vulnerable"));
  EXPECT_THAT(scan.output, ContainsRegex("Ticketbleed \\(CVE-2016-9244\\).* +not vulnerable"));
  EXPECT_THAT(scan.output, ContainsRegex("ROBOT +Server does not support any cipher suites"));
}

}  // namespace
}  // namespace rouse::test
