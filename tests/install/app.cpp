// The smallest program that needs the headers, the library and its thread support.
#include <rouse/rouse.hpp>

rouse::Async<int> answer() { co_return 42; }

int main() { return rouse::block_on(answer()) == 42 ? 0 : 1; }
