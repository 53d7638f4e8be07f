// Heads as they are sent. What frames the body is told here and never taken from the Headers, so
// that no message says two things.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rouse/http/headers.hpp"
#include "rouse/http/method.hpp"
#include "rouse/http/status.hpp"

namespace rouse::http {

/// What a head says about the bytes behind it, and about its connection.
class Framing {
 public:
  Framing() noexcept {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice

  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
  std::string_view connection;  // "close", "keep-alive", "Upgrade"; empty: nothing is said
  std::string_view date;        // empty: none
};

/// Appends the head of an answer, to its empty line.
void write_response_head(std::string& out, int minor_version, Status status, const Headers& headers,
                         const Framing& framing);
/// Appends the head of a request. `target` and `host` were checked before.
void write_request_head(std::string& out, Method method, std::string_view target,
                        std::string_view host, const Headers& headers, const Framing& framing);
/// What stands before a chunk of that size.
void write_chunk_size(std::string& out, std::uint64_t size);

}  // namespace rouse::http
