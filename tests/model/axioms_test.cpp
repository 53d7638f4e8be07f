// The engine against the axioms of C++20, and its search against one that prunes nothing: on random
// programs, each way must give exactly the same outcomes.
#include "axioms.hpp"

#include <gtest/gtest.h>

namespace rouse::model {
namespace {

struct Shape {
  std::size_t threads;
  std::size_t instructions;
  std::uint32_t programs;
};

class OnRandomPrograms : public ::testing::TestWithParam<Shape> {
 protected:
  template <class Check>
  void for_each_program(Check check) {
    for (std::uint32_t seed = 1; seed <= GetParam().programs && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      check(program_of(seed, GetParam().threads, GetParam().instructions));
    }
  }
};

TEST_P(OnRandomPrograms, TheEngineHasExactlyTheOutcomesOfTheAxioms) {
  for_each_program([](const SmallProgram& program) {
    EXPECT_EQ(outcomes_of(program, {.preemption_bound = Options::unbounded}),
              Axioms::outcomes_of(program))
        << program.text();
  });
}

TEST_P(OnRandomPrograms, PruningLosesNothing) {
  for_each_program([](const SmallProgram& program) {
    for (const unsigned bound : {0U, 1U, 2U, Options::unbounded}) {
      SCOPED_TRACE("bound " + std::to_string(bound));
      EXPECT_EQ(outcomes_of(program, {.preemption_bound = bound}),
                outcomes_of(program, {.preemption_bound = bound, .prune = false}))
          << program.text();
      EXPECT_EQ(
          outcomes_of(program, {.preemption_bound = bound, .old_value_bound = 1}),
          outcomes_of(program, {.preemption_bound = bound, .old_value_bound = 1, .prune = false}))
          << program.text();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, OnRandomPrograms,
                         ::testing::Values(Shape{2, 3, 300}, Shape{3, 2, 80}, Shape{2, 4, 40}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.threads) + "ThreadsOf" +
                                  std::to_string(shape.param.instructions);
                         });

}  // namespace
}  // namespace rouse::model
