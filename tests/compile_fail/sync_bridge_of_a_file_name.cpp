// A SyncBridge over something that is no stream.
// EXPECT-ERROR: SyncBridge needs a rouse::AsyncRead or a rouse::AsyncWrite
#include <string>

#include "rouse/io/simplex.hpp"
#include "rouse/runtime/sync_bridge.hpp"

void use(std::string& name, rouse::io::SimplexReader& reader) {
#ifdef FIXED
  rouse::io::SyncBridge bridge(reader);
#else
  rouse::io::SyncBridge bridge(name);
#endif
  static_cast<void>(bridge);
  static_cast<void>(name);
  static_cast<void>(reader);
}
