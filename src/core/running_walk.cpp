#include "core/running_walk.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace rouse::internal {

using sight::Part;
using sight::Shape;
using sight::Wait;

namespace {

/// A copy of the bytes of a T, which may be none.
template <class T>
struct Bytes {
  const T& seen() const noexcept { return *std::launder(reinterpret_cast<const T*>(bytes)); }
  alignas(T) std::byte bytes[sizeof(T)];
};

const Part& part_of(const Shape& shape, std::size_t index) noexcept {
  return static_cast<const Part*>(shape.parts)[index];
}
const char* address_of(const Shape& shape, const void* future, std::size_t index) noexcept {
  return static_cast<const char*>(future) + part_of(shape, index).offset;
}
}  // namespace

void RunningWalk::walk(const Shape& shape, const void* future) noexcept {
  if (const Frame* const root = root_of(shape, future, 0)) add_chain(*root);
}

std::size_t RunningWalk::copy(
    std::span<std::source_location, most_inner + most_outer> out) const noexcept {
  std::size_t copied = 0;
  for (std::size_t i = count_; i > most_outer && copied < most_inner; --i) {
    out[copied++] = inner_[(i - 1) % most_inner];
  }
  for (std::size_t i = std::min(count_, most_outer); i > 0; --i) out[copied++] = outer_[i - 1];
  return copied;
}

void RunningWalk::add(const std::source_location& where) noexcept {
  if (count_ < most_outer) {
    outer_[count_] = where;
  } else {
    inner_[count_ % most_inner] = where;
  }
  ++count_;
}

/// The coroutine that the future is or wraps; null: it is none.
const Frame* RunningWalk::root_of(const Shape& shape, const void* future, unsigned depth) noexcept {
  if (depth == deepest) return nullptr;
  switch (shape.kind) {
    case Wait::chain: {
      const Frame* root = nullptr;
      return read(future, root) ? root : nullptr;
    }
    case Wait::branch: {
      const Frame* root = nullptr;
      return read(address_of(shape, future, 0), root) ? root : nullptr;
    }
    case Wait::one:
      if (shape.count != 1) return nullptr;
      return root_of(*part_of(shape, 0).shape, address_of(shape, future, 0), depth + 1);
    case Wait::pointer: {
      const void* pointee = nullptr;
      if (!read(future, pointee) || pointee == nullptr) return nullptr;
      return root_of(*part_of(shape, 0).shape, pointee, depth + 1);
    }
    case Wait::erased: {
      const void* table = nullptr;
      const void* type = nullptr;
      const void* place = address_of(shape, future, 1);
      if (!read(address_of(shape, future, 0), table) || !memory_.is_in_module(table))
        return nullptr;
      if (!read(table, type) || type == nullptr || !memory_.is_in_module(type)) return nullptr;
      return root_of(*static_cast<const Shape*>(type), place, depth + 1);
    }
    default:
      return nullptr;
  }
}

void RunningWalk::add_chain(const Frame& root) noexcept {
  const Frame* parent = nullptr;
  for (const Frame* at = &root; at != nullptr;) {
    Bytes<Frame> copy;
    if (!read(at, copy)) break;
    const Frame& frame = copy.seen();
    if (parent == nullptr ? !frame.is_running() : !frame.is_child_of(*parent)) break;
    if (!memory_.is_in_module(std::bit_cast<const void*>(frame.where()))) break;
    add(frame.where());
    const Frame* const* const owner = frame.awaited_owner();
    parent = at;
    if (owner == nullptr || !read(owner, at)) break;
  }
  if (left_ == 0) count_ = 0;  // too long to be known
}

}  // namespace rouse::internal
