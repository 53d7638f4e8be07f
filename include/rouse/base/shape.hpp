// Shape: what a future waits for, told by a constant table and not by code. So a dump need not
// poll, a debugger can read it from a core file, and a future that nobody looks at pays nothing.
//
// A future that says nothing is opaque: a dump names its type and ends there. One that waits for
// others, or for something that a dump can name, says so in one line:
//
//   ROUSE_SHAPE(Both, "both", all_of, &Both::first_, &Both::second_)      in class Both, public
//
// A node names the members that its children are in; a leaf names members that say what it waits
// for. Only members that nobody changes while the future waits may be named: a dump reads them
// between two polls, on another thread.
#pragma once

#include <cstddef>
#include <cstdint>

/// The shape of a future: its class, a label for people, a sight::Wait, pointers to members.
#define ROUSE_SHAPE(Self, label, kind, ...) ROUSE_SHAPE_OF(Self, label, kind, 0, __VA_ARGS__)
/// The same of a sight::Wait::array, whose children have that size.
#define ROUSE_SHAPE_OF(Self, label, kind, size, ...) \
  static constexpr auto shape() noexcept { \
    return ::rouse::internal::describe<Self, ::rouse::sight::Wait::kind>( \
        label, size __VA_OPT__(, ) __VA_ARGS__); \
  }

namespace rouse::sight {

/// What a future waits for. In brackets: the members that it names.
enum class Wait : std::uint8_t {
  opaque,  // nobody knows; the label is the compiler's name for a function of the type
  // Leaves.
  lock,        // a Mutex or a writer [a pointer to the lock, which begins with its Permits]
  shared,      // a reader [the same]
  permits,     // a semaphore [a pointer to it]
  receive,     // a channel: a message [a pointer to what both ends share]
  send,        // a channel: room [the same]
  notify,      // somebody who tells it [a pointer to what it is told through]
  cell,        // a value that is set once [a pointer to the cell]
  init,        // the same, by a task [a pointer to the cell, which begins with the task's tag]
  join,        // a task [a pointer to its TaskHeader]
  sleep,       // a time [a time::Instant]
  descriptor,  // I/O [an int]
  blocking,    // a call on another thread, a process, a signal
  turn,        // its next turn
  never,       // nothing: it waits for ever
  fork,        // children of `parallel` [a pointer to their BranchGroup]
  scope,       // children of `scope` [a pointer to what begins with such a pointer]
  // Nodes.
  all_of,   // all its children
  any_of,   // one of its children
  one,      // its child; without a label it is not even named
  chain,    // an Async, which is a pointer to a frame
  branch,   // a task of `parallel` or `scope` [a pointer to a frame, and to the BranchGroup]
  pointer,  // what it points to
  maybe,    // [a child, and a bool: whether it is there]
  erased,   // [a pointer to a table that begins with a pointer to the Shape of: the child]
  array,    // [a pointer to the first child, and how many there are: std::size_t]
  list,     // [a child, and a pointer to the next of the same shape]
};

struct Shape {
  const char* label;   ///< short, such as "join"; may be null
  const void* parts;   ///< `count` times Part
  std::uint32_t size;  ///< of a child of an array
  Wait kind;
  std::uint8_t count;
};

/// A member as it is read: a pointer to a member is its offset.
struct Part {
  std::ptrdiff_t offset;
  const Shape* shape;  ///< null if it is no child
};

}  // namespace rouse::sight

namespace rouse::internal {

/// Members as they are written, so that no cast is needed and nothing happens at run time.
template <class F, class... Members>
struct ShapeParts {};
template <class F, class Member, class... Members>
struct ShapeParts<F, Member, Members...> {
  Member F::* offset;
  const sight::Shape* shape;
  [[no_unique_address]] ShapeParts<F, Members...> rest;
};
template <class Parts>
struct Described {
  const char* label;
  sight::Wait kind;
  std::uint32_t size;
  Parts parts;
};

template <class F>
consteval const char* opaque_label() noexcept {
  return __STDC_HOSTED__ ? __PRETTY_FUNCTION__ : nullptr;
}
template <class F>
inline constexpr auto description_of = F::shape();
template <class F>
inline constexpr sight::Shape shape_of{opaque_label<F>(), nullptr, 0, sight::Wait::opaque, 0};
template <class F>
  requires requires { F::shape(); }
inline constexpr sight::Shape shape_of<F>{description_of<F>.label, &description_of<F>.parts,
                                          description_of<F>.size, description_of<F>.kind,
                                          sizeof(description_of<F>.parts) / sizeof(sight::Part)};
template <class F>
inline constexpr sight::Part part_behind_pointer{0, &shape_of<F>};
template <class F>
inline constexpr sight::Shape shape_of<F*>{nullptr, &part_behind_pointer<F>, 0,
                                           sight::Wait::pointer, 1};
template <class F>
inline constexpr sight::Shape shape_of<const F> = shape_of<F>;

/// Whether the member at this index is a child.
constexpr bool is_child(sight::Wait kind, std::size_t index) noexcept {
  using enum sight::Wait;
  if (kind == all_of || kind == any_of || kind == one) return true;
  return index == 0 && (kind == maybe || kind == array || kind == list);
}

template <class F, sight::Wait kind, std::size_t index>
constexpr ShapeParts<F> shape_parts() noexcept {
  return {};
}
template <class F, sight::Wait kind, std::size_t index, class Member, class... Members>
constexpr ShapeParts<F, Member, Members...> shape_parts(Member F::* first,
                                                        Members F::*... rest) noexcept {
  const sight::Shape* shape = nullptr;
  if constexpr (is_child(kind, index)) shape = &shape_of<Member>;
  return {first, shape, shape_parts<F, kind, index + 1>(rest...)};
}
template <class F, sight::Wait kind, class... Members>
constexpr auto describe(const char* label, std::uint32_t size, Members F::*... members) noexcept {
  return Described<ShapeParts<F, Members...>>{label, kind, size,
                                              shape_parts<F, kind, 0>(members...)};
}

}  // namespace rouse::internal
