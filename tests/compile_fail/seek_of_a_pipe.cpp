// A seek in something without a position.
// EXPECT-ERROR: seek, stream_position and rewind need a rouse::AsyncSeek
#include "rouse/fs/file.hpp"
#include "rouse/io/seek.hpp"
#include "rouse/io/simplex.hpp"

void use(rouse::io::SimplexReader& pipe, rouse::fs::File& file) {
#ifdef FIXED
  auto seeking = rouse::io::rewind(file);
  static_cast<void>(seeking);
#else
  rouse::io::rewind(pipe);
#endif
  static_cast<void>(pipe);
  static_cast<void>(file);
}
