// ws::connect: the client's end of a WebSocket.
//
//   ws::Socket server = co_await ws::connect("wss://example.org/chat");
//   co_await server.send("hello");
//   auto answer = co_await server.recv();
//   co_await server.close();
#pragma once

#include <string>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/core/async_result.hpp"
#include "rouse/http/ws_options.hpp"
#include "rouse/http/ws_socket.hpp"
#include "rouse/io/any_connection.hpp"

namespace rouse::http::ws {

/// Connects to a ws:// or wss:// URL, and completes when the server has accepted. (For another
/// ClientConfig of TLS than the default one connect a tls::Stream, and use the other overload.)
/// Cancel safety: dropping it closes the connection.
/// Threads: tasks of a runtime.
/// Errors: Error::bad_url; those of TcpStream::connect and of tls::Connector; Error::refused if the
/// answer is no acceptance; std::errc::timed_out after ConnectOptions::connect_time;
/// DeadlineError::passed.
[[nodiscard]] ROUSE_API AsyncResult<Socket> connect(std::string url,
                                                    ConnectOptions options = ConnectOptions());

/// The same over a stream that is connected: `host` is what the Host field says ("example.org"),
/// `target` a path, perhaps with a query.
[[nodiscard]] ROUSE_API AsyncResult<Socket> connect(io::AnyConnection stream, std::string host,
                                                    std::string target,
                                                    ConnectOptions options = ConnectOptions());

}  // namespace rouse::http::ws
