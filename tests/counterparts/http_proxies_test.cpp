// rouse::http behind nginx, HAProxy and Apache, and bytes that two programs in a row might read
// differently. Whoever is in front marks each request that it passes on; one without a mark, or
// with two, was smuggled. And whoever asks next is to get its own answer.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rouse/http.hpp"

#include "counterparts/http.hpp"
#include "counterparts/http_hostile.hpp"

namespace rouse::test {
namespace {

/// A request that a handler has seen.
struct Seen {
  std::string target;
  std::vector<std::string> marks;
  std::string body;
  bool is_whole = false;
};

class Record {
 public:
  void add(Seen seen) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(std::move(seen));
  }
  std::vector<Seen> all() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::vector<Seen> seen_;
};

/// HAProxy writes names in small letters.
bool is_mark(std::string_view name) { return name == "X-Proxied" || name == "x-proxied"; }
bool is_ignored(const http::Request& request) { return request.path().starts_with("/i"); }

/// Reads and notes what it gets, and says whose answer this is.
class Recorder {
 public:
  explicit Recorder(std::shared_ptr<Record> record) : record_(std::move(record)) {}

  Async<http::Response> operator()(http::Request& request) {
    Seen seen;
    seen.target = request.target();
    for (const auto& [name, value] : request.headers()) {
      if (is_mark(name)) seen.marks.emplace_back(value);
    }
    if (is_ignored(request)) {
      seen.is_whole = true;
    } else {
      const Result<std::string> body = co_await request.body().text().result();
      seen.is_whole = body.has_value();
      if (body) seen.body = *body;
    }
    record_->add(seen);
    if (!seen.is_whole) co_return http::Response(http::Status::bad_request);
    co_return http::Response::text("answer to " + seen.target + "\n");
  }

 private:
  std::shared_ptr<Record> record_;
};

std::string three_digits(std::size_t number) {
  const std::string text = std::to_string(number);
  return std::string(3 - text.size(), '0') + text;
}
/// The targets of a case have its number.
std::string numbered(std::string text, std::size_t number) {
  for (const char* name : {"c000", "i000", "s000"}) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += 4) {
      text.replace(at + 1, 3, three_digits(number));
    }
  }
  return text;
}
std::string printable(const std::string& text) {
  std::string shown;
  for (const char c : text.substr(0, 400)) {
    if (c == '\n') {
      shown += "\\n";
    } else if (c == '\r') {
      shown += "\\r";
    } else {
      shown += c < ' ' || c > '~' ? '?' : c;
    }
  }
  return shown;
}

