// Compilers misalign padded objects inside a coroutine frame.
// EXPECT-ERROR: Async<T> of an over-aligned T: .* return it through std::unique_ptr
#include <memory>

#include "rouse/core/async.hpp"

struct alignas(64) Padded {
  Padded() noexcept {}
  int value = 0;
};

#ifndef FIXED
rouse::Async<Padded> make() { co_return Padded(); }
#else
rouse::Async<std::unique_ptr<Padded>> make() { co_return std::make_unique<Padded>(); }
#endif
