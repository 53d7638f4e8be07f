// The Future concept: anything with an `Output` type and a `poll`.
//
// Contract: a future that returns pending has stored the waker of the latest context; whoever makes
// progress possible calls wake(). A future is not polled after it was ready. It may be moved until
// its first poll, never after. Destroying it at any point cancels it.
#pragma once

#include <concepts>
#include <type_traits>

#include "rouse/core/context.hpp"
#include "rouse/core/poll.hpp"

namespace rouse {

template <class F>
concept Future = requires(F& future, Context& cx) {
  typename F::Output;
  { future.poll(cx) } -> std::same_as<Poll<typename F::Output>>;
};

/// What a future gives when it is ready.
template <Future F>
using output_t = typename F::Output;

/// The output, or void if F is not a future: for functions that report this with a static_assert.
template <class F>
struct OutputOrVoid {
  using type = void;
};
template <Future F>
struct OutputOrVoid<F> {
  using type = output_t<F>;
};
template <class F>
using output_or_void_t = typename OutputOrVoid<std::remove_reference_t<F>>::type;

}  // namespace rouse