/// The targets that are answered, in their order.
std::vector<std::string> answered_in(const std::string& said) {
  const std::string mark = "answer to ";
  std::vector<std::string> targets;
  for (std::size_t at = 0; (at = said.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    targets.push_back(said.substr(at, said.find('\n', at) - at));
  }
  return targets;
}

const std::string honest_body = noise(10'000);

class HttpProxies : public HttpCounterpart {
 protected:
  std::uint16_t serve_recorder() {
    http::ServerOptions options;
    options.head_time = 2s;
    options.idle_time = 30s;
    options.progress_time = 2s;
    return serve(Recorder(record_), options);
  }

  /// Each case over a connection of its own, all at once; and beside each an honest request.
  void expect_nothing_is_smuggled_through(std::uint16_t strict, std::uint16_t lenient) {
    const std::vector<Hostile> cases = hostile_requests();
    ASSERT_LT(cases.size(), 1000U);
    std::vector<JoinHandle<std::string>> asked;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (const std::uint16_t port : {strict, lenient}) {
        asked.push_back(rt.spawn(all_said_to, port, numbered(cases[i].bytes, i)));
        asked.push_back(rt.spawn(all_said_to, port, honest(i)));
      }
    }
    for (std::size_t i = 0; i < asked.size(); i += 2) {
      const std::size_t number = i / 4;
      for (const std::string& target : answered_in(run(std::move(asked[i])))) {
        // Apache makes "/" of what is to be connected with.
        EXPECT_TRUE(target == "/" || target.find(three_digits(number)) != std::string::npos)
            << printable(cases[number].name) << " got the answer to " << target;
      }
      const std::string said = run(std::move(asked[i + 1]));
      EXPECT_EQ(answered_in(said), std::vector<std::string>{honest_target(number)}) << said;
    }
    expect_all_are_marked();
  }

  std::shared_ptr<Record> record_ = std::make_shared<Record>();
  TempDirectory files_;

 private:
  static std::string honest_target(std::size_t number) { return "/honest" + three_digits(number); }
  /// Every third has no body, one a length, one comes in chunks.
  static std::string honest(std::size_t number) {
    const std::string head =
        " " + honest_target(number) + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    if (number % 3 == 0) return "GET" + head + "\r\n";
    if (number % 3 == 1) return "POST" + head + "Content-Length: 10000\r\n\r\n" + honest_body;
    std::string text = "POST" + head + "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < honest_body.size(); at += 1000) {
      text += "3e8;a=b\r\n" + honest_body.substr(at, 1000) + "\r\n";
    }
    return text + "0\r\n\r\n";
  }
  static void expect_has_its_body(const Seen& honest) {
    const bool has_none = std::stoul(honest.target.substr(7)) % 3 == 0;
    EXPECT_TRUE(honest.body == (has_none ? "" : honest_body))
        << honest.target << ": " << printable(honest.body);
  }
  void expect_all_are_marked() {
    std::set<std::string> marks;
    std::size_t hostile = 0;
    for (const Seen& seen : record_->all()) {
      EXPECT_EQ(seen.marks.size(), 1U) << printable(seen.target) << " was smuggled";
      EXPECT_EQ(seen.body.find("roxied:"), std::string::npos)
          << "a request became the body of " << printable(seen.target);
      for (const std::string& mark : seen.marks) {
        EXPECT_TRUE(marks.insert(mark).second) << printable(seen.target) << " came twice";
      }
      if (seen.target.starts_with("/honest")) {
        expect_has_its_body(seen);
      } else {
        ++hostile;
      }
    }
    // Some are no attack: if none came through, nothing was tested.
    EXPECT_GT(hostile, 60U);
  }
};

TEST_F(HttpProxies, WithoutOneOnlyWhatIsClearIsSeen) {
  const std::uint16_t port = serve_recorder();
  const std::vector<Hostile> cases = hostile_requests();
  std::vector<JoinHandle<std::string>> asked;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    // Behind what it understands, the server is to close the connection for this.
    const std::string last = cases[i].seen.empty() ? "" : "GET / HTTP/0.9\r\n\r\n";
    asked.push_back(rt.spawn(all_said_to, port, numbered(cases[i].bytes, i) + last));
  }
  for (std::size_t i = 0; i < cases.size(); ++i) (void)run(std::move(asked[i]));
  std::vector<std::string> seen(cases.size());
  for (const Seen& each : record_->all()) {
    if (!each.is_whole) continue;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (each.target.find(three_digits(i)) == std::string::npos) continue;
      seen[i] += (seen[i].empty() ? "" : " ") + each.target;
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(seen[i], numbered(cases[i].seen, i))
        << printable(cases[i].name) << ": " << printable(cases[i].bytes);
  }
}

TEST_F(HttpProxies, NothingIsSmuggledThroughNginx) {
  const std::string nginx = program("nginx");
  if (IsSkipped()) return;
  const std::uint16_t behind = serve_recorder();
  const std::uint16_t strict = free_port();
  const std::uint16_t lenient = free_port();
  std::string text =
      "daemon off; master_process off; pid nginx.pid; timer_resolution 100ms;\n"
      "events { worker_connections 8192; }\n"
      "http { access_log off; client_header_timeout 2s; client_body_timeout 2s;\n"
      "keepalive_timeout 2s; proxy_http_version 1.1; proxy_set_header Connection \"\";\n"
      "proxy_set_header X-Proxied $request_id; proxy_next_upstream off;\n";
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += std::string(kind) + "_temp_path " + kind + ";\n";
  }
  text += "upstream behind { server " + text_of(behind) + "; keepalive 16; }\n";
  text += "server { listen " + text_of(strict) + "; location / { proxy_pass http://behind; } }\n";
  text += "server { listen " + text_of(lenient) +
          "; ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;\n"
          "location / { proxy_pass http://behind; proxy_request_buffering off;\n"
          "proxy_set_header Connection \"\"; proxy_set_header X-Proxied $request_id;\n"
          "proxy_set_header Upgrade $http_upgrade; proxy_set_header Expect $http_expect; } } }\n";
  files_.write("nginx.conf", text);
  Program server({nginx, "-p", files_.path(), "-e", files_.file("error.log"), "-c",
                  files_.file("nginx.conf")});
  server.wait_for_port(strict);
  expect_nothing_is_smuggled_through(strict, lenient);
  server.send_signal(SIGQUIT);
  EXPECT_EQ(server.wait().status, 0);
}

