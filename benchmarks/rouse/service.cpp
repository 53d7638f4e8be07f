// What ./dev bench --service measures on rouse: an HTTP/1.1 server that answers every request with
// the same text; with a certificate and a key (PEM), over TLS.
//
//   rouse_service WORKERS [CERTIFICATE KEY]     prints its port, serves until it is killed
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "rouse/core/async.hpp"
#include "rouse/http.hpp"
#include "rouse/runtime/runtime.hpp"

namespace {

namespace http = rouse::http;
using rouse::Async;

Async<http::Response> hello(http::Request&) { co_return http::Response::text("Hello, World!"); }

Async<void> serve(std::span<char*> pair) {
  http::Server server = co_await http::Server::bind("127.0.0.1:0");
  if (!pair.empty()) server.tls(rouse::tls::ServerConfig::pem(pair[0], pair[1]));
  std::printf("%u\n", server.local_addr().port());
  std::fflush(stdout);
  http::Router routes;
  routes.get("/", hello);
  co_await server.serve(std::move(routes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fputs("usage: rouse_service WORKERS [CERTIFICATE KEY]\n", stderr);
    return 2;
  }
  const auto workers = static_cast<unsigned>(std::atoi(argv[1]));
  rouse::Runtime rt = rouse::Runtime::builder().worker_threads(workers).build();
  rt.block_on(serve(std::span(argv, static_cast<std::size_t>(argc)).subspan(2)));
}
