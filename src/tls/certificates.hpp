// Which certificate a server shows: the one that is for the name the client asks for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tls/openssl.hpp"
#include "tls/pem.hpp"

namespace rouse::internal {

/// Throws std::system_error if OpenSSL does not like it: its key is too short.
void use_identity(SSL_CTX* ctx, const Identity& identity);

class Certificates {
 public:
  /// At least one.
  explicit Certificates(std::vector<Identity> all);

  /// For connections that ask for no name. Throws as use_identity, of any of them.
  void use_first_for(SSL_CTX* ctx) const;
  /// Gives a connection those for this name; else the first. False: there is no memory.
  [[nodiscard]] bool use_for(SSL* ssl, std::string_view name) const noexcept;

 private:
  using Indices = std::vector<std::size_t>;
  void note_names(std::size_t index);
  void note(std::string_view name, std::size_t index);
  [[nodiscard]] const Indices* find(std::string_view name) const;

  std::vector<Identity> all_;
  std::unordered_map<std::string, Indices> by_name_;  // "*.example.org", too
};

}  // namespace rouse::internal
