// Both ends of a TLS connection, between which every byte may be held back, changed, left out or
// made up: what is heard was said, in order, and nothing is read after an error. Where nobody
// meddles, both ends stay connected.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rouse/io/duplex.hpp"
#include "rouse/testing/counting_waker.hpp"
#include "rouse/tls.hpp"

#include "input.hpp"
#include "support/certificates.hpp"

namespace rouse::fuzz {
namespace {

using Pipe = io::DuplexStream;
using Tls = tls::Stream<Pipe>;

/// One end of the connection, and the pipe to the one who meddles.
class End {
 public:
  End(AsyncResult<Tls> handshake, Pipe wire)
      : handshake_(std::in_place, std::move(handshake)), wire_(std::move(wire)) {}

  void go_on() {
    Context cx(waker_.waker());
    if (handshake_) {
      auto polled = handshake_->poll_result(cx);
      if (polled.is_pending()) return;
      handshake_.reset();
      if (polled.value()) stream_.emplace(*std::move(polled).value());
    }
    if (!stream_) return;
    std::array<std::byte, 300> buf{};
    const auto read = stream_->poll_read(cx, buf);
    if (read.is_pending()) return;
    require(!failed_ || !read.value(), "nothing is read after an error");
    failed_ = !read.value();
    if (!failed_) heard_.append(reinterpret_cast<const char*>(buf.data()), *read.value());
  }
  void say(std::string text) {
    if (!stream_) return;
    Context cx(waker_.waker());
    auto writing = stream_->write(text);
    const auto written = writing.poll_result(cx);
    if (written.is_ready() && written.value()) said_ += text.substr(0, *written.value());
  }
  void flush() {
    Context cx(waker_.waker());
    if (stream_) (void)stream_->poll_flush(cx);
  }
  /// What this end sends, as it is on the wire.
  std::string sent() {
    std::array<std::byte, 20000> buf{};
    Context cx(Waker::noop());
    const auto read = wire_.poll_read(cx, buf);
    if (read.is_pending() || !read.value()) return {};
    return {reinterpret_cast<const char*>(buf.data()), *read.value()};
  }
  /// Gives it bytes. What does not fit is lost, which is no less than what the input may do.
  void give(std::string_view bytes) {
    if (bytes.empty()) return;
    Context cx(Waker::noop());
    (void)wire_.poll_write(cx, std::as_bytes(std::span(bytes)));
  }

  [[nodiscard]] const std::string& said() const noexcept { return said_; }
  [[nodiscard]] const std::string& heard() const noexcept { return heard_; }
  [[nodiscard]] bool is_connected() const noexcept { return stream_.has_value() && !failed_; }

 private:
  testing::CountingWaker waker_;  // destroyed last
  std::optional<AsyncResult<Tls>> handshake_;
  std::optional<Tls> stream_;
  Pipe wire_;
  std::string said_;
  std::string heard_;
  bool failed_ = false;
};

struct Configured {
  tls::Acceptor acceptor;
  tls::Connector connector;
};
const Configured& configured(bool old) {
  static const auto make = [](tls::Version newest) {
    const test::Issued shown = test::self_signed(test::For("localhost"));
    return Configured{
        tls::Acceptor(tls::ServerConfig::pem_text(shown.certificate, shown.key)
                          .max_version(newest)
                          .no_handshake_timeout()),
        tls::Connector(
            tls::ClientConfig().dangerously_accept_any_certificate().no_handshake_timeout())};
  };
  static const Configured tls_1_2 = make(tls::Version::tls_1_2);
  static const Configured tls_1_3 = make(tls::Version::tls_1_3);
  return old ? tls_1_2 : tls_1_3;
}

/// Passes bytes on, as the input wants. False: they are not what was sent.
bool pass_on(Input& input, End& from, End& to) {
  std::string bytes = from.sent();
  const std::size_t how = input.below(16);
  bool is_true = true;
  if (how == 1 && !bytes.empty()) {
    const std::size_t at = input.number(2) % bytes.size();
    const auto change = static_cast<char>(input.byte() | 1);
    bytes[at] = static_cast<char>(bytes[at] ^ change);
    is_true = false;
  }
  if (how == 2 && !bytes.empty()) {
    bytes.resize(input.number(2) % bytes.size());
    is_true = false;
  }
  if (how == 3) {
    bytes = input.text(1 + input.byte()) + bytes;
    is_true = false;
  }
  if (how >= 12) {  // in pieces
    const std::size_t cut = bytes.empty() ? 0 : input.number(2) % bytes.size();
    to.give(std::string_view(bytes).substr(0, cut));
    to.go_on();
    bytes.erase(0, cut);
  }
  to.give(bytes);
  return is_true;
}

void run(Input input) {
  const Configured& config = configured(input.flag());
  constexpr std::size_t capacity = 1 << 17;
  auto [client_near, client_wire] = io::duplex(capacity);
  auto [server_near, server_wire] = io::duplex(capacity);
  End client(config.connector.connect(std::move(client_near), "localhost"), std::move(client_wire));
  End server(config.acceptor.accept(std::move(server_near)), std::move(server_wire));
  bool is_true = true;
  for (int i = 0; i < 12 || (!input.empty() && i < 100); ++i) {
    client.go_on();
    is_true = pass_on(input, client, server) && is_true;
    server.go_on();
    is_true = pass_on(input, server, client) && is_true;
    if (input.below(4) == 1) client.say(std::string(1 + input.number(2) % 5000, 'c'));
    if (input.below(4) == 1) server.say(std::string(1 + input.number(2) % 5000, 's'));
    if (input.flag()) client.flush();
  }
  require(server.said().starts_with(client.heard()), "what is heard was said, and in order");
  require(client.said().starts_with(server.heard()), "what is heard was said, and in order");
  if (is_true) require(client.is_connected() && server.is_connected(), "nobody meddled");
}

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::run(rouse::fuzz::Input(data, size));
  return 0;
}
