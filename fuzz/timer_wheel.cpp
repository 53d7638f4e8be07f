// TimerWheel against a map from tick to nodes in the order they were inserted: insert, cancel,
// move, advance and pop in any order. Time may stop midway because there is too much to deal out,
// and due nodes may be left for later, as Timers does both. No node is early, late, lost, or out of
// order.
#include "time/timer_wheel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "input.hpp"

namespace rouse::fuzz {

using namespace internal;
namespace {

using time::Instant;
using time::Nanoseconds;
using Key = std::pair<std::uint64_t, std::uint64_t>;  // the tick; the number of the insertion

class Node : public WheelNode {
 public:
  explicit Node(Instant due) noexcept : WheelNode(due) {}
  Key key;  // in the model
};

class Run {
 public:
  explicit Run(Input& input) : input_(input) {
    now_ = input.flag() ? input.number(6) % last_tick : 0;
    wheel_.restart(now_);
  }

  void step() {
    using Operation = void (Run::*)();
    static constexpr std::array<Operation, 8> operations{
        &Run::insert, &Run::insert, &Run::insert_many, &Run::cancel,
        &Run::move,   &Run::pop,    &Run::advance,     &Run::advance_to_next};
    (this->*operations.at(input_.below(operations.size())))();
    require(wheel_.size() == nodes_.size() && wheel_.empty() == nodes_.empty(),
            "the wheel knows how many nodes it has");
    require(wheel_.peek() == (model_.empty() ? nullptr : model_.begin()->second),
            "peek gives the node that comes next");
    if (model_.empty()) return;
    const std::uint64_t first = model_.begin()->first.first;
    if (first > now_ && !wheel_.is_dealing()) {
      require(wheel_.next_tick() > now_, "nobody is called before there is something to do");
    }
    if (first <= last_tick)
      require(wheel_.next_tick() <= std::max(first, now_), "next_tick lets nobody be late");
    if (first > last_tick && !wheel_.is_dealing()) {
      require(wheel_.next_tick() == TimerWheel::never, "after the last tick nothing comes");
    }
  }
  /// Takes all that is left, by time or in any order.
  void finish() {
    if (input_.flag()) {
      go_to(last_tick, SIZE_MAX);
      pop_up_to(SIZE_MAX);
      require(model_.empty() || model_.begin()->first.first > last_tick, "all had their time");
    }
    while (WheelNode* popped = wheel_.pop_any()) {
      auto& node = static_cast<Node&>(*popped);
      require(model_.erase(node.key) == 1, "pop_any gives each node once");
    }
    require(model_.empty() && wheel_.empty(), "pop_any gives all nodes");
    require(wheel_.next_tick() == TimerWheel::never, "nothing is next");
  }

 private:
  static inline const std::uint64_t last_tick = TimerWheel::tick_before(Instant::max());

  /// Near ones, the edges of slots, any at all, and the last and first there are.
  Instant deadline() {
    const std::uint64_t kind = input_.byte();
    std::uint64_t distance = 0;
    switch (kind % 8) {
      case 0:
        return Instant(Nanoseconds(static_cast<std::int64_t>(input_.number(8))));
      case 1:
        return kind < 128 ? Instant::max() : Instant::min();
      case 2:
      case 3:
        distance = (std::uint64_t{1} << (kind / 8)) - 1 + input_.below(3);
        break;
      case 4:
        distance = input_.number(4);
        break;
      default:
        distance = input_.number(kind / 128 + 1);
    }
    const std::uint64_t tick = std::min(now_ + distance, last_tick);
    return time::add(TimerWheel::time_of(tick), -Nanoseconds(tick == 0 ? 0 : input_.byte()));
  }

  void put(Node& node) {
    wheel_.insert(node);
    // One that is due at once comes after those that were due before.
    const std::uint64_t tick = std::max(TimerWheel::tick_after(node.deadline), now_);
    node.key = Key(tick, ++insertions_);
    model_.emplace(node.key, &node);
  }
  void insert_at(Instant at) {
    nodes_.push_back(std::make_unique<Node>(at));
    put(*nodes_.back());
  }
  void insert() { insert_at(deadline()); }
  void insert_many() {
    const Instant first = deadline();
    const Nanoseconds step(input_.number(4));
    Instant at = first;
    for (std::size_t count = input_.below(32); count != 0; --count, at = time::add(at, step)) {
      insert_at(at);
    }
  }
  void forget(std::size_t index) {
    std::swap(nodes_[index], nodes_.back());
    nodes_.pop_back();
  }
  std::size_t any() { return input_.number(2) % nodes_.size(); }
  void cancel() {
    if (nodes_.empty()) return;
    const std::size_t index = any();
    wheel_.remove(*nodes_[index]);
    require(model_.erase(nodes_[index]->key) == 1, "a node is in the model until it is out");
    forget(index);
  }
  void move() {
    if (nodes_.empty()) return;
    Node& node = *nodes_[any()];
    wheel_.remove(node);
    model_.erase(node.key);
    node.deadline = deadline();
    put(node);
  }
  void pop_up_to(std::size_t count) {
    for (; count != 0; --count) {
      WheelNode* popped = wheel_.pop_due();
      const bool is_due = !model_.empty() && model_.begin()->first.first <= now_;
      require(is_due == (popped != nullptr), "neither early nor late");
      if (popped == nullptr) return;
      require(model_.begin()->second == popped, "in the order of ticks, then of insertion");
      model_.erase(model_.begin());
      const auto found = std::ranges::find(
          nodes_, popped, [](const auto& node) { return static_cast<WheelNode*>(node.get()); });
      forget(static_cast<std::size_t>(found - nodes_.begin()));
    }
  }
  void pop() { pop_up_to(1 + input_.below(64)); }

  void go_to(std::uint64_t tick, std::size_t moves) {
    if (wheel_.advance(tick, moves)) {
      now_ = std::max(now_, tick);
      return;
    }
    require(wheel_.is_dealing(), "time stops midway only if there is something to deal out");
    const std::uint64_t stopped = wheel_.next_tick();
    require(stopped >= now_ && stopped < tick, "and then before what it was to reach");
    now_ = stopped;
  }
  void advance() {
    const std::uint64_t by = input_.number(1 + input_.below(5));
    const std::size_t moves = input_.flag() ? SIZE_MAX : input_.below(64);
    go_to(std::min(now_ + by, last_tick), moves);
  }
  void advance_to_next() {
    const std::uint64_t next = wheel_.next_tick();
    if (next != TimerWheel::never) go_to(next, SIZE_MAX);
  }

  Input& input_;
  TimerWheel wheel_;
  std::uint64_t now_ = 0;
  std::uint64_t insertions_ = 0;
  std::map<Key, Node*> model_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace
}  // namespace rouse::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rouse::fuzz::Input input(data, size);
  rouse::fuzz::Run run(input);
  while (!input.empty()) run.step();
  run.finish();
  return 0;
}
