#include "rouse/http/serve_connection.hpp"

#include <string>
#include <utility>
#include <vector>

#include "rouse/base/internal/maybe.hpp"
#include "rouse/future/poll_fn.hpp"
#include "rouse/http/error.hpp"
#include "rouse/runtime/deadline.hpp"

#include "http/answer.hpp"
#include "http/connection.hpp"
#include "http/request_access.hpp"
#include "http/request_body.hpp"
#include "http/route_table.hpp"
#include "http/service.hpp"

namespace rouse::http {
namespace {

constexpr std::size_t copied_at_most =
    std::size_t{16} * 1024;  // behind a head; more is written as it is
constexpr std::size_t piece_size = std::size_t{32} * 1024;  // of a body that is read

/// The handler of one request, and what may end it early. There is no answer if the peer has left.
class Handling {
 public:
  using Output = void;

  Handling(Connection& connection, const Service& service, Request& request, const Route& route,
           std::optional<Response>& answer)
      : answer_(answer),
        connection_(connection),
        service_(service),
        request_(request),
        drops_(route.is_dropped_when_peer_leaves(request.method())) {
    const auto time = internal::saturate(route.time_limit_or(service.options.handler_time));
    ends_at_ = time::add(time::now(), time);
    try {
      running_.emplace(with_deadline(ends_at_, route.handler()(request)));
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }

  Poll<> poll(Context& cx) {
    if (thrown_) return answer(failed(thrown_));
    connection_.begin_handler_poll();
    try {
      auto polled = (*running_).poll(cx);
      if (polled.is_ready()) return answer(std::move(polled).value());
    } catch (...) {
      return answer(failed(std::current_exception()));
    }
    connection_.end_handler_poll();
    const bool has_left = connection_.poll_peer_left(cx);
    if (has_left && drops_) return Poll<>::ready();
    if (!connection_.alarm().has_passed(cx, ends_at_)) return pending;
    running_.reset();
    return answer(plain_answer(Status::service_unavailable));
  }
  [[nodiscard]] bool borrows() const noexcept { return true; }

 private:
  using Running = decltype(with_deadline(time::Instant(), std::declval<Async<Response>>()));

  Poll<> answer(Response&& response) {
    answer_.emplace(std::move(response));
    return Poll<>::ready();
  }
  Response failed(const std::exception_ptr& thrown) {
    bool is_news = false;
    Response response = answer_to(thrown, connection_.body_error(), is_news);
    if (is_news && service_.options.on_error) service_.options.on_error(thrown, request_);
    return response;
  }

  std::optional<Response>& answer_;
  Connection& connection_;
  const Service& service_;
  Request& request_;
  const bool drops_;
  time::Instant ends_at_;
  std::exception_ptr thrown_;
  internal::Maybe<Running> running_;
};

/// Takes over what the head says. An answer: the path is none that a handler may see.
std::optional<Response> fill(Connection& connection, Request& request, std::string& path) {
  Head& head = connection.head();
  const std::string_view target = origin_form(head.target);
  std::optional<std::string> decoded = percent_decoded(target.substr(0, target.find('?')));
  const bool is_path = decoded && !has_dot_segment(*decoded);
  path = std::move(decoded).value_or(std::string());
  Body body;
  if (head.has_body()) {
    body = Body(internal::Box<internal::BodySource>(new RequestBody(connection)));
  }
  RequestAccess(request).fill(head, path, std::move(body));
  if (is_path) return std::nullopt;
  return plain_answer(Status::bad_request, "a path with .., . or NUL in it, or a malformed %");
}

/// What is said to a request that no route is for.
Response unrouted(const Request& request, const std::string& allow) {
  if (allow.empty() && request.method() == Method::options && request.target() == "*") {
    return Response(Status::no_content);
  }
  if (allow.empty()) return plain_answer(Status::not_found);
  if (request.method() == Method::options) {
    return Response(Status::no_content).header("Allow", allow);
  }
  return plain_answer(Status::method_not_allowed).header("Allow", allow);
}

/// Whether the connection may stay open although the body of the request was not read: what is left
/// of it is little, and comes anyway.
bool can_skip_body(const Connection& connection) noexcept {
  if (connection.has_read_body()) return true;
  if (connection.owes_continue() || connection.body_error()) return false;
  return connection.body_left().value_or(no_limit) <= std::size_t{64} * 1024;
}

void write_chunk(std::string& out, std::span<const std::byte> piece, bool is_chunked) {
  if (is_chunked) write_chunk_size(out, piece.size());
  out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  if (is_chunked) out += "\r\n";
}

/// Sends a body that is read from somewhere. What is ready is gathered; when there is nothing more
/// for now, it is sent. Throws what the body gives instead of bytes.
Async<void> send_body(Connection& connection, Body& body, Framing framing, bool watches_peer) {
  std::vector<std::byte> piece(piece_size);
  std::optional<std::uint64_t> left = framing.content_length;
  const auto read = [&](Context& cx) -> Poll<Result<std::size_t>> {
    std::span<std::byte> room(piece);
    if (left && *left < room.size()) room = room.first(static_cast<std::size_t>(*left));
    if (Poll<Result<std::size_t>> polled = body.poll_read(cx, room); polled.is_ready()) {
      return polled;
    }
    const Poll<Result<void>> sent = connection.poll_send(cx);
    if (sent.is_ready() && !sent.value()) {
      return Poll<Result<std::size_t>>::ready(sent.value().error());
    }
    if (!watches_peer || !connection.poll_peer_left(cx)) return pending;
    return Poll<Result<std::size_t>>::ready(std::errc::connection_reset);
  };
  while (left != 0U) {
    const Result<std::size_t> got = co_await poll_fn(read);
    const std::size_t n = got.value();
    if (n == 0) break;
    if (left) *left -= n;
    write_chunk(connection.out(), std::span(piece).first(n), framing.is_chunked);
    if (connection.out().size() < piece_size) continue;
    const Result<void> sent =
        co_await poll_fn([&](Context& cx) { return connection.poll_send(cx); });
    sent.value();
  }
  if (left.value_or(0) != 0) throw std::system_error(make_error_code(Error::wrong_length));
  if (framing.is_chunked) connection.out() += "0\r\n\r\n";
}

/// One connection, from its first request to its last.
class Session {
 public:
  Session(io::AnyConnection stream, RefPtr<Service> service, const Origin& origin)
      : service_(std::move(service)), connection_(std::move(stream), service_->options) {
    RequestAccess(request_).set_peer(origin.peer, origin.is_secure);
    connection_.set_tcp_socket(origin.tcp_socket);
  }

