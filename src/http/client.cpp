#include "rouse/http/client.hpp"

#include <system_error>
#include <utility>

#include "rouse/base/assert.hpp"
#include "rouse/tls/client_config.hpp"
#include "rouse/version.hpp"

#include "http/client_exchange.hpp"
#include "http/client_settings.hpp"
#include "http/client_state.hpp"

namespace rouse::http {

ClientSettings::ClientSettings() {
  headers.set("User-Agent", "rouse/" ROUSE_VERSION);
  headers.set("Accept", "*/*");
}

class ClientRequest::Parts {
 public:
  Parts(RefPtr<ClientState> its_client, Method method, std::string_view url)
      : client(std::move(its_client)) {
    job.method = method;
    job.url = url;
    job.limit = client->settings().timeout;
  }
  RefPtr<ClientState> client;
  ClientJob job;
};

ClientRequest::ClientRequest(RefPtr<ClientState> client, Method method, std::string_view url)
    : parts_(internal::make_box<Parts>(std::move(client), method, url)) {}
ClientRequest::ClientRequest(ClientRequest&& other) noexcept = default;
ClientRequest& ClientRequest::operator=(ClientRequest&& other) noexcept = default;
ClientRequest::~ClientRequest() = default;

ClientRequest& ClientRequest::header(std::string_view name, std::string_view value) & {
  parts_->job.headers.set(name, value);
  return *this;
}
ClientRequest&& ClientRequest::header(std::string_view name, std::string_view value) && {
  return std::move(header(name, value));
}
ClientRequest& ClientRequest::basic_auth(std::string_view user, std::string_view password) & {
  const std::string both = std::string(user).append(1, ':').append(password);
  return header("Authorization", basic_credentials(both));
}
ClientRequest&& ClientRequest::basic_auth(std::string_view user, std::string_view password) && {
  return std::move(basic_auth(user, password));
}
ClientRequest& ClientRequest::bearer_auth(std::string_view token) & {
  return header("Authorization", std::string("Bearer ").append(token));
}
ClientRequest&& ClientRequest::bearer_auth(std::string_view token) && {
  return std::move(bearer_auth(token));
}
ClientRequest& ClientRequest::body(Body body) & {
  parts_->job.body = std::move(body);
  return *this;
}
ClientRequest&& ClientRequest::body(Body body) && { return std::move(this->body(std::move(body))); }
ClientRequest& ClientRequest::timeout(std::chrono::nanoseconds limit) & {
  parts_->job.limit = limit;
  return *this;
}
ClientRequest&& ClientRequest::timeout(std::chrono::nanoseconds limit) && {
  return std::move(timeout(limit));
}

AsyncResult<Reply> ClientRequest::send(std::source_location where) {
  ROUSE_ASSERT(parts_, "send() of a ClientRequest that was sent or moved from: make another one");
  const internal::Box<Parts> parts = std::move(parts_);
  return perform(std::move(parts->client), std::move(parts->job), where);
}

Client::Client() : Client(ClientBuilder().build()) {}
Client::Client(RefPtr<ClientState> state) noexcept : state_(std::move(state)) {}
Client::Client(const Client& other) noexcept = default;
Client::Client(Client&& other) noexcept = default;
Client& Client::operator=(Client other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Client::~Client() = default;

ClientBuilder Client::builder() { return ClientBuilder(); }

ClientRequest Client::request(Method method, std::string_view url) const {
  return ClientRequest(state_, method, url);
}

ClientMetrics Client::metrics() const { return state_->metrics(); }

ClientBuilder::ClientBuilder() : settings_(internal::make_box<ClientSettings>()) {}
ClientBuilder::ClientBuilder(const ClientBuilder& other)
    : settings_(internal::make_box<ClientSettings>(*other.settings_)) {}
ClientBuilder::ClientBuilder(ClientBuilder&& other) noexcept = default;
ClientBuilder& ClientBuilder::operator=(ClientBuilder other) noexcept {
  settings_.swap(other.settings_);
  return *this;
}
ClientBuilder::~ClientBuilder() = default;

ClientBuilder& ClientBuilder::connect_timeout(std::chrono::nanoseconds limit) noexcept {
  settings_->connect_timeout = limit;
  return *this;
}
ClientBuilder& ClientBuilder::timeout(std::chrono::nanoseconds limit) noexcept {
  settings_->timeout = limit;
  return *this;
}
ClientBuilder& ClientBuilder::idle_timeout(std::chrono::nanoseconds limit) noexcept {
  settings_->idle_timeout = limit;
  return *this;
}
ClientBuilder& ClientBuilder::connections_per_host(std::size_t connections) noexcept {
  ROUSE_ASSERT(connections > 0,
               "ClientBuilder: connections_per_host(0) could send nothing: allow at least 1");
  settings_->connections_per_host = connections;
  return *this;
}
ClientBuilder& ClientBuilder::body_limit(std::size_t bytes) noexcept {
  settings_->body_limit = bytes;
  return *this;
}
ClientBuilder& ClientBuilder::max_redirects(unsigned count) noexcept {
  settings_->max_redirects = count;
  return *this;
}
ClientBuilder& ClientBuilder::header(std::string_view name, std::string_view value) {
  settings_->headers.set(name, value);
  return *this;
}
ClientBuilder& ClientBuilder::no_decoding() noexcept {
  settings_->decodes = false;
  return *this;
}
ClientBuilder& ClientBuilder::on_request(Function<void(const RequestOutcome&)> hook) noexcept {
  settings_->on_request = std::move(hook);
  return *this;
}
ClientBuilder& ClientBuilder::allow_address(
    Function<bool(const net::SocketAddr&)> is_allowed) noexcept {
  settings_->is_allowed = std::move(is_allowed);
  return *this;
}
ClientBuilder& ClientBuilder::proxy(std::string_view url) {
  settings_->proxy = parse_url(url);
  if (!settings_->proxy) {
    throw std::system_error(make_error_code(ClientError::bad_url), "http::ClientBuilder::proxy");
  }
  return *this;
}
ClientBuilder& ClientBuilder::connector(
    Function<AsyncResult<io::AnyConnection>(net::Endpoint)> connect) noexcept {
  settings_->connect = std::move(connect);
  return *this;
}
ClientBuilder& ClientBuilder::tls(const tls::ClientConfig& config) {
  settings_->tls.emplace(tls::ClientConfig(config).alpn({"http/1.1"}));
  return *this;
}

Client ClientBuilder::build() const { return Client(make_ref<ClientState>(*settings_)); }

}  // namespace rouse::http
