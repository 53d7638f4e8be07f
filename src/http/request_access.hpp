// RequestAccess: what only the server does with a Request: it fills in what came.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "rouse/http/request.hpp"

#include "http/head.hpp"

namespace rouse::http {

class RequestAccess {
 public:
  explicit RequestAccess(Request& request) noexcept : request_(&request) {}

  /// Takes over what a head says; what the request had before goes to the head, with its memory.
  /// The path is decoded already.
  void fill(Head& head, std::string& path, Body body) {
    request_->method_ = head.method;
    request_->minor_version_ = head.minor_version;
    request_->target_.swap(head.target);
    request_->path_.swap(path);
    std::swap(request_->headers_, head.headers);
    request_->parameters_.clear();
    request_->body_ = std::move(body);
  }
  void set_peer(const std::optional<net::SocketAddr>& peer, bool is_secure) {
    request_->peer_ = peer;
    request_->is_secure_ = is_secure;
  }
  void add_parameter(std::string_view name, std::string value) {
    request_->parameters_.push_back({std::string(name), std::move(value)});
  }
  void clear_parameters() noexcept { request_->parameters_.clear(); }

 private:
  Request* request_;
};

}  // namespace rouse::http