  Async<void> run() {
    for (;;) {
      const Connection::Next next =
          co_await poll_fn([this](Context& cx) { return connection_.poll_head(cx); });
      if (next == Connection::Next::refused) refuse();
      if (next != Connection::Next::request) break;
      keeps_alive_ = connection_.head().keeps_alive;
      wants_upgrade_ = connection_.head().wants_upgrade;
      Service::Place place = service_->take_place();
      const Route* route = nullptr;
      std::optional<Response> response = answer_without_handler(bool(place), route);
      if (!response) {
        Handling handling(connection_, *service_, request_, *route, response);
        co_await handling;
      }
      if (!response) co_return;  // the peer has left
      begin_answer(*response);
      if (response->upgrade()) {
        place = Service::Place();  // what follows is no request, and may last for days
        co_await hand_over(std::move(*response));
        co_return;
      }
      if (sends_source_) {
        const bool is_whole = co_await send_source(response->body());
        if (!is_whole) co_return;
      } else if (connection_.has_much_to_send()) {
        const Result<void> sent =
            co_await poll_fn([this](Context& cx) { return connection_.poll_send(cx); });
        if (!sent) co_return;
      }
      if (keeps_alive_ && !connection_.has_read_body()) {
        keeps_alive_ =
            co_await poll_fn([this](Context& cx) { return connection_.poll_discard_body(cx); });
      }
      connection_.end_exchange();
      if (!keeps_alive_) break;
    }
    co_await poll_fn([this](Context& cx) { return connection_.poll_close(cx); });
  }

