// Service: what all connections of a server share. serve_stream: one of them.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "rouse/base/atomic.hpp"
#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async.hpp"
#include "rouse/http/router.hpp"
#include "rouse/http/server_options.hpp"
#include "rouse/io/any_connection.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::http {

class Service : public RefCounted<Service> {
 public:
  Service(Router its_routes, ServerOptions its_options)
      : routes(std::move(its_routes)), options(std::move(its_options)) {}

  const Router routes;
  const ServerOptions options;

  /// A request that is being answered.
  class Place {
   public:
    Place() noexcept = default;
    explicit Place(const Service& service) noexcept : service_(&service) {}
    Place(Place&& other) noexcept : service_(std::exchange(other.service_, nullptr)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(service_, other.service_);
      return *this;
    }
    ~Place() {
      if (service_) service_->requests_.fetch_sub(1, memory_order_relaxed);
    }
    [[nodiscard]] explicit operator bool() const noexcept { return service_ != nullptr; }

   private:
    const Service* service_ = nullptr;
  };
  /// Empty: there are as many as there may be.
  [[nodiscard]] Place take_place() const noexcept {
    Place place(*this);
    if (requests_.fetch_add(1, memory_order_relaxed) < options.max_requests) return place;
    return Place();
  }

 private:
  mutable atomic<std::size_t> requests_{0};
};

/// Where a connection came from.
class Origin {
 public:
  Origin() noexcept {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice
  std::optional<net::SocketAddr> peer;
  bool is_secure = false;
  int tcp_socket = -1;  // that of the stream, if it is one of TCP
};

/// See http::serve_connection.
Async<void> serve_stream(io::AnyConnection stream, RefPtr<Service> service, Origin origin);

}  // namespace rouse::http
