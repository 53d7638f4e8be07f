// https_server: HTTPS in fifteen lines.
//
//   https_server 127.0.0.1:8443 cert.pem key.pem
//   curl --cacert cert.pem https://localhost:8443/hello/world
#include <rouse/http.hpp>
#include <rouse/rouse.hpp>

// NOLINTBEGIN(*-avoid-reference-coroutine-parameters): a request outlives its handler
// [server]
namespace http = rouse::http;

rouse::Async<http::Response> hello(http::Request& request) {
  co_return http::Response::text("hello, " + request.path_parameter("name") + "\n");
}

rouse::Async<void> serve(std::string at, std::string certificate, std::string key) {
  http::Router routes;
  routes.get("/hello/{name}", hello);
  auto server = co_await http::Server::bind(at);
  server.tls(rouse::tls::ServerConfig::pem(certificate, key));
  co_await server.serve(std::move(routes), rouse::signal::ctrl_c());
}

int main(int, char** argv) { return rouse::run(serve, argv[1], argv[2], argv[3]); }
// [/server]
// NOLINTEND(*-avoid-reference-coroutine-parameters)
