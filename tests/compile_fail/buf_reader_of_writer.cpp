// A BufReader over something that can't be read.
// EXPECT-ERROR: BufReader needs a rouse::AsyncRead
#include "rouse/io/buf_reader.hpp"
#include "rouse/io/simplex.hpp"

void use(rouse::io::SimplexReader& reader, rouse::io::SimplexWriter& writer) {
#ifdef FIXED
  rouse::io::BufReader buffered(reader);
#else
  rouse::io::BufReader buffered(writer);
#endif
  static_cast<void>(buffered);
  static_cast<void>(reader);
  static_cast<void>(writer);
}
