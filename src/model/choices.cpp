#include "model/choices.hpp"

#include <charconv>

namespace rouse::model {

void Choices::begin(Mode mode, std::uint64_t seed) {
  mode_ = mode;
  random_state_ = seed;
  replay_.clear();
  stack_.clear();
}

bool Choices::begin_replay(std::string_view text) {
  begin(Mode::replay);
  if (text == "-") return true;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::uint64_t number = 0;
    std::size_t chosen = 0;
    auto [equals, bad_number] = std::from_chars(at, end, number);
    if (bad_number != std::errc{} || equals == end || *equals != '=') return false;
    auto [comma, bad_choice] = std::from_chars(equals + 1, end, chosen);
    if (bad_choice != std::errc{}) return false;
    replay_.emplace(number, chosen);
    if (comma == end) return true;
    if (*comma != ',') return false;
    at = comma + 1;
  }
}

void Choices::begin_execution() {
  depth_ = 0;
  number_ = 0;
  taken_.clear();
  diverged_ = false;
}

std::size_t Choices::choose(About about, std::size_t explored, std::size_t all, Hash history) {
  const std::uint64_t number = number_++;
  std::size_t chosen = 0;
  if (mode_ == Mode::replay) {
    const auto forced = replay_.find(number);
    if (forced != replay_.end()) chosen = forced->second;
    if (chosen >= all) {
      diverged_ = true;
      chosen = 0;
    }
  } else if (explored > 1 && mode_ == Mode::random) {
    // Mostly as it would go without us: threads run on, loads see the newest.
    const std::uint64_t luck = random();
    const bool first = (luck >> 32U) % (about == About::thread ? 3 : 2) != 0;
    chosen = first ? 0 : luck % explored;
  } else if (explored > 1) {
    if (depth_ == stack_.size()) {
      stack_.push_back({0, static_cast<std::uint32_t>(explored), history});
    }
    const Choice& choice = stack_[depth_++];
    if (choice.count != explored || choice.history != history) diverged_ = true;
    chosen = choice.chosen < explored ? choice.chosen : 0;
  }
  if (chosen != 0) taken_.push_back({number, chosen});
  return chosen;
}

std::string Choices::taken() const {
  if (taken_.empty()) return "-";
  std::string text;
  for (const Taken& one : taken_) {
    if (!text.empty()) text += ',';
    text += std::to_string(one.number) + '=' + std::to_string(one.chosen);
  }
  return text;
}

bool Choices::next() {
  // An execution that was broken off may not have got to the end of the stack.
  stack_.resize(depth_);
  while (!stack_.empty() && stack_.back().chosen + 1 == stack_.back().count) stack_.pop_back();
  if (stack_.empty()) return false;
  ++stack_.back().chosen;
  return true;
}

std::uint64_t Choices::random() noexcept {  // splitmix64
  random_state_ += 0x9E37'79B9'7F4A'7C15U;
  std::uint64_t z = random_state_;
  z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return z ^ (z >> 31U);
}

}  // namespace rouse::model
