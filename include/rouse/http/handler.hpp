// http::Handler: what answers a request: a function, or anything that can be called like one, also
// with state of its own. It is called for one request after another, of many connections, on all
// threads of the runtime: what it shares is its own to guard.
//
//   rouse::Async<http::Response> hello(http::Request& request);
//
// The request lives until its answer was sent. What a handler throws is a 500, and goes to
// ServerOptions::on_error; its text stays there.
#pragma once

#include "rouse/base/function.hpp"
#include "rouse/core/async.hpp"
#include "rouse/http/request.hpp"
#include "rouse/http/response.hpp"

namespace rouse::http {

/// May be a coroutine or not; a lambda that is one may capture: it is kept for as long as it runs.
using Handler = Function<Async<Response>(Request&)>;

}  // namespace rouse::http
