// The sys seam, datagrams: one at a time with an address, and many with one call. No call waits.
// See src/sys/README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rouse/base/internal/box.hpp"
#include "rouse/base/result.hpp"

#include "sys/address.hpp"

namespace rouse::sys {

enum class Take : std::uint8_t { away, peek };
/// The size that the datagram had, which may be more than `buf` has room for.
Result<std::size_t> receive_from(int fd, std::span<std::byte> buf, NativeAddress& from,
                                 Take take) noexcept;
Result<std::size_t> send_to(int fd, std::span<const std::byte> data,
                            const NativeAddress& to) noexcept;

/// What goes along with a datagram: the address of ours that it came to, or leaves from, and the
/// interface; and the size of each, if there are several in one buffer.
struct PacketInfo {
  std::array<std::uint8_t, 16> address{};
  std::size_t address_size = 0;  // 0: not known, 4, or 16
  std::uint32_t interface = 0;
  std::size_t segment_size = 0;
  bool is_v6 = false;  // of the socket, for sending
};
/// As receive_from. Fills in what the options of the socket ask for.
Result<std::size_t> receive_message(int fd, std::span<std::byte> buf, NativeAddress& from,
                                    PacketInfo& info) noexcept;
/// `to` may be null.
Result<std::size_t> send_message(int fd, std::span<const std::byte> data, const NativeAddress* to,
                                 const PacketInfo& info) noexcept;

enum class Membership : std::uint8_t { join, leave };
/// Bytes in the order in which they are sent; the interface by its address, or by its number.
Result<void> change_membership_v4(int fd, Membership change, std::span<const std::uint8_t> group,
                                  std::span<const std::uint8_t> interface) noexcept;
Result<void> change_membership_v6(int fd, Membership change, std::span<const std::uint8_t> group,
                                  std::uint32_t interface) noexcept;
Result<void> set_multicast_interface_v4(int fd, std::span<const std::uint8_t> interface) noexcept;

/// The system may have no room for what a network card has not sent yet: nothing tells when.
bool is_without_buffers(std::error_code error) noexcept;

/// Buffers of equal size for many datagrams, with their addresses. An index is below `capacity`.
class DatagramArray {
 public:
  /// Throws std::bad_alloc.
  static internal::Box<DatagramArray> make(std::size_t capacity, std::size_t datagram_size);
  virtual ~DatagramArray() = default;
  DatagramArray(const DatagramArray&) = delete;
  DatagramArray& operator=(const DatagramArray&) = delete;

  /// As many as there are, up to `capacity`, into the first places.
  virtual Result<std::size_t> receive(int fd) noexcept = 0;
  /// Those from `first` up to `end`: how many of them went out, at least one.
  virtual Result<std::size_t> send(int fd, std::size_t first, std::size_t end) noexcept = 0;

  [[nodiscard]] virtual std::span<std::byte> buffer(std::size_t i) noexcept = 0;
  /// Of a received one: the size that it had, which may be more than its buffer's.
  [[nodiscard]] virtual std::size_t full_size(std::size_t i) const noexcept = 0;
  [[nodiscard]] virtual NativeAddress address(std::size_t i) const noexcept = 0;
  /// What `send` sends: the first `size` bytes of the buffer; without an address to where the
  /// socket is connected.
  virtual void set(std::size_t i, std::size_t size, const NativeAddress* to) noexcept = 0;

 protected:
  DatagramArray() noexcept = default;
};

}  // namespace rouse::sys
