// TlsSession over OpenSSL: see tls_state.hpp.
#include "rouse/tls/internal/session.hpp"

#include <algorithm>
#include <cstring>
#include <openssl/err.h>
#include <string>
#include <utility>

#include "rouse/tls/error.hpp"

#include "tls/queue_bio.hpp"
#include "tls/record_cursor.hpp"
#include "tls/tls_state.hpp"

namespace rouse::internal {
namespace {

/// Two whole records and a little: few calls of the system while much comes.
constexpr std::size_t room_size = std::size_t{33} * 1024;

using Bytes = Poll<Result<std::size_t>>;

}  // namespace

TlsState::TlsState(RefPtr<const TlsContext> shared, std::string peer_name)
    : context(std::move(shared)), peer(std::move(peer_name)), ssl(needed(SSL_new(context->get()))) {
  BIO* bio = make_queue_bio(*this).release();
  SSL_set_bio(ssl.get(), bio, bio);  // takes both over
  needed(SSL_set_app_data(ssl.get(), this));
}

TlsState::~TlsState() {
  // Of a connection that was dropped without a good bye the session is as good as any. OpenSSL
  // holds on to what SSL 3 said, and would not resume it.
  if (!failure) SSL_set_shutdown(ssl.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

TlsState& TlsState::of(const SSL* ssl) noexcept {
  return *static_cast<TlsState*>(SSL_get_app_data(ssl));
}

std::optional<std::error_code> TlsState::why(int result) {
  const int kind = SSL_get_error(ssl.get(), result);
  // OpenSSL may go on without having sent an alert.
  if (out_of_memory) {
    fail({std::make_error_code(std::errc::not_enough_memory), ""});
  } else if (is_flooded) {
    fail({tls::Error::forced_output, ""});
  } else if (kind == SSL_ERROR_WANT_READ) {
    if (!input_ended) return std::nullopt;
    return make_error_code(io::Error::unexpected_eof);
  } else if (kind == SSL_ERROR_SSL) {
    fail(latest_failure(ssl.get(), {first_bytes.data(), first_count}));
  } else {
    fail({tls::Error::protocol_violation, ""});
  }
  return failure;
}

void TlsState::fail(Failure failed) {
  failure = failed.code;
  if (detail.empty()) detail = std::move(failed.detail);
}

TlsSession::~TlsSession() { delete state_; }

// --- bytes from and to the peer ------------------------------------------------------------------

std::span<std::byte> TlsSession::room() { return checked().incoming.room(room_size); }

void TlsSession::received(std::size_t n) noexcept {
  TlsState& state = checked();
  if (n == 0) {
    state.input_ended = true;
    return nothing_received();
  }
  state.incoming.added(n);
  const std::span<const std::byte> bytes = state.incoming.bytes();
  const std::size_t wanted = std::min(n, state.first_bytes.size() - state.first_count);
  std::memcpy(state.first_bytes.data() + state.first_count, bytes.data() + bytes.size() - n,
              wanted);
  state.first_count += wanted;
}

void TlsSession::nothing_received() noexcept { checked().incoming.release_if_empty(); }

bool TlsSession::has_input() const noexcept {
  const TlsState& state = checked();
  return !state.incoming.empty() || SSL_has_pending(state.ssl.get()) != 0;
}

std::span<const std::byte> TlsSession::outgoing() const noexcept {
  return checked().outgoing.bytes();
}

void TlsSession::sent(std::size_t n) noexcept {
  ByteQueue& outgoing = checked().outgoing;
  outgoing.take(n);
  outgoing.release_if_empty();
}

bool TlsSession::is_full() const noexcept {
  return checked().outgoing.size() >= TlsState::most_outgoing;
}

void TlsSession::fail_sending(std::error_code error) noexcept { checked().sending_error = error; }

Result<void> TlsSession::check_sending() const noexcept {
  const std::error_code error = checked().sending_error;
  return error ? Result<void>(error) : Result<void>();
}

// --- handshake -----------------------------------------------------------------------------------

Poll<Result<void>> TlsSession::handshake() {
  using Ready = Poll<Result<void>>;
  TlsState& state = checked();
  if (state.failure) return Ready::ready(state.failure);
  ERR_clear_error();
  const int result = SSL_do_handshake(state.ssl.get());
  if (result == 1) {
    state.context->finish(state);
    return Ready::ready(Result<void>());
  }
  if (const std::optional<std::error_code> error = state.why(result)) return Ready::ready(*error);
  return pending;
}

bool TlsSession::may_send_later() const noexcept {
  // All that is left of a server's handshake then are tickets, which nobody waits for.
  const SSL* ssl = checked().ssl.get();
  return SSL_is_server(ssl) != 0 && SSL_version(ssl) >= TLS1_3_VERSION;
}

time::Nanoseconds TlsSession::handshake_timeout() const noexcept {
  return checked().context->handshake_timeout();
}

void TlsSession::throw_failure(std::error_code error) const {
  const TlsState& state = checked();
  std::string text = "TLS with " + state.peer;
  std::string detail = error == state.failure ? state.detail : "";
  if (error == std::make_error_code(std::errc::timed_out)) error = tls::Error::handshake_timeout;
  if (error == io::Error::unexpected_eof) detail = "in the handshake";
  if (!detail.empty()) text += " (" + detail + ')';
  throw std::system_error(error, text);
}

// --- reading and writing -------------------------------------------------------------------------

Bytes TlsSession::read(std::span<std::byte> buf) {
  TlsState& state = checked();
  if (state.failure) return Bytes::ready(state.failure);
  if (buf.empty()) return Bytes::ready(std::size_t{0});
  SSL* ssl = state.ssl.get();
  ERR_clear_error();
  std::size_t n = 0;
  const int result = SSL_read_ex(ssl, buf.data(), buf.size(), &n);
  std::optional<std::error_code> error;
  const bool is_end = result != 1 && SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN;
  if (result != 1 && !is_end) error = state.why(result);
  if (state.writer && (error || is_end || SSL_in_init(ssl) == 0))
    std::move(*std::exchange(state.writer, std::nullopt)).wake();
  if (result == 1) return Bytes::ready(n);
  if (is_end) return Bytes::ready(std::size_t{0});
  if (error) return Bytes::ready(*error);
  return pending;
}

Bytes TlsSession::write(std::span<const io::Buffer> bufs) {
  TlsState& state = checked();
  if (state.failure) return Bytes::ready(state.failure);
  if (const Result<void> before = check_sending(); !before) return Bytes::ready(before.error());
  if ((SSL_get_shutdown(state.ssl.get()) & SSL_SENT_SHUTDOWN) != 0)
    return Bytes::ready(std::errc::broken_pipe);
  std::size_t taken = 0;
  for (RecordCursor cursor(bufs); !cursor.is_done() && !is_full();) {
    const std::span<const std::byte> record = cursor.next();
    ERR_clear_error();
    std::size_t n = 0;
    const int result = SSL_write_ex(state.ssl.get(), record.data(), record.size(), &n);
    if (result != 1) {
      const std::optional<std::error_code> error = state.why(result);
      if (taken != 0) break;
      if (error) return Bytes::ready(*error);
      return pending;
    }
    taken += n;
    cursor.advance(n);
  }
  return Bytes::ready(taken);
}

void TlsSession::wait_for_reader(const Context& cx) { checked().writer = cx.waker(); }

void TlsSession::close() noexcept {
  const TlsState& state = checked();
  SSL* ssl = state.ssl.get();
  // In the midst of a message of the peer it can't be said; the stream below ends all the same.
  if (state.failure || SSL_in_init(ssl) != 0) return;
  if ((SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN) != 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl);
}

}  // namespace rouse::internal
