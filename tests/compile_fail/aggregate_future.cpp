// GCC 12 destroys a temporary aggregate twice in a full expression with co_await.
// ONLY: gcc
// EXPECT-ERROR: GCC 12 destroys a temporary aggregate twice .*: give this future a constructor
#include <string>

#include "rouse/core/async.hpp"

struct Echo {
  using Output = std::string;
  std::string text;
#ifdef FIXED
  explicit Echo(std::string t) : text(std::move(t)) {}
#endif
  rouse::Poll<std::string> poll(rouse::Context&) { return rouse::Poll<std::string>::ready(text); }
};

rouse::Async<std::string> echo() { co_return co_await Echo{std::string("text")}; }
