// DatagramBatch: many datagrams that are received, or sent, with one system call.
//
//   net::DatagramBatch batch(64, 1500);                 // room for 64 of up to 1500 bytes
//   co_await socket.recv_many(batch);                   // as many as there are, at least one
//   for (const net::DatagramBatch::Item& item : batch) use(item.data(), item.peer());
//
//   batch.clear();
//   for (const auto& peer : peers) batch.push("tick", peer);
//   co_await socket.send_many(batch);                   // all of them
//
// It owns its buffers, which are allocated once. Receiving, even if it fails, drops the old
// content.
// Threads: one task at a time.
#pragma once

#include <compare>
#include <cstddef>
#include <span>

#include "rouse/base/internal/attributes.hpp"
#include "rouse/base/internal/box.hpp"
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
    /// Its bytes.
    [[nodiscard]] std::span<const std::byte> data() const noexcept;
    /// The sender or destination; unnamed (SocketAddr::is_unnamed) if it goes to the connected
    /// peer.
    [[nodiscard]] SocketAddr peer() const;
    /// The size with which it was sent.
    [[nodiscard]] std::size_t full_size() const noexcept;
    /// Whether it was longer than the buffer: the rest is lost.
    [[nodiscard]] bool truncated() const noexcept { return full_size() > data().size(); }

   private:
    const DatagramBatch* batch_;
    std::size_t index_;
  };

  /// Over the datagrams, each as an Item.
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

  /// At most 1024: the system's limit per call. Throws std::length_error if the total size
  /// overflows.
  DatagramBatch(std::size_t capacity, std::size_t datagram_size);
  DatagramBatch(DatagramBatch&& other) noexcept;
  DatagramBatch& operator=(DatagramBatch&& other) noexcept;
  ~DatagramBatch();

  /// The maximum number of datagrams.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// The maximum size of a datagram.
  [[nodiscard]] std::size_t datagram_size() const noexcept { return datagram_size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Whether it is full.
  [[nodiscard]] bool full() const noexcept { return size_ == capacity_; }
  [[nodiscard]] Item operator[](std::size_t i) const noexcept ROUSE_LIFETIMEBOUND;
  [[nodiscard]] Iterator begin() const noexcept ROUSE_LIFETIMEBOUND { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept ROUSE_LIFETIMEBOUND { return {*this, size_}; }

  /// Removes all datagrams.
  void clear() noexcept { size_ = sent_ = 0; }
  /// Appends a copy of a datagram to send. False: the batch is full, or `data` is longer than
  /// `datagram_size`.
  [[nodiscard]] bool push(io::Buffer data, const SocketAddr& to) noexcept;
  /// To the connected peer.
  [[nodiscard]] bool push(io::Buffer data) noexcept;
  /// How many were sent so far; also valid after `send_many` failed or was dropped.
  [[nodiscard]] std::size_t sent() const noexcept { return sent_; }
  /// Skips the next datagram, for example one that was refused: it counts as sent.
  void skip() noexcept;

  // For the sockets: one call of the system.
  /// Receives what is there, without waiting. For the sockets.
  Result<std::size_t> receive_once(int fd) noexcept;
  /// Sends what was not sent yet, without waiting. For the sockets.
  Result<void> send_once(int fd) noexcept;

 private:
  bool push_with(io::Buffer data, const SocketAddr* to) noexcept;

  internal::Box<sys::DatagramArray> array_;
  std::size_t capacity_;
  std::size_t datagram_size_;
  std::size_t size_ = 0;
  std::size_t sent_ = 0;
};

}  // namespace rouse::net
