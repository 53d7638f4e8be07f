#include "rouse/http/server.hpp"

#include <algorithm>
#include <concepts>
#include <optional>
#include <variant>

#include "rouse/base/assert.hpp"
#include "rouse/future/pending_forever.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/http/serve_connection.hpp"
#include "rouse/net/sock_ref.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/tls/acceptor.hpp"

#include "http/service.hpp"
#include "sys/limits.hpp"

namespace rouse::http {
namespace {

using Listener = std::variant<net::TcpListener, net::UnixListener>;

/// Room is left for files, and for connections of our own.
std::size_t most_connections(const ServerOptions& options) noexcept {
  if (options.max_connections != 0) return options.max_connections;
  return std::max<std::size_t>(sys::max_descriptors() / 5 * 4, 1);
}

template <class Stream>
Async<void> serve_one(Stream stream, Origin origin, RefPtr<Service> service,
                      std::optional<tls::Acceptor> acceptor) {
  if constexpr (std::same_as<Stream, net::TcpStream>) {
    origin.tcp_socket = stream.fd();
    (void)stream.set_nodelay(true);  // answers are gathered here already
    // Also for what is left to be sent when it has been closed.
    net::SockRef(stream).set_user_timeout(service->options.progress_time);
  }
  if (!acceptor) {
    co_await serve_stream(std::move(stream), std::move(service), origin);
    co_return;
  }
  auto secure = co_await acceptor->accept(std::move(stream)).result();
  if (!secure) co_return;  // whoever speaks no TLS, or another version of it
  co_await serve_stream(*std::move(secure), std::move(service), origin);
}

/// Lets `serving` run to its end, and cancels `token` when `stop` is ready.
Async<net::Served> run_until(Async<net::Served> serving, AnyFuture<void> stop,
                             sync::CancellationToken token) {
  bool has_stopped = false;
  co_return co_await poll_fn([&](Context& cx) {
    if (!has_stopped && stop.poll(cx).is_ready()) {
      has_stopped = true;
      token.cancel();
    }
    return serving.poll(cx);
  });
}

}  // namespace

struct Server::Core {
  Core(Listener its_listener, ServerOptions its_options)
      : listener(std::move(its_listener)), options(std::move(its_options)) {
    options.stop = options.stop.child();  // others may have the same options
  }

  std::optional<Listener> listener;  // until it serves
  ServerOptions options;
  std::optional<tls::Acceptor> acceptor;
};

Server::Server(internal::Box<Core> core) noexcept : core_(std::move(core)) {}
Server::Server(Server&& other) noexcept = default;
Server& Server::operator=(Server&& other) noexcept = default;
Server::~Server() = default;

AsyncResult<Server> Server::bind(net::Endpoint at, ServerOptions options) {
  const bool is_unix = at.address() ? at.address()->is_unix() : at.text().starts_with("unix:");
  if (is_unix) {
    auto listener = co_await net::UnixListener::bind(std::move(at)).result();
    if (!listener) co_return listener.error();
    co_return Server(internal::make_box<Core>(*std::move(listener), std::move(options)));
  }
  auto listener = co_await net::TcpListener::bind(std::move(at)).result();
  if (!listener) co_return listener.error();
  co_return Server(internal::make_box<Core>(*std::move(listener), std::move(options)));
}

Server& Server::tls(const tls::ServerConfig& config) {
  tls::ServerConfig http(config);
  http.alpn({"http/1.1"});
  if (core_->acceptor) {
    core_->acceptor->reload(http);
  } else {
    core_->acceptor.emplace(http);
  }
  return *this;
}

ServerOptions& Server::options() noexcept { return core_->options; }

net::SocketAddr Server::local_addr() const {
  ROUSE_ASSERT(core_->listener, "Server::local_addr after serve: ask before");
  return std::visit([](const auto& listener) { return listener.local_addr(); }, *core_->listener);
}

Async<net::Served> Server::serve(Router routes) {
  return serve_until(std::move(routes), AnyFuture<void>(pending_forever<void>()));
}

Async<net::Served> Server::serve_until(Router routes, AnyFuture<void> stop) {
  ROUSE_ASSERT(core_->listener, "Server::serve for the second time: bind another one");
  Listener listener = *std::exchange(core_->listener, std::nullopt);
  net::ServeLimits limits;
  limits.max_connections = most_connections(core_->options);
  limits.stop = core_->options.stop;
  limits.drain_timeout = core_->options.drain_time;
  const sync::CancellationToken token = limits.stop;
  const auto service = make_ref<Service>(std::move(routes), core_->options);
  Async<net::Served> serving = std::visit(
      [&](auto& each) {
        using Stream = typename std::remove_reference_t<decltype(each)>::Stream;
        const auto handle = [service, acceptor = core_->acceptor,
                             is_secure = core_->acceptor.has_value()](Stream stream,
                                                                      const net::SocketAddr& peer) {
          Origin origin;
          origin.peer = peer;
          origin.is_secure = is_secure;
          return serve_one<Stream>(std::move(stream), origin, service, acceptor);
        };
        return net::serve(std::move(each), handle, limits);
      },
      listener);
  return run_until(std::move(serving), std::move(stop), token);
}

}  // namespace rouse::http
