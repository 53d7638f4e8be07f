// A ReaderStream over something that can't be read.
// EXPECT-ERROR: ReaderStream needs a rouse::AsyncRead
#include "rouse/io/reader_stream.hpp"
#include "rouse/io/simplex.hpp"

void use(rouse::io::SimplexReader& reader, rouse::io::SimplexWriter& writer) {
#ifdef FIXED
  rouse::io::ReaderStream chunks(reader);
#else
  rouse::io::ReaderStream chunks(writer);
#endif
  static_cast<void>(chunks);
  static_cast<void>(reader);
  static_cast<void>(writer);
}
