// Certificates for tests, made when they are needed: an authority, and what it issues.
//
//   const Authority authority("Test CA");
//   const Issued server = authority.issue(For("localhost"));
//   tls::ServerConfig::pem_text(server.certificate, server.key);
//   tls::ClientConfig().trust_pem(authority.pem());
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace rouse::test {

/// Whom a certificate is for, and what is odd about it.
struct For {
  explicit For(std::string host) : names{std::move(host)} {}
  For& name(std::string host) {
    names.push_back(std::move(host));
    return *this;
  }
  /// An IP address.
  For& address(std::string ip) {
    addresses.push_back(std::move(ip));
    return *this;
  }
  /// Valid from and to so many days or hours from now.
  For& days(int from, int to) { return hours(from * 24, to * 24); }
  For& hours(int from, int to) {
    begins = from;
    ends = to;
    return *this;
  }
  /// "serverAuth" or "clientAuth". Default: any.
  For& purpose(std::string wanted) {
    usage = std::move(wanted);
    return *this;
  }
  For& rsa(int bits) {
    rsa_bits = bits;
    return *this;
  }
  /// Only a common name, as it was done in the nineties.
  For& without_names() {
    has_names = false;
    return *this;
  }

  std::vector<std::string> names;  // the first is the common name, too
  std::vector<std::string> addresses;
  int begins = -24;  // in hours
  int ends = 30 * 24;
  std::string usage;
  int rsa_bits = 0;  // 0: an elliptic curve
  bool has_names = true;
};

/// PEM text. The certificate comes with those of its issuers, but for the root.
struct Issued {
  std::string certificate;
  std::string key;
};

class Authority {
 public:
  /// A root.
  explicit Authority(const std::string& name);
  Authority(Authority&&) noexcept;
  ~Authority();

  [[nodiscard]] std::string pem() const;
  [[nodiscard]] Issued issue(const For& whom) const;
  /// An authority that this one vouches for, for so many hours.
  [[nodiscard]] Authority intermediate(const std::string& name, int hours = 30 * 24) const;

 private:
  struct Made;
  explicit Authority(std::unique_ptr<Made> made) noexcept;

  std::unique_ptr<Made> made_;
};

/// A certificate that is signed by itself.
Issued self_signed(const For& whom);

}  // namespace rouse::test
