// rouse::http as a server of other people's clients: curl, wrk, Go's net/http, Python's
// http.client.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rouse/future/pending_forever.hpp"
#include "rouse/http.hpp"

#include "counterparts/http.hpp"
#include "support/certificates.hpp"

namespace rouse::test {
namespace {

Async<http::Response> hello(http::Request& request) {
  co_return http::Response::text("hello, " + request.path() + "\n");
}
/// Sends back what comes as it comes.
Async<http::Response> echo(http::Request& request) {
  co_return http::Response(http::Status::ok, "application/octet-stream", std::move(request.body()));
}
Async<http::Response> refuse(http::Request&) {
  co_return http::Response::text("too large\n").status(http::Status::content_too_large);
}
Async<http::Response> ignore(http::Request&) { co_return http::Response::text("so what\n"); }
Async<http::Response> moved(http::Request&) { co_return http::Response::redirect("/hello"); }
Async<http::Response> never(http::Request&) {
  co_await pending_forever<void>();
  co_return http::Response();
}

std::string beside_this(const char* file) {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(file).string();
}

class HttpClients : public HttpCounterpart {
 protected:
  std::uint16_t serve_all(const std::optional<tls::ServerConfig>& tls = std::nullopt) {
    http::Router routes;
    routes.get("/hello", hello);
    routes.post("/echo", echo);
    routes.put("/echo", echo);
    routes.post("/refuse", refuse);
    routes.put("/refuse", refuse);
    routes.post("/ignore", ignore);
    routes.get("/moved", moved);
    routes.get("/never", never);
    routes.get("/files/{rest...}", http::static_files(files_.path()));
    return serve(std::move(routes), http::ServerOptions(), tls);
  }
  /// With a certificate for localhost by an authority whose own is in "ca.pem".
  std::uint16_t serve_all_over_tls() {
    const Authority authority("Test CA");
    const Issued issued = authority.issue(For("localhost").address("127.0.0.1"));
    files_.write("ca.pem", authority.pem());
    return serve_all(tls::ServerConfig::pem_text(issued.certificate, issued.key));
  }
  Ended curl(std::vector<std::string> more) {
    std::vector<std::string> command{curl_,        "--silent", "--show-error", "--noproxy", "*",
                                     "--max-time", "50"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  }
  void expect_no_errors(const Ended& wrk) {
    EXPECT_EQ(wrk.status, 0);
    EXPECT_NE(wrk.output.find(" requests in "), std::string::npos) << wrk.output;
    EXPECT_EQ(wrk.output.find("Socket errors"), std::string::npos) << wrk.output;
    EXPECT_EQ(wrk.output.find("Non-2xx"), std::string::npos) << wrk.output;
  }

  std::string curl_;
  TempDirectory files_;
};

TEST_F(HttpClients, CurlGetsPartsOfAFileAndGoesOnWhereItStopped) {
  curl_ = program("curl");
  if (IsSkipped()) return;
  const std::string content = noise(3 << 20);
  files_.write("large", content);
  const std::string at = url(serve_all(), "/files/large");
  EXPECT_TRUE(curl({at}).output == content);
  EXPECT_TRUE(curl({"--range", "100-199", at}).output == content.substr(100, 100));
  EXPECT_TRUE(curl({"--range", "1000000-", at}).output == content.substr(1'000'000));
  EXPECT_TRUE(curl({"--range", "-5", at}).output == content.substr(content.size() - 5));
  // Several parts, and none there is.
  EXPECT_TRUE(curl({"--range", "0-9,20-29", at}).output == content);
  EXPECT_EQ(
      curl({"--range", "9999999-", "--output", "/dev/null", "--write-out", "%{http_code}", at})
          .output,
      "416");
  files_.write("begun", content.substr(0, 12345));
  EXPECT_EQ(curl({"--continue-at", "-", "--output", files_.file("begun"), at}).status, 0);
  EXPECT_TRUE(files_.read("begun") == content);
  const Ended head = curl({"--head", at, "--write-out", "%{num_connects}\n", at});
  EXPECT_NE(head.output.find("\r\nContent-Length: 3145728\r\n"), std::string::npos) << head.output;
  EXPECT_TRUE(head.output.ends_with("\r\n\r\n0\n")) << head.output;
}

TEST_F(HttpClients, CurlAsksOnlyForWhatHasChanged) {
  curl_ = program("curl");
  if (IsSkipped()) return;
  files_.write("text", "a text\n");
  const std::string at = url(serve_all(), "/files/text");
  const std::string etag = files_.file("etag");
  const std::vector<std::string> known{"--etag-compare", etag, "--write-out", "%{http_code}", at};
  EXPECT_EQ(curl({"--etag-save", etag, at}).output, "a text\n");
  EXPECT_EQ(curl(known).output, "304");
  files_.write("text", "another text\n");
  EXPECT_EQ(curl(known).output, "another text\n200");
  EXPECT_EQ(curl({"--time-cond", files_.file("text"), "--write-out", "%{http_code}", at}).output,
            "304");
  EXPECT_EQ(curl({"--time-cond", "1 Jan 2000", at}).output, "another text\n");
}

TEST_F(HttpClients, CurlSendsAndGetsBackTheSame) {
  curl_ = program("curl");
  if (IsSkipped()) return;
  const std::string content = noise(5 << 20);
  files_.write("large", content);
  const std::string large = files_.file("large");
  const std::uint16_t port = serve_all();
  const std::string at = url(port, "/echo");
  EXPECT_TRUE(curl({"--upload-file", large, at}).output == content);
  EXPECT_TRUE(curl({"--upload-file", large, "--header", "Transfer-Encoding: chunked", at}).output ==
              content);
  EXPECT_TRUE(curl({"--upload-file", large, "--header", "Expect: 100-continue",
                    "--expect100-timeout", "40", at})
                  .output == content);
  EXPECT_TRUE(curl({"--upload-file", large, "--header", "Expect:", at}).output == content);
  EXPECT_TRUE(curl({"--data-binary", "@" + large, at}).output == content);
  EXPECT_TRUE(curl({"--http1.0", "--data-binary", "@" + large, at}).output == content);
  // It offers HTTP/2, and is answered in 1.1.
  EXPECT_TRUE(curl({"--http2", "--data-binary", "@" + large, at}).output == content);
  EXPECT_EQ(curl({"--http2", "--write-out", "%{http_version}", url(port, "/hello")}).output,
            "hello, /hello\n1.1");
}

TEST_F(HttpClients, CurlHearsWhyBeforeItHasSentAll) {
  curl_ = program("curl");
  if (IsSkipped()) return;
  files_.write("large", noise(5 << 20));
  const std::string at = url(serve_all(), "/refuse");
  for (const char* expect : {"Expect: 100-continue", "Expect:"}) {
    const Ended ended =
        curl({"--upload-file", files_.file("large"), "--header", expect, "--expect100-timeout",
              "40", "--write-out", "%{http_code} %{size_upload}", at});
    EXPECT_TRUE(ended.output.starts_with("too large\n413 ")) << ended.output;
    if (std::string_view(expect) == "Expect:") continue;
    EXPECT_TRUE(ended.output.ends_with(" 0")) << ended.output;
  }
}

TEST_F(HttpClients, CurlUsesOneConnectionAndManyAtOnce) {
  curl_ = program("curl");
  if (IsSkipped()) return;
  files_.write("text", "a text\n");
  const std::uint16_t port = serve_all();
  const std::string at = url(port, "/files/text?[1-50]");
  const Ended one = curl({"--write-out", "%{num_connects}", at});
  EXPECT_EQ(one.status, 0);
  std::string wanted;
  for (int i = 0; i < 50; ++i) wanted += i == 0 ? "a text\n1" : "a text\n0";
  EXPECT_EQ(one.output, wanted);
  const Ended many =
      curl({"--parallel", "--parallel-immediate", "--parallel-max", "50", "--compressed", at});
  EXPECT_EQ(many.status, 0);
  EXPECT_EQ(many.output.size(), 50 * 7U);
  EXPECT_EQ(curl({"--path-as-is", "--write-out", "%{http_code}", "--output", "/dev/null",
                  url(port, "/files/../../etc/passwd")})
                .output,
            "400");
  EXPECT_EQ(curl({"--location", url(port, "/moved")}).output, "hello, /hello\n");
}

TEST_F(HttpClients, CurlSpeaksTls) {
  curl_ = program("curl");
  if (IsSkipped()) return;
  files_.write("large", noise(3 << 20));
  const std::string at = "https://" + text_of(serve_all_over_tls());
  const std::string ca = files_.file("ca.pem");
  EXPECT_EQ(curl({"--cacert", ca, "--write-out", "%{http_version}", at + "/hello"}).output,
            "hello, /hello\n1.1");
  EXPECT_TRUE(curl({"--cacert", ca, "--upload-file", files_.file("large"), at + "/echo"}).output ==
              files_.read("large"));
  EXPECT_TRUE(curl({"--cacert", ca, at + "/files/large"}).output == files_.read("large"));
}

TEST_F(HttpClients, WrkSeesNoErrors) {
  const std::string wrk = program("wrk");
  if (IsSkipped()) return;
  const std::uint16_t port = serve_all();
  expect_no_errors(
      run_program({wrk, "-t1", "-c64", "-d1s", "--timeout", "30s", url(port, "/hello")}));
  files_.write("pipelined.lua",
               "init = function(arguments)\n"
               "  local all = {}\n"
               "  for i = 1, 16 do all[i] = wrk.format('GET', '/hello') end\n"
               "  requests = table.concat(all)\n"
               "end\n"
               "request = function() return requests end\n");
  expect_no_errors(run_program({wrk, "-t1", "-c32", "-d1s", "--timeout", "30s", "-s",
                                files_.file("pipelined.lua"), url(port, "/")}));
  const std::uint16_t secure = serve_all_over_tls();
  expect_no_errors(run_program(
      {wrk, "-t1", "-c16", "-d1s", "--timeout", "30s", "https://" + text_of(secure) + "/hello"}));
}

TEST_F(HttpClients, PythonsClientKeepsItsConnectionAndPipelines) {
  const std::string python = program("python3");
  if (IsSkipped()) return;
  files_.write("large", noise(1 << 20));
  const std::uint16_t port = serve_all();
  const std::uint16_t secure = serve_all_over_tls();
  const Ended ended = run_program({python, beside_this("http_client.py"), std::to_string(port),
                                   std::to_string(secure), files_.file("ca.pem")});
  EXPECT_EQ(ended.output, "ok\n");
}

TEST_F(HttpClients, GosClientDoesAllItCan) {
  const std::string go = program("go");
  if (IsSkipped()) return;
  const Ended built = run_shell("cd " + files_.path() + " && GO111MODULE=off CGO_ENABLED=0 " + go +
                                " build -o client " + beside_this("http_client.go") + " 2>&1");
  if (built.status != 0) GTEST_SKIP() << "go builds nothing here: " << built.output;
  files_.write("large", noise(1 << 20));
  const std::uint16_t port = serve_all();
  const std::uint16_t secure = serve_all_over_tls();
  const Ended ended = run_program({files_.file("client"), "http://" + text_of(port),
                                   "https://" + text_of(secure), files_.file("ca.pem")});
  EXPECT_EQ(ended.output, "ok\n");
}

}  // namespace
}  // namespace rouse::test
