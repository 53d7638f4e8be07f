#include "http/client_exchange.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "rouse/http/client_error.hpp"
#include "rouse/runtime/deadline.hpp"

#include "http/client_connection.hpp"
#include "http/decoder.hpp"
#include "http/reply_source.hpp"

namespace rouse::http {
namespace {

[[noreturn]] void fail(std::error_code error, const std::string& what) {
  throw std::system_error(error, "http::Client: " + what);
}

void set_if_missing(Headers& headers, std::string_view name, std::string_view value) {
  if (!headers.contains(name)) headers.set(name, value);
}

/// A URL that could not be read, for an error: a password may have stood in front of any '@'.
std::string without_credentials(std::string_view url) {
  std::string text(url);
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    const std::size_t mark = url.substr(0, at).find("://");
    const std::size_t begin = mark == std::string_view::npos ? 0 : mark + 3;
    text.replace(begin, at - begin, "...");
  }
  return text.substr(0, 200);
}

/// A request as it goes to `url`, which may be that of a redirect.
RefPtr<Outgoing> outgoing_of(const SharedSettings& settings, ClientJob& job, const Url& url) {
  Headers headers = job.headers;
  if (settings.decodes) set_if_missing(headers, "Accept-Encoding", known_encodings());
  if (!url.credentials.empty()) {
    set_if_missing(headers, "Authorization", basic_credentials(url.credentials));
  }
  std::string target = url.target;
  if (settings.is_passed_on(url.origin)) {
    target.insert(0, url.origin.text());
    const std::string& proxy = settings.proxy->credentials;
    if (!proxy.empty()) headers.set("Proxy-Authorization", basic_credentials(proxy));
  }
  return make_ref<Outgoing>(job.method, std::move(target), url.origin.authority(),
                            std::move(headers), std::move(job.body));
}

/// The server closed a connection that was idle before it saw the request.
bool may_repeat(const Pooled<ClientConnection>& lent, const ClientConnection& connection,
                const Outgoing& request) {
  if (!lent.is_reused() || connection.has_answer_begun()) return false;
  if (connection.has_read_body()) return false;
  if (!connection.has_written()) return true;
  return is_idempotent(request.method) && request.body.in_memory();
}

/// The body of a request is dropped with the request, and not when its connection is closed.
class StopsSending {
 public:
  explicit StopsSending(ClientConnection& connection) noexcept : connection_(&connection) {}
  StopsSending(const StopsSending&) = delete;
  StopsSending& operator=(const StopsSending&) = delete;
  ~StopsSending() {
    if (connection_ != nullptr) connection_->stop_sending();
  }
  void let_it_go_on() noexcept { connection_ = nullptr; }

