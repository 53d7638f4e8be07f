// Runs one random program from its start to the end of its runtimes.
#pragma once

#include "random/plan.hpp"

namespace rouse::random_program {

/// Aborts if it leaves anything behind.
void run(const Plan& plan);

/// So many percent of the threads that rouse starts from now on can't be started: which ones is
/// chosen by the seed.
void fail_threads(unsigned percent, std::uint64_t seed) noexcept;

}  // namespace rouse::random_program
