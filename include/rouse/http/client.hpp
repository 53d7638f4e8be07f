// http::Client: sends requests, over HTTP/1.1.
//
//   http::Client client = http::Client::builder().connect_timeout(1s).build();
//   auto reply = co_await client.get("https://example.org/data").header("Accept",
//   "text/csv").send(); reply.check(); std::string text = co_await reply.text();
//
// A client is a cheap handle to a pool of connections for each host: make one and copy it.
//
// Connections are used again, when the last answer was read to its end; idle ones for 15 s at most,
// or a second less than the server said. One on which bytes or the end came meanwhile is not. If
// the server closes it all the same while a request is on its way, the request is sent once more,
// if no byte of an answer came and it may be repeated: it is idempotent and its body in memory, or
// nothing of it was written, nor read from a body that is a stream.
//
// Up to 10 redirects are followed, none from https to http. Authorization and Cookie stay with the
// origin that they were for. The environment is not asked for a proxy. Bodies are decoded (gzip,
// deflate, and what else the library was built with).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "rouse/base/function.hpp"
#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/base/internal/durations.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/body.hpp"
#include "rouse/http/client_error.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/method.hpp"
#include "rouse/http/reply.hpp"
#include "rouse/http/status.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/socket_addr.hpp"
#include "rouse/time/instant.hpp"
#include "rouse/tls/client_config.hpp"

namespace rouse::http {

class ClientSettings;
class ClientState;
class ClientBuilder;

/// What a client's connections do, and its requests so far.
class ClientMetrics {
 public:
  ClientMetrics() noexcept = default;
  std::size_t open = 0;         ///< connections
  std::size_t idle = 0;         ///< of these, not in use
  std::size_t waiting = 0;      ///< requests that wait for one
  std::uint64_t opened = 0;     ///< connections so far, to the hosts in use
  std::uint64_t requests = 0;   ///< sent, redirects and repetitions too
  std::uint64_t repeats = 0;    ///< requests sent again, because the server had closed
  std::uint64_t redirects = 0;  ///< redirects followed
};

/// What became of a request, for ClientBuilder::on_request. Each redirect is a request of its own.
class RequestOutcome {
 public:
  RequestOutcome(Method its_method, std::string_view its_url) noexcept
      : method(its_method), url(its_url) {}
  Method method;
  std::string_view url;          ///< without credentials; valid during the call
  std::optional<Status> status;  ///< if its answer has begun
  std::error_code error;         ///< otherwise; errc::operation_canceled: dropped, or too late
  std::chrono::nanoseconds took{0};
};

/// A request that is put together. Every call gives the request back.
class ROUSE_API ClientRequest {
 public:
  ClientRequest(RefPtr<ClientState> client, Method method, std::string_view url);
  ClientRequest(ClientRequest&& other) noexcept;
  ClientRequest& operator=(ClientRequest&& other) noexcept;
  ~ClientRequest();

  /// Sets a header field. Content-Length, Transfer-Encoding and Connection are the client's to
  /// write. Throws as Headers::set.
  ClientRequest& header(std::string_view name, std::string_view value) &;
  ClientRequest&& header(std::string_view name, std::string_view value) &&;
  /// Authorization: Basic.
  ClientRequest& basic_auth(std::string_view user, std::string_view password) &;
  ClientRequest&& basic_auth(std::string_view user, std::string_view password) &&;
  /// Authorization: Bearer.
  ClientRequest& bearer_auth(std::string_view token) &;
  ClientRequest&& bearer_auth(std::string_view token) &&;
  /// Text, or Body::stream(reader). Only one that is in memory can be sent again.
  ClientRequest& body(Body body) &;
  ClientRequest&& body(Body body) &&;
  /// How long all of it may last, until the last byte of the answer was read. Instead of
  /// ClientBuilder::timeout.
  ClientRequest& timeout(std::chrono::nanoseconds limit) &;
  ClientRequest&& timeout(std::chrono::nanoseconds limit) &&;
  /// For ever, or until the Deadline.
  ClientRequest&& no_timeout() && {
    return std::move(*this).timeout(std::chrono::nanoseconds::max());
  }

  /// Completes when the head of the answer is there. Once only.
  /// Cancel safety: not safe: it may have been done; its connection is closed.
  /// Threads: any of a runtime.
  /// Errors: ClientError, http::Error, those of lookup_host, TcpStream::connect and tls::Connector;
  /// io::Error::unexpected_eof if the server ends instead of answering; TimedOut, with
  /// std::errc::timed_out or DeadlineError::passed. A status is no error: see Reply::check.
  [[nodiscard]] AsyncResult<Reply> send(
      std::source_location where = std::source_location::current());

