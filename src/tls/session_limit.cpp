#include "tls/session_limit.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "rouse/io/numbers.hpp"

#include "time/calendar.hpp"
#include "tls/ticket_keys.hpp"

namespace rouse::internal {
namespace {

using Date = std::int64_t;  // seconds since 1970
using DateBytes = NumberBytes<Date>;
constexpr std::endian network_order = std::endian::big;

std::int64_t seconds_left(const X509* certificate) noexcept {
  constexpr std::int64_t day = std::int64_t{24} * 3600;
  int days = 0;
  int seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate)) != 1) return 0;
  return days * day + seconds;
}

/// Of a handshake in which the client was verified just now.
Date end_of_session(const SSL* ssl) noexcept {
  using std::chrono::duration_cast;
  std::int64_t left = duration_cast<std::chrono::seconds>(TlsTicketKeys::period).count();
  const STACK_OF(X509)* chain = SSL_get0_verified_chain(ssl);
  for (int i = 0; i < sk_X509_num(chain); ++i)
    left = std::min(left, seconds_left(sk_X509_value(chain, i)));
  return time::calendar_seconds() + left;
}

/// Called before a ticket is made. 0 would end the connection; without a date the ticket is of no
/// use, which is all that happens if there is no memory.
int date_ticket(SSL* ssl, void*) noexcept {
  // One that replaces another has the other's date.
  if (SSL_session_reused(ssl) != 0) return 1;
  const auto bytes = reordered<network_order, Date>(std::bit_cast<DateBytes>(end_of_session(ssl)));
  SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), bytes.data(), bytes.size());
  return 1;
}

bool has_ended(SSL_SESSION* session) noexcept {
  void* data = nullptr;
  std::size_t size = 0;
  SSL_SESSION_get0_ticket_appdata(session, &data, &size);
  DateBytes bytes{};
  if (data == nullptr || size != bytes.size()) return true;
  std::memcpy(bytes.data(), data, size);
  return time::calendar_seconds() >= std::bit_cast<Date>(reordered<network_order, Date>(bytes));
}

/// Called with what was in a ticket, or with nothing if that is not ours.
SSL_TICKET_RETURN judge_ticket(SSL*, SSL_SESSION* session, const unsigned char*, std::size_t,
                               SSL_TICKET_STATUS status, void*) noexcept {
  const bool is_ours = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
  if (!is_ours || has_ended(session)) return SSL_TICKET_RETURN_IGNORE_RENEW;
  return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

}  // namespace

void limit_sessions(SSL_CTX* ctx) noexcept {
  SSL_CTX_set_session_ticket_cb(ctx, date_ticket, judge_ticket, nullptr);
}

}  // namespace rouse::internal
