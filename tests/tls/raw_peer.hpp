// RawPeer: the other end of a connection, played by OpenSSL itself, which does what it is told:
// also what no client or server of rouse would do.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tls/support.hpp"

namespace rouse::test {

class RawPeer {
 public:
  enum class As { client, server };

  RawPeer(As as, Pipe pipe, int version = TLS1_3_VERSION)
      : pipe_(std::move(pipe)), context_(SSL_CTX_new(TLS_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_max_proto_version(context_.get(), version);
    if (as == As::server) use(localhost());
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (as == As::server) {
      SSL_set_accept_state(ssl_.get());
    } else {
      SSL_set_connect_state(ssl_.get());
    }
  }

  SSL* ssl() { return ssl_.get(); }

  /// Goes on with the handshake.
  void step() {
    receive();
    SSL_do_handshake(ssl_.get());
    send();
  }
  /// What it wants to send goes into the pipe.
  void send() {
    const std::string bytes = outgoing();
    if (!bytes.empty()) block_on(pipe_.write_all(bytes));
  }
  /// What it wants to send, for a test that sends it by itself.
  std::string outgoing() {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
    if (!bytes.empty())
      BIO_read(SSL_get_wbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  /// What the other end sent goes into OpenSSL.
  std::size_t receive() {
    Context cx(Waker::noop());
    std::array<std::byte, 4096> buf{};
    std::size_t count = 0;
    for (;;) {
      const auto read = pipe_.poll_read(cx, buf);
      if (read.is_pending() || !read.value() || *read.value() == 0) return count;
      BIO_write(SSL_get_rbio(ssl_.get()), buf.data(), static_cast<int>(*read.value()));
      count += *read.value();
    }
  }
  Pipe& pipe() { return pipe_; }

 private:
  template <auto free_it>
  struct FreedBy {
    template <class T>
    void operator()(T* it) const {
      free_it(it);
    }
  };

  void use(const Issued& shown) {
    const std::unique_ptr<BIO, FreedBy<BIO_free>> certificate(
        BIO_new_mem_buf(shown.certificate.data(), static_cast<int>(shown.certificate.size())));
    const std::unique_ptr<BIO, FreedBy<BIO_free>> key(
        BIO_new_mem_buf(shown.key.data(), static_cast<int>(shown.key.size())));
    const std::unique_ptr<X509, FreedBy<X509_free>> x509(
        PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
    const std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>> secret(
        PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
    EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), x509.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), secret.get()), 1);
  }

  Pipe pipe_;
  std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, FreedBy<SSL_free>> ssl_;
};

/// Does both halves of a handshake.
inline TlsPipe shake_hands(AsyncResult<TlsPipe> ours, RawPeer& peer) {
  Context cx(Waker::noop());
  for (int i = 0; i < 100; ++i) {
    auto polled = ours.poll_result(cx);
    peer.step();
    if (polled.is_ready()) return std::move(polled).value().value();
  }
  throw std::runtime_error("the handshake does not end");
}

}  // namespace rouse::test
