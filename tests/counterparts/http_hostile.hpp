// Requests that two programs in a row might read differently. In each, "/c000" is the target of the
// first request, "/i000" too, where its body is not to be read, and "/s000" that of a request that
// must never be seen where it is a part of another.
#pragma once

#include <string>
#include <vector>

namespace rouse::test {

struct Hostile {
  std::string name;
  std::string bytes;
  /// The targets of the requests that a server reads whole when it gets these bytes itself.
  std::string seen;
};

std::vector<Hostile> hostile_requests();

}  // namespace rouse::test
