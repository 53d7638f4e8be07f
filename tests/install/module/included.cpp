// The other half of app.cpp: includes what that one imports.
#include <rouse/rouse.hpp>

rouse::Async<int> sum_of(rouse::sync::Receiver<int> numbers) {
  int sum = 0;
  while (auto number = co_await numbers.recv()) sum += *number;
  co_return sum;
}