 private:
  class Parts;
  internal::Box<Parts> parts_;
};

/// A cheap handle. The last one that goes closes the connections that are idle.
/// Threads: any.
class ROUSE_API Client {
 public:
  /// With the defaults of ClientBuilder.
  Client();
  explicit Client(RefPtr<ClientState> state) noexcept;
  Client(const Client& other) noexcept;
  Client(Client&& other) noexcept;
  Client& operator=(Client other) noexcept;
  ~Client();

  /// For other settings than the usual ones.
  [[nodiscard]] static ClientBuilder builder();

  /// A URL of http or https, encoded; "user:password@" in it becomes Basic credentials. A bad one
  /// is ClientError::bad_url when it is sent.
  [[nodiscard]] ClientRequest request(Method method, std::string_view url) const;
  /// GET.
  [[nodiscard]] ClientRequest get(std::string_view url) const { return request(Method::get, url); }
  /// HEAD.
  [[nodiscard]] ClientRequest head(std::string_view url) const {
    return request(Method::head, url);
  }
  /// POST.
  [[nodiscard]] ClientRequest post(std::string_view url) const {
    return request(Method::post, url);
  }
  /// PUT.
  [[nodiscard]] ClientRequest put(std::string_view url) const { return request(Method::put, url); }
  /// PATCH.
  [[nodiscard]] ClientRequest patch(std::string_view url) const {
    return request(Method::patch, url);
  }
  /// DELETE.
  [[nodiscard]] ClientRequest delete_(std::string_view url) const {
    return request(Method::delete_, url);
  }

  [[nodiscard]] ClientMetrics metrics() const;

 private:
  RefPtr<ClientState> state_;
};

/// The settings of a Client.
class ROUSE_API ClientBuilder {
 public:
  ClientBuilder();
  ClientBuilder(const ClientBuilder& other);
  ClientBuilder(ClientBuilder&& other) noexcept;
  ClientBuilder& operator=(ClientBuilder other) noexcept;
  ~ClientBuilder();

  /// How long looking up, connecting and the TLS handshake may take. Default: 5 s.
  ClientBuilder& connect_timeout(std::chrono::nanoseconds limit) noexcept;
  /// How long a request may last, until the last byte of the answer was read. Default: 30 s.
  ClientBuilder& timeout(std::chrono::nanoseconds limit) noexcept;
  /// For ever, or until the Deadline.
  ClientBuilder& no_timeout() noexcept { return timeout(std::chrono::nanoseconds::max()); }
  /// How long a connection may stay idle at most. Default: 15 s.
  ClientBuilder& idle_timeout(std::chrono::nanoseconds limit) noexcept;
  /// How many connections there are to one host; more requests wait in line. Default: 64.
  ClientBuilder& connections_per_host(std::size_t connections) noexcept;
  /// How long a body may be that Reply::text and bytes give, decoded. Default: 16 MiB.
  ClientBuilder& body_limit(std::size_t bytes) noexcept;
  /// How many redirects are followed. 0: none, they are answers like others. Default: 10.
  ClientBuilder& max_redirects(unsigned count) noexcept;
  /// A field of all requests that do not set it themselves. Throws as Headers::set. Default:
  /// User-Agent.
  ClientBuilder& header(std::string_view name, std::string_view value);
  /// Bodies are given as they come, and no encoding is asked for.
  ClientBuilder& no_decoding() noexcept;
  /// Told of each request when its answer begins, or when it fails. On any thread; must not block
  /// or throw.
  ClientBuilder& on_request(Function<void(const RequestOutcome&)> hook) noexcept;
  /// Asked for each address before it is connected to; false: not to this one. With
  /// IpAddr::is_global, URLs that users give, and redirects, lead to no host of a private network.
  /// An IPv4-mapped address comes as the IPv4 address that it means. With a proxy, its address is
  /// asked for; not with a `connector`. On any thread; must not block or throw.
  ClientBuilder& allow_address(Function<bool(const net::SocketAddr&)> is_allowed) noexcept;
  /// Sends all requests through a proxy: "http://user:password@host:3128". Throws
  /// std::system_error with ClientError::bad_url.
  ClientBuilder& proxy(std::string_view url);
  /// How hosts are connected to, instead of lookup_host and TCP. Called on any thread.
  ClientBuilder& connector(
      Function<AsyncResult<io::AnyConnection>(net::Endpoint)> connect) noexcept;
  /// For https: other authorities, a certificate of one's own. It is shown to every server that
  /// asks for one, and so is it to a proxy whose URL is of https.
  ClientBuilder& tls(const tls::ClientConfig& config);

  /// A client with these settings, and connections of its own.
  [[nodiscard]] Client build() const;

 private:
  internal::Box<ClientSettings> settings_;
};

}  // namespace rouse::http
