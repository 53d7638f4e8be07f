// is_full_duplex<S>: whether a stream may be read on one thread while it is written on another:
// its poll_read and its poll_write share nothing that is not safe for that. Then `split` needs no
// lock. A stream says so where it is defined:
//
//   template <>
//   inline constexpr bool is_full_duplex<TcpStream> = true;
//
// A type-erased stream (io/any_connection.hpp) does not know before it runs. It has a member
// `bool is_full_duplex() const noexcept` for that, whose answer never changes.
#pragma once

namespace rouse::io {

template <class S>
inline constexpr bool is_full_duplex = false;

}  // namespace rouse::io
