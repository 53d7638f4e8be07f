#include "random/plan.hpp"

#include <array>
#include <cstdio>

namespace rouse::random_program {
namespace {

constexpr std::array end_names{"destructor", "shutdown_timeout", "shutdown_background",
                               "shutdown_background in a task"};

unsigned one_of(Rng& rng, std::initializer_list<unsigned> choices) {
  return choices.begin()[rng.below(static_cast<unsigned>(choices.size()))];
}

}  // namespace

Plan::Plan(std::uint64_t of_seed) : seed(of_seed) {
  Rng rng(of_seed * 2 + 1);
  workers = rng.chance(15) ? 0 : rng.between(1, 4);
  other_workers = rng.chance(20) ? rng.between(1, 2) : 0;
  finite = rng.chance(25);
  end = workers == 0 ? End::destructor : static_cast<End>(one_of(rng, {0, 0, 0, 0, 1, 2, 3}));
  end_after = rng.micros(8000);
  other_end_after = rng.micros(8000);
  end_timeout = rng.micros(4000);
  // A program that must end by itself needs its threads: one that blocks in place waits for tasks.
  max_blocking = !finite && rng.chance(25) ? rng.between(1, 4) : 0;
  failing_thread = !finite && rng.chance(15) ? one_of(rng, {10, 50, 100}) : 0;
  // Who ends the runtime needs a thread, too: a task that ends it, and, if all of the runtime's
  // block, whoever destroys the tasks. That is the caller if it waits, else a new thread.
  if (failing_thread != 0 || (max_blocking != 0 && end == End::by_a_task)) end = End::destructor;
  budget = one_of(rng, {3, 10, 30, 100});
  roots = rng.between(1, 3);
  // Few kinds of steps at a time, often: what needs two of them to meet is rare among all.
  const unsigned density = one_of(rng, {15, 30, 60, 100});
  for (unsigned& weight : weights) weight = rng.chance(density) ? one_of(rng, {1, 1, 2, 5}) : 0;
}

std::string Plan::text() const {
  std::array<char, 400> line{};
  std::snprintf(line.data(), line.size(),
                "seed %llu: %u workers%s, %u in another runtime, %s, ended by %s after %lld us, "
                "max_blocking_threads %u, %u%% of threads fail, budget %u, %u roots",
                static_cast<unsigned long long>(seed), workers,
                workers == 0 ? " (current_thread)" : "", other_workers,
                finite ? "must end by itself" : "ended midway",
                end_names[static_cast<std::size_t>(end)], static_cast<long long>(end_after.count()),
                max_blocking, failing_thread, budget, roots);
  return line.data();
}

}  // namespace rouse::random_program
