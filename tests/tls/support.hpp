// What the tests of TLS share: an authority, a server's certificate, two ends with a connection.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "rouse/core/async.hpp"
#include "rouse/exec/block_on.hpp"
#include "rouse/future/join.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/tls.hpp"

#include "support/certificates.hpp"

namespace rouse::test {

using Pipe = io::DuplexStream;
using TlsPipe = tls::Stream<Pipe>;

inline const Authority& authority() {
  static const Authority one("Test CA");
  return one;
}
/// Of "localhost", made once.
inline const Issued& localhost() {
  static const Issued one =
      authority().issue(For("localhost").name("*.wild.test").address("127.0.0.1"));
  return one;
}

/// Without timers, so that tests need no runtime.
inline tls::ServerConfig server_config(const Issued& shown = localhost()) {
  return tls::ServerConfig::pem_text(shown.certificate, shown.key).no_handshake_timeout();
}
inline tls::ClientConfig client_config() {
  return tls::ClientConfig().trust_pem(authority().pem()).no_handshake_timeout();
}

/// Both ends after the handshake, or their errors.
struct Ends {
  Result<TlsPipe> client;
  Result<TlsPipe> server;
};
inline Ends connect(const tls::Connector& connector, const tls::Acceptor& acceptor,
                    std::string_view name = "localhost", std::size_t capacity = 65536) {
  auto [near, far] = io::duplex(capacity);
  auto [client, server] = block_on(join(connector.connect(std::move(near), name).result(),
                                        acceptor.accept(std::move(far)).result()));
  return Ends{std::move(client), std::move(server)};
}

/// What a failed handshake throws, as text.
template <class F>
std::string why_not(F future) {
  try {
    (void)block_on(std::move(future));
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace rouse::test
