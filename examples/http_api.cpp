// http_api: notes behind an API of JSON, files of a folder, and an endless stream of events.
//
//   http_api 127.0.0.1:8080 public/
//   curl -d 'buy milk' localhost:8080/notes       curl localhost:8080/notes/1
//   curl -N localhost:8080/ticks                  curl localhost:8080/files/
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <rouse/http.hpp>
#include <rouse/rouse.hpp>

namespace {

// NOLINTBEGIN(*-avoid-reference-coroutine-parameters): a request outlives its handler

namespace http = rouse::http;
using http::Request;
using http::Response;
using http::Status;

// [notes]
/// What all requests share, on all threads.
struct Notes {
  rouse::sync::Mutex<std::map<int, std::string>> by_number;
};
using Shared = std::shared_ptr<Notes>;

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

rouse::Async<Response> add(Shared notes, Request& request) {
  std::string text = co_await request.body().text(1000);  // more is a 413
  auto all = co_await notes->by_number.lock();
  const int number = all->empty() ? 1 : all->rbegin()->first + 1;
  all->emplace(number, std::move(text));
  const std::string where = "/notes/" + std::to_string(number);
  co_return Response(Status::created).header("Location", where);
}

rouse::Async<Response> show(Shared notes, Request& request) {
  auto all = co_await notes->by_number.lock();
  for (const auto& [number, text] : *all) {
    if (std::to_string(number) == request.path_parameter("number")) {
      co_return Response::json("{\"text\":" + quoted(text) + "}\n");
    }
  }
  co_return Response::json("{\"error\":\"there is no such note\"}\n").status(Status::not_found);
}
// [/notes]

// [ticks]
/// A line each second, for as long as somebody listens.
rouse::AsyncStream<std::string> ticks() {
  for (int i = 1;; ++i) {
    co_yield "data: " + std::to_string(i) + "\n\n";
    co_await rouse::sleep(std::chrono::seconds(1));
  }
}

rouse::Async<Response> events(Request&) {
  co_return Response(Status::ok, "text/event-stream", http::Body::chunks(ticks()));
}
// [/ticks]

// [main]
void report(const std::exception_ptr& thrown, const Request& request) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    std::cerr << request.target() << ": " << error.what() << '\n';
  }
}

rouse::Async<void> serve(std::string at, std::string folder) {
  const auto notes = std::make_shared<Notes>();
  http::Router routes;
  routes.post("/notes", [notes](Request& request) { return add(notes, request); });
  routes.get("/notes/{number}", [notes](Request& request) { return show(notes, request); });
  routes.get("/ticks", events);
  routes.get("/files/{rest...}", http::static_files(folder));

  auto stop = rouse::signal::ctrl_c();
  auto server = co_await http::Server::bind(at);
  server.options().on_error = report;
  server.options().drain_time = std::chrono::seconds(5);
  std::cout << "listening on " << server.local_addr() << '\n' << std::flush;
  const rouse::net::Served served = co_await server.serve(std::move(routes), std::move(stop));
  std::cout << served.accepted << " connections\n";
}
// [/main]

// NOLINTEND(*-avoid-reference-coroutine-parameters)

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: http_api LISTEN FOLDER, for example 127.0.0.1:8080 public\n", stderr);
    return 2;
  }
  return rouse::run(serve, argv[1], argv[2]);
}
