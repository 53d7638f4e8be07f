// GCC 12 destroys a temporary aggregate twice in a full expression with co_yield.
// ONLY: gcc
// EXPECT-ERROR: GCC 12 destroys a temporary aggregate twice in a co_yield: give this type a
#include <string>
#include <utility>

#include "rouse/core/async_stream.hpp"

struct Line {
  std::string text;
#ifdef FIXED
  explicit Line(std::string t) : text(std::move(t)) {}
#endif
};

rouse::AsyncStream<Line> lines() { co_yield Line{std::string("text")}; }
