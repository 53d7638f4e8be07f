// ShapeWalk: visits what a future waits for, as its shape tells (base/shape.hpp): the leaves, and
// the coroutines that wait for them. Nobody may poll the future meanwhile, but the thread that
// walks. Needs no memory, and its work is bounded.
//
// What it visits, in this order:
//
//   waiting := begin_waiting, [leaf | node], frame..., end_waiting       frames: innermost first
//   node    := begin_node, waiting..., end_node
#pragma once

#include <cstddef>

#include "rouse/base/internal/function_ref.hpp"
#include "rouse/base/shape.hpp"
#include "rouse/core/internal/frame.hpp"

namespace rouse::internal {

class ShapeWalk {
 public:
  ShapeWalk() noexcept = default;
  ShapeWalk(const ShapeWalk&) = delete;
  ShapeWalk& operator=(const ShapeWalk&) = delete;

  /// Visits a waiting.
  void walk(const sight::Shape& shape, const void* future);

  /// The value of a member that the shape names.
  template <class T>
  static const T& field(const sight::Shape& shape, const void* future, std::size_t index) noexcept {
    return *reinterpret_cast<const T*>(address_of(shape, future, index));
  }

 protected:
  ~ShapeWalk() = default;

  virtual void begin_waiting() {}
  virtual void end_waiting() {}
  virtual void leaf(const sight::Shape& shape, const void* future) = 0;
  virtual void begin_node(const sight::Shape&) {}
  virtual void end_node(const sight::Shape&) {}
  virtual void frame(const Frame& frame) = 0;
  /// There is more than it visits.
  virtual void cut() {}
  /// Calls `visit` if it finds out that the frame of a branch will not be destroyed meanwhile.
  virtual void with_branch(const void*, FunctionRef<void()>) {}

 private:
  static constexpr unsigned deepest = 256;  // what the stack of the sight thread has room for
  static constexpr std::size_t most_items = 4096;

  static const sight::Part& part_of(const sight::Shape& shape, std::size_t index) noexcept {
    return static_cast<const sight::Part*>(shape.parts)[index];
  }
  static const char* address_of(const sight::Shape& shape, const void* future,
                                std::size_t index) noexcept {
    return static_cast<const char*>(future) + part_of(shape, index).offset;
  }
  void visit(const sight::Shape& shape, const void* future, bool is_open);
  void visit_as_its_kind(const sight::Shape& shape, const void* future, bool is_open);
  void visit_part(const sight::Shape& shape, const void* future, std::size_t index, bool is_open);
  void visit_children(const sight::Shape& shape, const void* future, bool is_open);
  void visit_chain(const Frame& root);
  template <class Fn>
  void in_waiting(bool is_open, Fn fn);

  unsigned depth_ = 0;
  std::size_t items_ = 0;
};

}  // namespace rouse::internal
