// rouse::http as the server of the rows http: what it costs beside the bare one of rouse/serve.cpp,
// which looks for empty lines only.
//
//   http_server serve http WORKERS      prints its port, serves until it is killed
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "rouse/http.hpp"
#include "rouse/runtime/runtime.hpp"

namespace {

rouse::Async<rouse::http::Response> hello(rouse::http::Request&) {
  co_return rouse::http::Response::text("Hello, World!");
}

rouse::Async<void> serve() {
  rouse::http::Router routes;
  routes.get("/", hello);
  auto server = co_await rouse::http::Server::bind("127.0.0.1:0");
  std::printf("%u\n", server.local_addr().port());
  std::fflush(stdout);
  co_await server.serve(std::move(routes));
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned workers = argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 1;
  auto builder = rouse::Runtime::builder();
  if (workers == 0) {
    builder.current_thread();
  } else {
    builder.worker_threads(workers);
  }
  builder.build().block_on(serve());
}
