// The C++20 memory model as axioms: every way in which the reads of a small program may be matched
// with writes, the writes of each location ordered, and the seq_cst operations ordered, is tried
// and held against the rules of [intro.races] and [atomics.order]. Nothing here is shared with the
// engine.
//
// One rule is added, and is what the engine is documented to leave out: there is no cycle of
// "sequenced before", "reads from" and S.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <numeric>
#include <vector>

#include "small_program.hpp"

namespace rouse::model {

class Axioms {
 public:
  static Outcomes outcomes_of(const SmallProgram& program) {
    Axioms axioms(program);
    axioms.match_read(0);
    return axioms.outcomes_;
  }

 private:
  static constexpr std::size_t most = 14;
  /// A relation between events: r[a][b] is whether a is before b.
  using Relation = std::array<std::bitset<most>, most>;

  struct Event {
    std::size_t thread;  // 0: an initial write
    Instruction what;
  };

  explicit Axioms(const SmallProgram& program) {
    for (std::size_t location = 0; location < SmallProgram::locations; ++location) {
      events_.push_back({0, {Instruction::Kind::store, std::memory_order_relaxed, location, 0}});
    }
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      for (const Instruction& one : program.threads[t]) events_.push_back({t + 1, one});
    }
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = a + 1; b < events_.size(); ++b) {
        sequenced_[a][b] = events_[a].thread == 0 ? events_[b].thread != 0
                                                  : events_[a].thread == events_[b].thread;
      }
      if (events_[a].what.reads()) reads_.push_back(a);
      if (events_[a].what.order == std::memory_order_seq_cst) strong_.push_back(a);
    }
    source_.assign(events_.size(), most);
  }

  // --- What is tried. ---

  void match_read(std::size_t number) {
    if (number == reads_.size()) return order_writes(0);
    const std::size_t read = reads_[number];
    for (std::size_t write = 0; write < events_.size(); ++write) {
      if (write == read || !events_[write].what.writes() || !same_location(read, write)) continue;
      source_[read] = write;
      match_read(number + 1);
    }
  }
  void order_writes(std::size_t location) {
    if (location == SmallProgram::locations) return order_strong();
    std::vector<std::size_t>& order = modification_[location];
    order.clear();
    for (std::size_t e = 0; e < events_.size(); ++e) {
      if (events_[e].what.writes() && events_[e].what.location == location) order.push_back(e);
    }
    do {
      if (updates_are_atomic(order)) order_writes(location + 1);
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }
  void order_strong() {
    Relation reads_from{};
    for (const std::size_t read : reads_) reads_from[source_[read]][read] = true;
    Relation causal = sequenced_;
    join(causal, reads_from);
    if (has_cycle(causal)) return;
    Relation before = sequenced_;
    join(before, synchronized());
    close(before);
    const Relation coherence = coherence_order(reads_from);
    if (!is_coherent(before, coherence)) return;

    const Relation demanded = demands_on_strong(before, coherence);
    std::vector<std::size_t> order = strong_;
    do {
      Relation with_strong = causal;
      bool as_demanded = true;
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j) {
          with_strong[order[i]][order[j]] = true;
          as_demanded = as_demanded && !demanded[order[j]][order[i]];
        }
      }
      if (as_demanded && !has_cycle(with_strong)) return add_outcome();
    } while (std::next_permutation(order.begin(), order.end()));
  }

  // --- The rules. ---

  bool updates_are_atomic(const std::vector<std::size_t>& order) const {
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (events_[order[i]].what.reads() && source_[order[i]] != order[i - 1]) return false;
    }
    return true;
  }

  Relation synchronized() const {
    Relation result{};
    for (const std::size_t read : reads_) {
      // The head of a release sequence, from its end backwards.
      for (std::size_t write = source_[read];; write = source_[write]) {
        for (std::size_t a = 0; a < events_.size(); ++a) {
          const bool begins = releases(a) && (a == write || (is_fence(a) && sequenced_[a][write]));
          for (std::size_t b = 0; begins && b < events_.size(); ++b) {
            if (acquires(b) && (b == read || (is_fence(b) && sequenced_[read][b]))) {
              result[a][b] = true;
            }
          }
        }
        if (!events_[write].what.reads()) break;
      }
    }
    return result;
  }

  /// Modification order, reads-from, reads-before, and what follows from them.
  Relation coherence_order(const Relation& reads_from) const {
    Relation result = reads_from;
    for (const auto& order : modification_) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j) {
          result[order[i]][order[j]] = true;
          for (const std::size_t read : reads_) {
            if (source_[read] == order[i] && read != order[j]) result[read][order[j]] = true;
          }
        }
      }
    }
    close(result);
    return result;
  }

  bool is_coherent(const Relation& before, const Relation& coherence) const {
    for (std::size_t a = 0; a < events_.size(); ++a) {
      if (before[a][a] || coherence[a][a]) return false;
      for (std::size_t b = 0; b < events_.size(); ++b) {
        if (before[a][b] && coherence[b][a]) return false;
      }
    }
    return true;
  }

  /// [atomics.order] 4.1 to 4.4.
  Relation demands_on_strong(const Relation& before, const Relation& coherence) const {
    Relation result{};
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = 0; b < events_.size(); ++b) {
        if (!coherence[a][b]) continue;
        for (const std::size_t x : strong_) {
          const bool stands_for_a = x == a || (is_fence(x) && before[x][a]);
          for (const std::size_t y : strong_) {
            const bool stands_for_b = y == b || (is_fence(y) && before[b][y]);
            if (stands_for_a && stands_for_b && x != y) result[x][y] = true;
          }
        }
      }
    }
    return result;
  }

  // --- Helpers. ---

  bool same_location(std::size_t a, std::size_t b) const {
    return events_[a].what.location == events_[b].what.location;
  }
  bool is_fence(std::size_t e) const { return events_[e].what.kind == Instruction::Kind::fence; }
  bool releases(std::size_t e) const {
    const auto order = events_[e].what.order;
    return (events_[e].what.writes() || is_fence(e)) &&
           (order == std::memory_order_release || order == std::memory_order_acq_rel ||
            order == std::memory_order_seq_cst);
  }
  bool acquires(std::size_t e) const {
    const auto order = events_[e].what.order;
    return (events_[e].what.reads() || is_fence(e)) &&
           (order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
            order == std::memory_order_seq_cst);
  }
  int value_of(std::size_t write) const {
    const Instruction& what = events_[write].what;
    return what.reads() ? value_of(source_[write]) + what.operand : what.operand;
  }
  void add_outcome() {
    std::string text;
    for (const std::size_t read : reads_) text += std::to_string(value_of(source_[read])) + " ";
    for (const auto& order : modification_) text += std::to_string(value_of(order.back())) + " ";
    text.pop_back();
    outcomes_.insert(text);
  }
  static void join(Relation& into, const Relation& other) {
    for (std::size_t i = 0; i < most; ++i) into[i] |= other[i];
  }
  static void close(Relation& relation) {
    for (std::size_t k = 0; k < most; ++k) {
      for (std::size_t i = 0; i < most; ++i) {
        if (relation[i][k]) relation[i] |= relation[k];
      }
    }
  }
  static bool has_cycle(Relation relation) {
    close(relation);
    for (std::size_t i = 0; i < most; ++i) {
      if (relation[i][i]) return true;
    }
    return false;
  }

  std::vector<Event> events_;
  Relation sequenced_{};
  std::vector<std::size_t> reads_;
  std::vector<std::size_t> strong_;
  std::vector<std::size_t> source_;  // of each read
  std::array<std::vector<std::size_t>, SmallProgram::locations> modification_;
  Outcomes outcomes_;
};

}  // namespace rouse::model
