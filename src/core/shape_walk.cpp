#include "core/shape_walk.hpp"

namespace rouse::internal {

using sight::Shape;
using sight::Wait;

void ShapeWalk::walk(const Shape& shape, const void* future) {
  in_waiting(false, [&] { visit(shape, future, true); });
}

/// `is_open`: what is visited is what the waiting that was begun waits for, else one of its own.
template <class Fn>
void ShapeWalk::in_waiting(bool is_open, Fn fn) {
  if (items_ == most_items) return cut();
  ++items_;
  if (!is_open) begin_waiting();
  fn();
  if (!is_open) end_waiting();
}

void ShapeWalk::visit(const Shape& shape, const void* future, bool is_open) {
  if (depth_ == deepest) return cut();
  ++depth_;
  visit_as_its_kind(shape, future, is_open);
  --depth_;
}

void ShapeWalk::visit_as_its_kind(const Shape& shape, const void* future, bool is_open) {
  switch (shape.kind) {
    case Wait::all_of:
    case Wait::any_of:
      return in_waiting(is_open, [&] {
        begin_node(shape);
        visit_children(shape, future, false);
        end_node(shape);
      });
    case Wait::one:
      if (shape.label == nullptr) return visit_children(shape, future, is_open);
      return in_waiting(is_open, [&] {
        begin_node(shape);
        visit_children(shape, future, false);
        end_node(shape);
      });
    case Wait::chain:
      if (const Frame* root = *static_cast<const Frame* const*>(future)) {
        in_waiting(is_open, [&] { visit_chain(*root); });
      }
      return;
    case Wait::branch:
      if (const Frame* root = field<const Frame*>(shape, future, 0)) {
        in_waiting(is_open, [&] {
          with_branch(field<const void*>(shape, future, 1), [&] { visit_chain(*root); });
        });
      }
      return;
    case Wait::pointer:
      if (const void* pointee = *static_cast<const void* const*>(future)) {
        visit(*part_of(shape, 0).shape, pointee, is_open);
      }
      return;
    case Wait::maybe:
      if (field<bool>(shape, future, 1)) visit_part(shape, future, 0, is_open);
      return;
    case Wait::erased:
      if (const auto* table = field<const Shape* const*>(shape, future, 0)) {
        visit(**table, address_of(shape, future, 1), is_open);
      }
      return;
    case Wait::array: {
      const char* child = field<const char*>(shape, future, 0);
      const Shape& of_child = *part_of(*part_of(shape, 0).shape, 0).shape;  // behind the pointer
      for (std::size_t left = field<std::size_t>(shape, future, 1); left != 0; --left) {
        if (items_ == most_items) return cut();
        visit(of_child, child, false);
        child += shape.size;
      }
      return;
    }
    case Wait::list:
      for (const void* node = future; node != nullptr; node = field<const void*>(shape, node, 1)) {
        if (items_ == most_items) return cut();
        visit_part(shape, node, 0, false);
      }
      return;
    default:
      return in_waiting(is_open, [&] { leaf(shape, future); });
  }
}

void ShapeWalk::visit_part(const Shape& shape, const void* future, std::size_t index,
                           bool is_open) {
  visit(*part_of(shape, index).shape, address_of(shape, future, index), is_open);
}

void ShapeWalk::visit_children(const Shape& shape, const void* future, bool is_open) {
  for (std::size_t i = 0; i < shape.count; ++i) visit_part(shape, future, i, is_open);
}

void ShapeWalk::visit_chain(const Frame& root) {
  if (const Leaf* leaf = root.leaf()) {
    const LeafType& type = *leaf->type;
    const void* future = leaf;
    if (type.future_offset != 0) {
      future = *reinterpret_cast<const void* const*>(reinterpret_cast<const char*>(leaf) +
                                                     type.future_offset);
    }
    visit(*type.shape, future, true);
  }
  root.visit_chain([this](const Frame& frame) { this->frame(frame); });
}

}  // namespace rouse::internal
