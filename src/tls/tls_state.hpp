// TlsState: what is behind a TlsSession: OpenSSL's connection between two queues of bytes.
//
// OpenSSL reads what has come and writes what is to be sent (queue_bio.hpp). It never waits for
// room: the queue takes every record, and who fills it is stopped before (TlsSession::is_full).
// Only what a peer makes us say has a limit of its own, `most_forced`.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/waker.hpp"
#include "rouse/time/instant.hpp"

#include "tls/byte_queue.hpp"
#include "tls/context.hpp"
#include "tls/failure.hpp"
#include "tls/openssl.hpp"

namespace rouse::internal {

class TlsState {
 public:
  /// So much may wait to be sent before a write has to.
  static constexpr std::size_t most_outgoing = std::size_t{64} * 1024;
  /// With so much to be sent the connection is cut off: the peer makes us answer and does not read.
  static constexpr std::size_t most_forced = std::size_t{256} * 1024;

  /// `peer` is how messages name it. Throws std::bad_alloc.
  TlsState(RefPtr<const TlsContext> context, std::string peer);
  TlsState(const TlsState&) = delete;
  ~TlsState();

  /// Of a connection that OpenSSL calls us back for.
  static TlsState& of(const SSL* ssl) noexcept;

  /// Why the latest call gave no result: nothing if more of what the peer says is needed.
  std::optional<std::error_code> why(int result);
  /// The connection has failed for good.
  void fail(Failure failed);

  // NOLINTBEGIN(misc-non-private-member-variables-in-classes): private to src/tls
  const RefPtr<const TlsContext> context;  // lives longer than `ssl`, which calls it
  std::string peer;
  // Of a client: where its sessions are kept, when the server showed its certificate, and the same
  // of the session that it began with, if it did.
  std::string session_key;
  time::Instant verified_at{};
  const SSL_SESSION* resumed_from = nullptr;
  time::Instant resumed_verified_at{};
  SslPtr ssl;
  ByteQueue incoming;
  ByteQueue outgoing;
  std::error_code failure;            // of TLS, for good
  std::error_code sending_error;      // of the stream below, when taken bytes were sent
  std::string detail;                 // what `failure` can't say
  std::array<char, 8> first_bytes{};  // that came
  std::size_t first_count = 0;
  bool input_ended = false;
  bool is_flooded = false;
  bool out_of_memory = false;
  std::optional<Waker> writer;  // waits until the reader has read a message of the protocol
  // NOLINTEND(misc-non-private-member-variables-in-classes)
};

}  // namespace rouse::internal
