// A BufStream over something that can't be written.
// EXPECT-ERROR: BufStream needs a stream that is a rouse::AsyncRead and a rouse::AsyncWrite
#include "rouse/io/buf_stream.hpp"
#include "rouse/io/duplex.hpp"
#include "rouse/io/simplex.hpp"

void use(rouse::io::SimplexReader& reader, rouse::io::DuplexStream& both) {
#ifdef FIXED
  rouse::io::BufStream buffered(both);
#else
  rouse::io::BufStream buffered(reader);
#endif
  static_cast<void>(buffered);
  static_cast<void>(reader);
  static_cast<void>(both);
}
