// http::Server: listens, and answers what comes.
//
//   rouse::Async<void> serve() {
//     http::Router routes;
//     routes.get("/hello/{name}", hello);
//     auto server = co_await http::Server::bind("0.0.0.0:8443");
//     server.tls(tls::ServerConfig::pem("cert.pem", "key.pem"));
//     co_await server.serve(std::move(routes), rouse::signal::ctrl_c());
//   }
//
// A task for each connection. All limits of ServerOptions are on.
#pragma once

#include <type_traits>
#include <utility>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
#include "rouse/core/any_future.hpp"
#include "rouse/core/async.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/core/future.hpp"
#include "rouse/http/router.hpp"
#include "rouse/http/server_options.hpp"
#include "rouse/net/endpoint.hpp"
#include "rouse/net/serve.hpp"
#include "rouse/tls/server_config.hpp"

namespace rouse::http {

class ROUSE_API Server {
 public:
  /// Completes when it listens: at "0.0.0.0:80", "[::]:80", "unix:/run/app.sock". Port 0 lets the
  /// system choose one.
  /// Cancel safety: if dropped midway, nobody listens.
  /// Threads: tasks of a runtime.
  /// Errors: those of net::TcpListener::bind and net::UnixListener::bind.
  static AsyncResult<Server> bind(net::Endpoint at, ServerOptions options = ServerOptions());
  Server(Server&& other) noexcept;
  Server& operator=(Server&& other) noexcept;
  ~Server();

  /// Speaks TLS; its ALPN is http/1.1. During `serve`: connections that come from now on get the
  /// new certificates.
  Server& tls(const tls::ServerConfig& config);
  /// To be changed before `serve`. Its `stop` is this server's own: it is cancelled when the one
  /// that `bind` was given is, and when the `stop` of `serve` completes.
  [[nodiscard]] ServerOptions& options() noexcept;
  /// Throws std::system_error.
  [[nodiscard]] net::SocketAddr local_addr() const;

  /// Answers with these routes, or with one handler for all requests. Completes when `stop` does
  /// (or ServerOptions::stop is cancelled) and the connections have ended: the listener is closed,
  /// then idle connections, and requests that have begun are answered, for
  /// ServerOptions::drain_time at most. Once only. Cancel safety: dropping it drops the handlers
  /// and closes the connections. To drain, let `stop` complete instead. Threads: tasks of a
  /// runtime; the connections are tasks of the same one. Errors: throws std::system_error if the
  /// listener is unusable, after it has drained; and what `stop` throws.
  template <Future F>
  [[nodiscard]] Async<net::Served> serve(Router routes, F stop) {
    if constexpr (std::is_void_v<output_t<F>>) {
      return serve_until(std::move(routes), AnyFuture<void>(std::move(stop)));
    } else {
      return serve_until(std::move(routes), AnyFuture<void>(ended(std::move(stop))));
    }
  }
  /// The same until ServerOptions::stop is cancelled.
  [[nodiscard]] Async<net::Served> serve(Router routes);

 private:
  struct Core;
  explicit Server(internal::Box<Core> core) noexcept;
  Async<net::Served> serve_until(Router routes, AnyFuture<void> stop);
  template <class F>
  static Async<void> ended(F stop) {
    (void)co_await std::move(stop);
  }

  internal::Box<Core> core_;
};

}  // namespace rouse::http
