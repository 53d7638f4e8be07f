// Only with address sanitizer, and clang: a coroutine that borrows a variable of another coroutine,
// by a reference, a pointer or a view, must not outlive that one. If it does, the program is
// stopped with both lines when the variable goes, before anybody reads it.
//
// The promise sees the parameters, notes what addresses they borrow, and forgets them when it ends.
// The memory of a frame is freed after all its variables and parameters are gone: whoever has then
// noted an address in it has outlived it. What lies elsewhere, on a stack or in an object of its
// own, can't be known.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/construct.hpp"
#include "rouse/core/internal/borrow.hpp"
#include "rouse/core/internal/frame.hpp"

namespace rouse::internal {

/// `borrower` borrows what is at `address`.
ROUSE_API void note_borrow(const void* address, const Frame& borrower);
ROUSE_API void forget_borrow(const void* address, const Frame& borrower) noexcept;
/// The block is new: who noted an address in it borrows what is gone, and was no frame's.
ROUSE_API void forget_borrows_of(const void* block, std::size_t size) noexcept;
/// The variables of the frame are gone, its parameters not yet.
ROUSE_API void frame_ends(const Frame& frame) noexcept;
/// Parameters, too: aborts with a message if somebody still borrows one or the other.
ROUSE_API void refuse_borrowers_of(const void* block, std::size_t size) noexcept;

/// Where what a parameter of type P borrows is; null if it borrows nothing, or nobody knows.
template <class P, class Given>
const void* borrowed_address(Given& given) noexcept {
  using T = std::remove_cvref_t<P>;
  if constexpr (!is_borrow<P>) {
    return nullptr;
  } else if constexpr (std::is_reference_v<P>) {
    return const_cast<const void*>(static_cast<const volatile void*>(address_of(given)));
  } else if constexpr (std::is_pointer_v<T>) {
    return const_cast<const void*>(static_cast<const volatile void*>(given));
  } else if constexpr (requires { given.get(); }) {
    return &given.get();
  } else if constexpr (requires { static_cast<const void*>(given.data()); }) {
    return given.data();
  } else {
    return nullptr;
  }
}

/// What parameters of these types borrow.
template <class... Parameters>
struct BorrowedBy {
  template <class Addresses, class... Given>
  static void get(Addresses& addresses, Given&... given) noexcept {
    addresses = {borrowed_address<Parameters>(given)...};
  }
};
template <class Object, class... Parameters>
struct BorrowedBy<Object, Parameters...> {
  template <class Addresses, class... Given>
  static void get(Addresses& addresses, Given&... given) noexcept {
    if constexpr (sizeof...(Given) == sizeof...(Parameters)) {  // a lambda: clang omits its object
      addresses = {borrowed_address<Parameters>(given)...};
    } else {
      get_all(addresses, given...);
    }
  }
  template <class Addresses, class First, class... Given>
  static void get_all(Addresses& addresses, First& first, Given&... given) noexcept {
    addresses = {borrowed_address<Object>(first), borrowed_address<Parameters>(given)...};
  }
};

/// `Promise` is that of an Async with these parameters.
template <class Promise, class... Parameters>
class CheckedPromise : public Promise {
 public:
  template <class... Given>
  explicit CheckedPromise(Given&... given) : Promise((is_borrow<Parameters> || ...)) {
    BorrowedBy<Parameters...>::get(borrowed_, given...);
    for (const void* address : borrowed_) {
      if (address != nullptr) note_borrow(address, *this);
    }
  }
  CheckedPromise(const CheckedPromise&) = delete;
  CheckedPromise& operator=(const CheckedPromise&) = delete;
  ~CheckedPromise() {
    for (const void* address : borrowed_) {
      if (address != nullptr) forget_borrow(address, *this);
    }
    frame_ends(*this);
  }

  static void* operator new(std::size_t size) {
    void* const frame = Promise::operator new(size);
    forget_borrows_of(frame, size);
    return frame;
  }
  static void operator delete(void* frame, std::size_t size) noexcept {
    refuse_borrowers_of(frame, size);
    Promise::operator delete(frame, size);
  }

 private:
  std::array<const void*, sizeof...(Parameters)> borrowed_{};
};

}  // namespace rouse::internal
