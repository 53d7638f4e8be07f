// An error that nobody looks at.
// EXPECT-ERROR: ignoring return(ed)? value
#include "rouse/base/result.hpp"

rouse::Result<int> parse() { return std::errc::invalid_argument; }

int value() {
#ifndef FIXED
  parse();
  return 0;
#else
  return parse().value_or(0);
#endif
}
