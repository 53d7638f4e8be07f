#include "tls/queue_bio.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include "tls/tls_state.hpp"

namespace rouse::internal {
namespace {

int read_queue(BIO* bio, char* to, std::size_t size, std::size_t* read) noexcept {
  TlsState& state = *static_cast<TlsState*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const std::size_t n = std::min(size, state.incoming.size());
  if (n == 0) {
    // Also at the end, of which OpenSSL hears nothing: it would give up writing, too.
    BIO_set_retry_read(bio);
    return -1;
  }
  std::memcpy(to, state.incoming.bytes().data(), n);
  state.incoming.take(n);
  *read = n;
  return 1;
}

int write_queue(BIO* bio, const char* from, std::size_t size, std::size_t* written) noexcept {
  TlsState& state = *static_cast<TlsState*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (state.outgoing.size() + size > TlsState::most_forced) {
    state.is_flooded = true;
    return -1;
  }
  try {
    state.outgoing.append(std::as_bytes(std::span(from, size)));
  } catch (const std::bad_alloc&) {
    state.out_of_memory = true;
    return -1;
  }
  *written = size;
  return 1;
}

long control(BIO*, int what, long, void*) noexcept { return what == BIO_CTRL_FLUSH ? 1 : 0; }

int create(BIO* bio) noexcept {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* make_method() {
  BIO_METHOD* method =
      needed(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "rouse queues"));
  needed(BIO_meth_set_read_ex(method, read_queue));
  needed(BIO_meth_set_write_ex(method, write_queue));
  needed(BIO_meth_set_ctrl(method, control));
  needed(BIO_meth_set_create(method, create));
  return method;
}

}  // namespace

BioPtr make_queue_bio(TlsState& state) {
  // Never freed: connections may outlive the end of main.
  static const BIO_METHOD* const method = make_method();
  BioPtr bio(needed(BIO_new(method)));
  BIO_set_data(bio.get(), &state);
  return bio;
}

}  // namespace rouse::internal
