// A handler that takes the stream by reference.
// EXPECT-ERROR: takes \(stream, peer\) or \(stream\) by value, and that gives a future
#include "rouse/net/serve.hpp"
#include "rouse/net/tcp_listener.hpp"

#ifdef FIXED
rouse::Async<void> handle(rouse::net::TcpStream) { co_return; }
#else
rouse::Async<void> handle(rouse::net::TcpStream&) { co_return; }
#endif

void use(rouse::net::TcpListener listener) { (void)rouse::net::serve(std::move(listener), handle); }
