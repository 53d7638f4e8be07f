// rouse::http against curl, wrk, and nginx as a proxy before it.
#include "rouse/http.hpp"

#include <string>
#include <utility>
#include <vector>

#include "counterparts/support.hpp"
#include "support/certificates.hpp"

namespace rouse::test {
namespace {

class Http : public Counterpart {
 protected:
  ~Http() override { stop_.cancel(); }

  static Async<http::Response> hello(http::Request& request) {
    co_return http::Response::text("hello, " + request.path_parameter("name"));
  }
  static Async<http::Response> echo(http::Request& request) {
    co_return http::Response(http::Status::ok, "text/plain", std::move(request.body()));
  }
  static Async<http::Response> size(http::Request& request) {
    const std::string text = co_await request.body().text(http::no_limit - 1);
    co_return http::Response::text(std::to_string(text.size()));
  }

  /// On a port of 127.0.0.1, until the test ends.
  std::uint16_t serve(const tls::ServerConfig* secure = nullptr) {
    http::Router routes;
    routes.get("/hello/{name}", hello);
    routes.post("/echo", echo);
    routes.post("/size", size);
    routes.get("/files/{rest...}", http::static_files(files_.path()));
    http::ServerOptions options;
    options.stop = stop_;
    auto server = run(http::Server::bind("127.0.0.1:0", options));
    if (secure) server.tls(*secure);
    const std::uint16_t port = server.local_addr().port();
    rt.spawn(keep_serving, std::move(server), std::move(routes)).detach();
    return port;
  }
  Ended curl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {curl_, "--silent", "--show-error", "--max-time", "30"});
    return run_program(arguments);
  }
  bool has_curl() {
    curl_ = program("curl");
    return !IsSkipped();
  }

  TempDirectory files_;
  std::string curl_;
  sync::CancellationToken stop_;

 private:
  static Async<> keep_serving(http::Server server, http::Router routes) {
    co_await server.serve(std::move(routes));
  }
};

std::string at(std::uint16_t port, const std::string& target) {
  return "http://" + text_of(port) + target;
}

TEST_F(Http, CurlGetsAnswersOnOneConnection) {
  if (!has_curl()) return;
  const std::uint16_t port = serve();
  const Ended two = curl({at(port, "/hello/one"), at(port, "/hello/two%20words"), "--write-out",
                          "[%{http_code} %{num_connects}]"});
  EXPECT_EQ(two.status, 0);
  EXPECT_EQ(two.output, "hello, one[200 1]hello, two words[200 0]");
  const Ended head = curl({"--head", at(port, "/hello/you")});
  EXPECT_NE(head.output.find("Content-Length: 10\r\n"), std::string::npos) << head.output;
  const Ended none = curl({at(port, "/none"), "--write-out", "%{http_code}"});
  EXPECT_TRUE(none.output.ends_with("404")) << none.output;
}

TEST_F(Http, CurlSendsBodiesOfAllKinds) {
  if (!has_curl()) return;
  const std::uint16_t port = serve();
  const std::string text = noise(3'000'000);
  files_.write("big", text);
  const std::string big = "@" + files_.file("big");
  // With a length, for which curl wants a 100-continue; and in chunks.
  EXPECT_EQ(curl({"--data-binary", big, at(port, "/size")}).output, "3000000");
  EXPECT_EQ(curl({"--data-binary", big, "-H", "Expect: 100-continue", at(port, "/size")}).output,
            "3000000");
  EXPECT_EQ(
      curl({"--data-binary", big, "-H", "Transfer-Encoding: chunked", at(port, "/size")}).output,
      "3000000");
  const Ended echoed = curl({"--data-binary", big, "-H", "Transfer-Encoding: chunked", "--output",
                             files_.file("echoed"), at(port, "/echo")});
  EXPECT_EQ(echoed.status, 0);
  EXPECT_EQ(files_.read("echoed"), text);
  EXPECT_EQ(curl({"--http1.0", "--data", "abc", at(port, "/echo")}).output, "abc");
}

TEST_F(Http, CurlGoesOnWithAFileThatItHasAPartOf) {
  if (!has_curl()) return;
  const std::uint16_t port = serve();
  const std::string text = noise(500'000);
  files_.write("whole", text);
  files_.write("part", text.substr(0, 123'456));
  const Ended rest =
      curl({"--continue-at", "-", "--output", files_.file("part"), at(port, "/files/whole")});
  EXPECT_EQ(rest.status, 0);
  EXPECT_EQ(files_.read("part"), text);
}

TEST_F(Http, CurlSpeaksTls) {
  if (!has_curl()) return;
  const Authority authority("Test CA");
  const Issued server = authority.issue(For("localhost"));
  files_.write("ca.pem", authority.pem());
  const auto config = tls::ServerConfig::pem_text(server.certificate, server.key);
  const std::uint16_t port = serve(&config);
  const Ended said = curl({"--cacert", files_.file("ca.pem"),
                           "https://localhost:" + std::to_string(port) + "/hello/you"});
  EXPECT_EQ(said.output, "hello, you");
}

TEST_F(Http, WrkSeesNoErrors) {
  const std::string wrk = program("wrk");
  if (IsSkipped()) return;
  const std::uint16_t port = serve();
  const Ended load = run_program({wrk, "-t1", "-c32", "-d1s", at(port, "/hello/you")});
  EXPECT_EQ(load.status, 0);
  EXPECT_NE(load.output.find("requests in"), std::string::npos);
  EXPECT_EQ(load.output.find("Non-2xx"), std::string::npos) << load.output;
  EXPECT_EQ(load.output.find("Socket errors"), std::string::npos) << load.output;
}

TEST_F(Http, NginxPassesRequestsOn) {
  if (!has_curl()) return;
  const std::string nginx = program("nginx");
  if (IsSkipped()) return;
  const std::uint16_t behind = serve();
  const std::uint16_t port = free_port();
  std::string text =
      "daemon off; master_process off; pid nginx.pid; timer_resolution 100ms;\n"
      "events { worker_connections 256; }\nhttp { access_log off;\n";
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += std::string(kind) + "_temp_path " + kind + ";\n";
  }
  text += "upstream us { server " + text_of(behind) + "; keepalive 4; }\n";
  text += "server { listen " + text_of(port) + "; client_max_body_size 10m; location / {" +
          " proxy_pass http://us; proxy_http_version 1.1; proxy_set_header Connection '';" +
          " proxy_set_header Host $host; proxy_request_buffering off; } } }\n";
  files_.write("nginx.conf", text);
  Program server({nginx, "-p", files_.path(), "-e", files_.file("error.log"), "-c",
                  files_.file("nginx.conf")});
  server.wait_for_port(port);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(curl({at(port, "/hello/you")}).output, "hello, you");
  files_.write("big", noise(1'000'000));
  EXPECT_EQ(curl({"--data-binary", "@" + files_.file("big"), "-H", "Transfer-Encoding: chunked",
                  at(port, "/size")})
                .output,
            "1000000");
  server.send_signal(SIGQUIT);
  EXPECT_EQ(server.wait().status, 0) << files_.read("error.log");
}

}  // namespace
}  // namespace rouse::test
