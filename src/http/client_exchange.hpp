// One request of a client, from its URL to the head of its answer: connections, repetitions,
// redirects.
#pragma once

#include <source_location>
#include <string>

#include "rouse/base/ref_ptr.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/body.hpp"
#include "rouse/http/headers.hpp"
#include "rouse/http/method.hpp"
#include "rouse/http/reply.hpp"
#include "rouse/time/instant.hpp"

#include "http/client_state.hpp"

namespace rouse::http {

/// What is to be sent.
class ClientJob {
 public:
  ClientJob() noexcept {}  // NOLINT(*-use-equals-default): an aggregate would be destroyed twice
  Method method = Method::get;
  std::string url;
  Headers headers;
  Body body;
  time::Nanoseconds limit{};
};

AsyncResult<Reply> perform(RefPtr<ClientState> client, ClientJob job, std::source_location where);

}  // namespace rouse::http
