// RequestBody: the body of a request, as its handler reads it from the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rouse/http/internal/body_source.hpp"

namespace rouse::http {

class Connection;

/// Either of the two may go first: each tells the other. Both belong to the connection's task.
class RequestBody final : public internal::BodySource {
 public:
  explicit RequestBody(Connection& connection) noexcept;
  ~RequestBody() override;

  Poll<Result<std::size_t>> poll_read(Context& cx, std::span<std::byte> buf) override;
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override;

  /// The exchange is over.
  void cut_off() noexcept { connection_ = nullptr; }

 private:
  Connection* connection_;
};

}  // namespace rouse::http
