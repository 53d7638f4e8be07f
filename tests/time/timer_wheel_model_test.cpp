// The wheel against a model that is obviously right: a map from tick to the nodes in the order they
// were inserted. Operations in random order, from many seeds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "time/timer_wheel.hpp"

namespace rouse::time {

using namespace internal;
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;  // the tick; the number of the insertion

class Node : public WheelNode {
 public:
  explicit Node(Instant due) noexcept : WheelNode(due) {}
  Key key;                // in the model
  std::size_t index = 0;  // in `live_`
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void step() {
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
        return advance();
      case 3:
      case 4:
      case 5:
      case 6:
        return remove();
      default:
        return insert();
    }
  }
  std::size_t fired() const { return fired_; }
  void finish() {
    now_ = TimerWheel::tick_after(Instant::max());
    while (!wheel_.advance(now_, 1000)) {
    }
    take_due();
    EXPECT_TRUE(wheel_.empty());
    EXPECT_TRUE(model_.empty());
    EXPECT_EQ(wheel_.next_tick(), TimerWheel::never);
  }

 private:
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  /// Near ones are more frequent, and edges of slots.
  std::uint64_t distance() {
    const std::uint64_t wide = std::uint64_t{1} << pick(36);
    return pick(4) == 0 ? wide - 1 + pick(3) : pick(wide) + pick(3);
  }

  void insert() {
    const std::uint64_t tick = now_ + distance();
    const auto ns = static_cast<std::int64_t>(tick * 1'000'000 - (tick == 0 ? 0 : pick(1'000'000)));
    auto node = std::make_unique<Node>(Instant(Nanoseconds(ns)));
    ASSERT_EQ(TimerWheel::tick_after(node->deadline), tick);
    node->index = live_.size();
    wheel_.insert(*node);
    // One that is due at once comes after those that were due before.
    node->key = std::pair(std::max(tick, now_), next_number_++);
    model_.emplace(node->key, node.get());
    live_.push_back(std::move(node));
  }
  void remove() {
    if (live_.empty()) return;
    Node& node = *live_[pick(live_.size())];
    wheel_.remove(node);
    ASSERT_EQ(model_.erase(node.key), 1U);
    forget(node);
  }
  void advance() {
    now_ += pick(2) == 0 ? distance() % 4096 : pick(300);
    const std::size_t moves = pick(2) == 0 ? SIZE_MAX : 1 + pick(50);
    if (!model_.empty()) {
      // What the wheel says about the next tick lets nobody come late.
      EXPECT_LE(wheel_.next_tick(), model_.begin()->first.first);
    }
    while (!wheel_.advance(now_, moves)) {
    }
    take_due();
  }
  void take_due() {
    while (WheelNode* popped = wheel_.pop_due()) {
      auto& node = static_cast<Node&>(*popped);
      ASSERT_FALSE(model_.empty());
      ASSERT_EQ(model_.begin()->second, &node) << "not the one that is next";
      ASSERT_LE(model_.begin()->first.first, now_) << "early";
      model_.erase(model_.begin());
      forget(node);
      ++fired_;
    }
    ASSERT_TRUE(model_.empty() || model_.begin()->first.first > now_) << "late";
    ASSERT_EQ(wheel_.size(), live_.size());
  }
  void forget(Node& node) {
    const std::size_t index = node.index;
    std::swap(live_[index], live_.back());
    live_[index]->index = index;
    live_.pop_back();
  }

  std::mt19937_64 random_;
  TimerWheel wheel_;
  std::uint64_t now_ = 0;
  std::uint64_t next_number_ = 0;
  std::size_t fired_ = 0;
  std::map<Key, Node*> model_;
  std::vector<std::unique_ptr<Node>> live_;
};

/// ROUSE_STRESS=1 makes it ten million operations.
TEST(TheWheelAndAModel, AgreeAfterEachOfManyRandomOperations) {
  const bool stress = std::getenv("ROUSE_STRESS") != nullptr;
  const int seeds = stress ? 1000 : 30;
  std::size_t fired = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    Model model(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < 10'000; ++i) {
      model.step();
      if (HasFatalFailure()) return;
    }
    model.finish();
    if (HasFailure()) return;
    fired += model.fired();
  }
  EXPECT_GT(fired, static_cast<std::size_t>(seeds) * 1000);
}

}  // namespace
}  // namespace rouse::time