 private:
  ClientConnection* connection_;
};

AsyncResult<Pooled<ClientConnection>> exchange(RefPtr<ClientState> client, UrlOrigin origin,
                                               RefPtr<Outgoing> request, std::string url) {
  const Pool<OriginManager> pool = client->pool_for(origin);
  for (bool is_repeated = false;; is_repeated = true) {
    auto lent = co_await pool.take();
    ClientConnection& connection = *lent;
    client->requests.fetch_add(1, memory_order_relaxed);
    StopsSending unless_answered(connection);
    const auto answered = co_await connection.exchange(request).result();
    if (answered) {
      unless_answered.let_it_go_on();
      co_return std::move(lent);
    }
    if (is_repeated || !may_repeat(lent, connection, *request)) {
      if (!connection.reason().empty()) url.append(" (").append(connection.reason()).append(1, ')');
      fail(answered.error(), url);
    }
    client->repeats.fetch_add(1, memory_order_relaxed);
  }
}

/// Tells the hook what became of a request, also if that is dropped.
class Observed {
 public:
  Observed(const SharedSettings& settings, Method method, std::string url) noexcept
      : hook_(&settings.on_request),
        url_(std::move(url)),
        outcome_(method, url_),
        began_(time::now()) {
    outcome_.error = std::make_error_code(std::errc::operation_canceled);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  ~Observed() {
    if (!*hook_) return;
    outcome_.took = time::now() - began_;
    (*hook_)(outcome_);
  }
  void answered(Status status) noexcept {
    outcome_.status = status;
    outcome_.error.clear();
  }
  void failed(std::error_code error) noexcept { outcome_.error = error; }

 private:
  const Function<void(const RequestOutcome&)>* hook_;
  std::string url_;
  RequestOutcome outcome_;
  time::Instant began_;
};

AsyncResult<Pooled<ClientConnection>> observed_exchange(RefPtr<ClientState> client,
                                                        UrlOrigin origin, RefPtr<Outgoing> request,
                                                        std::string url) {
  Observed observed(client->settings(), request->method, url);
  try {
    auto lent = co_await exchange(client, origin, request, url);
    observed.answered(lent->head().status);
    co_return std::move(lent);
  } catch (const std::system_error& error) {
    observed.failed(error.code());
    throw;
  }
}

Reply reply_of(Pooled<ClientConnection> lent, const SharedSettings& settings, std::string url,
               TimeLimit limit) {
  Head& head = lent->head();
  const Status status = head.status;
  Headers headers = std::move(head.headers);
  if (lent->is_whole()) {
    give_back(std::move(lent));
    return Reply(status, std::move(headers), Body(), std::move(url), settings.body_limit);
  }
  const auto length = head.content_length;
  internal::Box<internal::BodySource> source(new ReplySource(std::move(lent), length, limit));
  if (settings.decodes) source = decoded(std::move(source), headers);
  return Reply(status, std::move(headers), Body(std::move(source)), std::move(url),
               settings.body_limit);
}

bool is_followed(Status status) noexcept {
  return status == Status::moved_permanently || status == Status::found ||
         status == Status::see_other || status == Status::temporary_redirect ||
         status == Status::permanent_redirect;
}

/// As browsers do it: what was posted is not posted to another place, unless the server says so.
void change_method(Status status, ClientJob& job) {
  const bool becomes_get = status == Status::see_other ? job.method != Method::head
                                                       : job.method == Method::post &&
                                                             (status == Status::moved_permanently ||
                                                              status == Status::found);
  if (!becomes_get) return;
  job.method = Method::get;
  job.body = Body();
  for (const std::string_view name :
       {"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"}) {
    job.headers.remove(name);
  }
}

Url redirected(const Url& from, std::string_view location, ClientJob& job) {
  std::optional<Url> to = resolve_url(from, location);
  if (!to) fail(ClientError::bad_url, "a redirect from " + from.text());
  if (from.origin.is_secure && !to->origin.is_secure) {
    fail(ClientError::insecure_redirect, from.text() + " to " + to->text());
  }
  if (to->origin == from.origin) {
    if (to->credentials.empty()) to->credentials = from.credentials;
    return *std::move(to);
  }
  // They were for another one.
  for (const std::string_view name : {"Authorization", "Cookie", "Proxy-Authorization", "Host"}) {
    job.headers.remove(name);
  }
  return *std::move(to);
}

AsyncResult<Reply> follow(RefPtr<ClientState> client, ClientJob job, TimeLimit limit) {
  const SharedSettings& settings = client->settings();
  std::optional<Url> url = parse_url(job.url);
  if (!url) fail(ClientError::bad_url, '\'' + without_credentials(job.url) + '\'');
  // Only here: those that a redirect must not take along are not to come back.
  for (const Headers::Field field : settings.headers) {
    set_if_missing(job.headers, field.name, field.value);
  }
  for (unsigned count = 0;; ++count) {
    const RefPtr<Outgoing> request = outgoing_of(settings, job, *url);
    auto lent = co_await observed_exchange(client, url->origin, request, url->text());
    Reply reply = reply_of(std::move(lent), settings, url->text(), limit);
    const auto location = reply.header("Location");
    if (!is_followed(reply.status()) || !location || settings.max_redirects == 0) {
      co_return std::move(reply);
    }
    if (count == settings.max_redirects) fail(ClientError::too_many_redirects, url->text());
    Url next = redirected(*url, *location, job);
    const bool was_in_memory = request->body.in_memory().has_value();
    // Ends the sending, if it goes on.
    const Status status = reply.status();
    reply = Reply(status, Headers(), Body(), std::string(), 0);
    job.body = std::move(request->body);
    change_method(status, job);
    if (!was_in_memory && !job.body.in_memory()) fail(ClientError::unrepeatable_body, url->text());
    url = std::move(next);
    client->redirects.fetch_add(1, memory_order_relaxed);
  }
}

}  // namespace

AsyncResult<Reply> perform(RefPtr<ClientState> client, ClientJob job, std::source_location where) {
  const TimeLimit limit = TimeLimit::of(job.limit);
  const time::Nanoseconds own = job.limit;
  co_return co_await timeout_or_deadline(own, follow(std::move(client), std::move(job), limit),
                                         where);
}

}  // namespace rouse::http
