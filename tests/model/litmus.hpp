// Outcomes: which results the executions of a litmus test have had.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "rouse/model/model.hpp"

namespace rouse::model {

/// "1 0" for the results 1 and 0.
using Outcomes = std::set<std::string>;

class Litmus {
 public:
  /// In the body, at its end: this execution's result.
  void saw(const std::vector<int>& results) {
    std::string text;
    for (const int result : results) text += (text.empty() ? "" : " ") + std::to_string(result);
    outcomes_.insert(text);
  }
  void saw(std::initializer_list<int> results) {
    outside([&] { saw(std::vector<int>(results)); });
  }
  [[nodiscard]] const Outcomes& outcomes() const { return outcomes_; }

 private:
  Outcomes outcomes_;
};

/// Every outcome of the body, which gets the Litmus to tell its result to. All preemptions.
template <class Body>
Outcomes outcomes_of(Body body) {
  Litmus litmus;
  const Report report = explore([&] { body(litmus); }, {.preemption_bound = Options::unbounded});
  if (report.finding) return {report.summary()};
  if (!report.complete) return {"not complete"};
  return litmus.outcomes();
}

}  // namespace rouse::model
