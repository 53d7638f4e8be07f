// A stream that is split is gone: that must be seen.
// EXPECT-ERROR: split takes the stream over: std::move\(stream\)\.split\(\)
#include "rouse/net/tcp_stream.hpp"

void use(rouse::net::TcpStream stream) {
#ifdef FIXED
  auto [reader, writer] = std::move(stream).split();
#else
  auto [reader, writer] = stream.split();
#endif
  (void)reader.peer_addr();
  (void)writer.peer_addr();
}
