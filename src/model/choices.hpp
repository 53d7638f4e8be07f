// Choices: the decisions of one execution (who goes next, which store a load sees), and which ones
// come in the execution after it.
//
// Searching is depth first: an execution follows the decisions on the stack and takes the first
// alternative wherever the stack ends; `next` moves on to the next alternative of the deepest
// decision that has one. So every execution of the tree of decisions is run exactly once.
//
// Decisions are counted, also those without an alternative. A replay string holds the numbers of
// those that did not take the first alternative, and what they took: "17=1,23=2".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/hash.hpp"

namespace rouse::model {

class Choices {
 public:
  enum class Mode : std::uint8_t { search, random, replay };
  enum class About : std::uint8_t { thread, store };

  void begin(Mode mode, std::uint64_t seed = 0);
  /// False: the string is not one that `taken` made.
  bool begin_replay(std::string_view text);
  void begin_execution();

  /// One of `explored` alternatives, of which there are `all` in a replay. 0 is the first one.
  /// `history` is what led here: the same in each execution that made the same choices.
  std::size_t choose(About about, std::size_t explored, std::size_t all, Hash history);
  /// A decision with one alternative.
  void pass() noexcept { ++number_; }
  /// Whether this decision is one that a replay must make.
  [[nodiscard]] bool is_forced() const {
    return mode_ == Mode::replay && replay_.contains(number_);
  }
  /// Whether all that is on the stack was followed: from here on it is new.
  [[nodiscard]] bool is_new() const noexcept {
    return mode_ == Mode::search && depth_ == stack_.size();
  }
  [[nodiscard]] Mode mode() const noexcept { return mode_; }

  /// Whether the body decided otherwise than it did before with the same choices.
  [[nodiscard]] bool has_diverged() const noexcept { return diverged_; }
  /// What was decided, as a replay string.
  [[nodiscard]] std::string taken() const;
  /// Goes to the next execution of the search. False: that was the last one.
  bool next();

 private:
  struct Choice {
    std::uint32_t chosen;
    std::uint32_t count;
    Hash history;
  };
  struct Taken {
    std::uint64_t number;
    std::size_t chosen;
  };

  std::uint64_t random() noexcept;

  Mode mode_ = Mode::search;
  std::uint64_t random_state_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> replay_;
  std::vector<Choice> stack_;
  std::size_t depth_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Taken> taken_;
  bool diverged_ = false;
};

}  // namespace rouse::model
