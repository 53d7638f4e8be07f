// DatagramBatch: many datagrams that are received, or sent, with one call of the system.
//
//   net::DatagramBatch batch(64, 1500);                 // room for 64 of up to 1500 bytes
//   co_await socket.recv_many(batch);                   // as many as there are, at least one
//   for (const net::DatagramBatch::Item& item : batch) use(item.data(), item.peer());
//
//   batch.clear();
//   for (const auto& peer : peers) batch.push("tick", peer);
//   co_await socket.send_many(batch);                   // all of them
//
// It owns its buffers, which are made once; one task uses it at a time. Receiving, also if it
// fails, drops what was in it before.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>

#include "rouse/base/attributes.hpp"
#include "rouse/base/result.hpp"
#include "rouse/io/buffer.hpp"
#include "rouse/net/socket_addr.hpp"

namespace rouse::sys {
class DatagramArray;
}  // namespace rouse::sys

namespace rouse::net {

class ROUSE_API DatagramBatch {
 public:
  /// One datagram of a batch, valid until the batch is used for others.
  class ROUSE_API Item {
   public:
    Item(const DatagramBatch& batch, std::size_t index) noexcept : batch_(&batch), index_(index) {}
    [[nodiscard]] std::span<const std::byte> data() const noexcept;
    /// From where it came or where it goes; without a name (SocketAddr::is_unnamed) if it goes to
    /// where the socket is connected.
    [[nodiscard]] SocketAddr peer() const;
    /// The size that it had when it was sent.
    [[nodiscard]] std::size_t full_size() const noexcept;
    /// Whether it had more bytes than there was room for: the rest is lost.
    [[nodiscard]] bool truncated() const noexcept { return full_size() > data().size(); }

   private:
    const DatagramBatch* batch_;
    std::size_t index_;
  };

  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    Iterator() noexcept = default;
    Iterator(const DatagramBatch& batch, std::size_t index) noexcept
        : batch_(&batch), index_(index) {}
    Item operator*() const noexcept { return Item(*batch_, index_); }
    Iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    Iterator operator++(int) noexcept { return Iterator(*batch_, index_++); }
    friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

   private:
    const DatagramBatch* batch_ = nullptr;
    std::size_t index_ = 0;
  };

  /// Of what one call can take the system has a limit: 1024. Throws std::length_error if all of it
  /// is more than an address can tell.
  DatagramBatch(std::size_t capacity, std::size_t datagram_size);
  DatagramBatch(DatagramBatch&& other) noexcept;
  DatagramBatch& operator=(DatagramBatch&& other) noexcept;
  ~DatagramBatch();

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t datagram_size() const noexcept { return datagram_size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool full() const noexcept { return size_ == capacity_; }
  [[nodiscard]] Item operator[](std::size_t i) const noexcept ROUSE_LIFETIMEBOUND;
  [[nodiscard]] Iterator begin() const noexcept ROUSE_LIFETIMEBOUND { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept ROUSE_LIFETIMEBOUND { return {*this, size_}; }

  void clear() noexcept { size_ = sent_ = 0; }
  /// Copies a datagram to be sent to its end. False: it is full, or `data` is longer than
  /// `datagram_size`.
  [[nodiscard]] bool push(io::Buffer data, const SocketAddr& to) noexcept;
  /// To where the socket is connected.
  [[nodiscard]] bool push(io::Buffer data) noexcept;
  /// How many of them went out so far; also when `send_many` failed, or was dropped.
  [[nodiscard]] std::size_t sent() const noexcept { return sent_; }
  /// The next one, which was refused perhaps, counts as sent.
  void skip() noexcept;

  // For the sockets: one call of the system.
  Result<std::size_t> receive_once(int fd) noexcept;
  Result<void> send_once(int fd) noexcept;

 private:
  bool push_with(io::Buffer data, const SocketAddr* to) noexcept;

  std::unique_ptr<sys::DatagramArray> array_;
  std::size_t capacity_;
  std::size_t datagram_size_;
  std::size_t size_ = 0;
  std::size_t sent_ = 0;
};

}  // namespace rouse::net
