// A StreamReader of a stream whose items hold no bytes.
// EXPECT-ERROR: StreamReader needs a stream whose items hold contiguous bytes
#include <string>
#include <vector>

#include "rouse/io/stream_reader.hpp"
#include "rouse/stream/iter.hpp"

void use(std::vector<int>& numbers, std::vector<std::string>& texts) {
#ifdef FIXED
  rouse::io::StreamReader reader(rouse::stream::iter(texts));
#else
  rouse::io::StreamReader reader(rouse::stream::iter(numbers));
#endif
  static_cast<void>(reader);
  static_cast<void>(numbers);
  static_cast<void>(texts);
}