 private:
  void refuse() {
    const Refusal& refusal = connection_.refusal();
    Response response = plain_answer(refusal.status, refusal.reason);
    Framing framing;
    framing.content_length = response.body().length();
    framing.connection = "close";
    write_response_head(connection_.out(), 1, refusal.status, response.headers(), framing);
    connection_.out() += *response.body().in_memory();
  }

  std::optional<Response> answer_without_handler(bool has_place, const Route*& route) {
    // What follows may be meant for whom it wants to be connected with.
    if (connection_.head().method == Method::connect) keeps_alive_ = false;
    if (auto refused = fill(connection_, request_, path_)) return refused;
    if (!has_place) return plain_answer(Status::service_unavailable).header("Retry-After", "1");
    std::string allow;
    route = service_->routes.table().find(request_, allow);
    if (route) return std::nullopt;
    return unrouted(request_, allow);
  }

  /// Writes the head, and the body if it is in memory.
  void begin_answer(Response& response) {
    const bool is_upgrade = response.upgrade() && wants_upgrade_ && connection_.has_read_body();
    if (response.upgrade() ? !is_upgrade : is_informational(response.status())) {
      response = plain_answer(Status::internal_server_error);
    }
    apply_conditions(request_, response);
    if (service_->options.on_request) service_->options.on_request(request_, response.status());
    sends_source_ = response.body().source() != nullptr;
    if (connection_.is_stopping()) keeps_alive_ = false;
    if (!sends_source_ && !can_skip_body(connection_)) keeps_alive_ = false;
    framing_ = framing_of(request_, response, keeps_alive_);
    sends_source_ = sends_source_ && framing_.has_bytes;
    // Behind the answer it would come too late.
    if (sends_source_ && connection_.owes_continue()) connection_.write_continue();
    std::string& out = connection_.out();
    write_response_head(out, 1, response.status(), response.headers(), framing_.head);
    if (sends_source_ || !framing_.has_bytes) return;
    const std::string_view bytes = *response.body().in_memory();
    if (bytes.size() <= copied_at_most) {
      out += bytes;
    } else {
      connection_.set_behind(bytes);  // of the response, which stays until they are sent
    }
  }

  /// False: the connection can't go on.
  Async<bool> send_source(Body& body) {
    const bool watches = is_safe(request_.method());
    std::exception_ptr thrown;
    bool is_peer_s = false;
    try {
      co_await send_body(connection_, body, framing_.head, watches);
    } catch (const std::system_error& error) {
      is_peer_s = error.code() == std::errc::connection_reset ||
                  error.code() == std::errc::broken_pipe || error.code() == Error::too_slow ||
                  connection_.body_error();
      thrown = std::current_exception();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (!thrown) co_return true;
    if (!is_peer_s && service_->options.on_error) service_->options.on_error(thrown, request_);
    co_return false;
  }

  Async<void> hand_over(Response response) {
    const Result<void> sent =
        co_await poll_fn([this](Context& cx) { return connection_.poll_send(cx); });
    if (!sent) co_return;
    std::exception_ptr thrown;
    try {
      co_await response.upgrade()(connection_.take_stream());
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown && service_->options.on_error) service_->options.on_error(thrown, request_);
  }

  const RefPtr<Service> service_;
  Request request_;  // goes after the connection, which its body reads from
  Connection connection_;
  std::string path_;
  AnswerFraming framing_;
  bool keeps_alive_ = false;
  bool wants_upgrade_ = false;
  bool sends_source_ = false;
};

}  // namespace

Async<void> serve_stream(io::AnyConnection stream, RefPtr<Service> service, Origin origin) {
  Session session(std::move(stream), std::move(service), origin);
  co_await session.run();
}

Async<void> serve_connection(io::AnyConnection stream, Router routes, ServerOptions options) {
  auto service = make_ref<Service>(std::move(routes), std::move(options));
  co_await serve_stream(std::move(stream), std::move(service), Origin());
}

}  // namespace rouse::http
