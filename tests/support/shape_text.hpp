// shape_of_future(future): what a future that was polled waits for, as text, and its leaves.
//
//   select(sleep, receive)          a node, its label and its children
//   sleep @2                        a leaf that two coroutines wait for, one in the other
//
// An opaque leaf is "?".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/shape_walk.hpp"

namespace rouse::test {

class ShapeText final : public internal::ShapeWalk {
 public:
  template <class F>
  explicit ShapeText(const F& future) {
    walk(internal::shape_of<F>, &future);
  }

  const std::string& text() const { return text_; }
  std::size_t leaves() const { return leaves_.size(); }
  sight::Wait kind(std::size_t leaf) const { return leaves_.at(leaf).shape->kind; }
  /// The member that the leaf names, the first if there are more.
  template <class T>
  const T& field(std::size_t leaf, std::size_t index = 0) const {
    return ShapeWalk::field<T>(*leaves_.at(leaf).shape, leaves_.at(leaf).future, index);
  }

 private:
  struct Found {
    const sight::Shape* shape;
    const void* future;
  };

  void begin_waiting() override {
    if (!text_.empty() && text_.back() != '(') text_ += ", ";
    frames_.push_back(0);
  }
  void end_waiting() override {
    if (frames_.back() != 0) text_ += " @" + std::to_string(frames_.back());
    frames_.pop_back();
  }
  void leaf(const sight::Shape& shape, const void* future) override {
    leaves_.push_back({&shape, future});
    text_ += shape.kind == sight::Wait::opaque ? "?" : shape.label;
  }
  void begin_node(const sight::Shape& shape) override { text_ += std::string(shape.label) + "("; }
  void end_node(const sight::Shape&) override { text_ += ")"; }
  void frame(const internal::Frame&) override { ++frames_.back(); }

  std::string text_;
  std::vector<int> frames_;
  std::vector<Found> leaves_;
};

template <class F>
ShapeText shape_of_future(const F& future) {
  return ShapeText(future);
}

}  // namespace rouse::test