TEST_F(HttpProxies, NothingIsSmuggledThroughHaproxy) {
  const std::string haproxy = program("haproxy");
  if (IsSkipped()) return;
  const std::uint16_t behind = serve_recorder();
  const std::uint16_t strict = free_port();
  const std::uint16_t lenient = free_port();
  files_.write("haproxy.cfg",
               "global\n  maxconn 4000\n"
               "defaults\n  mode http\n  http-reuse always\n  retries 0\n"
               "  timeout connect 10s\n  timeout server 30s\n  timeout client 2s\n"
               "  timeout http-request 2s\n  timeout http-keep-alive 2s\n"
               "frontend strict\n  bind " +
                   text_of(strict) +
                   "\n  default_backend behind\n"
                   "frontend lenient\n  option accept-invalid-http-request\n  bind " +
                   text_of(lenient) +
                   "\n  default_backend behind\n"
                   "backend behind\n  http-request set-header X-Proxied %[uuid()]\n"
                   "  server rouse " +
                   text_of(behind) + "\n");
  Program server({haproxy, "-q", "-db", "-f", files_.file("haproxy.cfg")});
  server.wait_for_port(strict);
  expect_nothing_is_smuggled_through(strict, lenient);
  server.send_signal(SIGTERM);
  (void)server.wait();
}

TEST_F(HttpProxies, NothingIsSmuggledThroughApache) {
  const std::string apache = program("apache2");
  if (IsSkipped()) return;
  const std::uint16_t behind = serve_recorder();
  const std::uint16_t strict = free_port();
  const std::uint16_t lenient = free_port();
  std::string text;
  for (const char* module : {"mpm_event", "authz_core", "env", "headers", "unique_id", "reqtimeout",
                             "proxy", "proxy_http"}) {
    text += std::string("LoadModule ") + module + "_module /usr/lib/apache2/modules/mod_" + module +
            ".so\n";
  }
  text +=
      "ServerRoot " + files_.path() +
      "\nServerName localhost\nPidFile apache.pid\nErrorLog error.log\nDefaultRuntimeDir .\n"
      "User www-data\nGroup www-data\n"
      "StartServers 1\nServerLimit 1\nThreadLimit 512\nThreadsPerChild 512\nMaxRequestWorkers 512\n"
      "KeepAliveTimeout 2\nRequestReadTimeout header=2 body=2\n"
      "ProxyPass / http://" +
      text_of(behind) +
      "/ nocanon\nAllowEncodedSlashes NoDecode\n"
      "RequestHeader set X-Proxied %{UNIQUE_ID}e\n"
      "Listen " +
      text_of(strict) + "\nListen " + text_of(lenient) +
      "\n"
      "<VirtualHost " +
      text_of(lenient) +
      ">\nHttpProtocolOptions Unsafe\n"
      "ProxyPass / http://" +
      text_of(behind) + "/ nocanon\nSetEnv proxy-sendchunked 1\n</VirtualHost>\n";
  files_.write("apache.conf", text);
  Program server({apache, "-DFOREGROUND", "-f", files_.file("apache.conf")});
  server.wait_for_port(strict);
  expect_nothing_is_smuggled_through(strict, lenient);
  server.send_signal(SIGTERM);
  (void)server.wait();
}

}  // namespace
}  // namespace rouse::test
