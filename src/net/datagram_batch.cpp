#include "rouse/net/datagram_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "rouse/base/assert.hpp"

#include "net/native_address.hpp"
#include "sys/datagram.hpp"

namespace rouse::net {
namespace {

internal::Box<sys::DatagramArray> make_array(std::size_t capacity, std::size_t datagram_size) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (datagram_size > 0 && capacity > most / datagram_size) {
    throw std::length_error("a DatagramBatch that is larger than the memory can be");
  }
  return sys::DatagramArray::make(capacity, datagram_size);
}

}  // namespace

DatagramBatch::DatagramBatch(std::size_t capacity, std::size_t datagram_size)
    : array_(make_array(capacity, datagram_size)),
      capacity_(capacity),
      datagram_size_(datagram_size) {
  ROUSE_ASSERT(capacity > 0, "a DatagramBatch without room: give it a capacity of at least 1");
}
DatagramBatch::DatagramBatch(DatagramBatch&& other) noexcept
    : array_(std::move(other.array_)),
      capacity_(std::exchange(other.capacity_, 0)),
      datagram_size_(other.datagram_size_),
      size_(std::exchange(other.size_, 0)),
      sent_(std::exchange(other.sent_, 0)) {}
DatagramBatch& DatagramBatch::operator=(DatagramBatch&& other) noexcept {
  array_ = std::move(other.array_);
  capacity_ = std::exchange(other.capacity_, 0);
  datagram_size_ = other.datagram_size_;
  size_ = std::exchange(other.size_, 0);
  sent_ = std::exchange(other.sent_, 0);
  return *this;
}
DatagramBatch::~DatagramBatch() = default;

DatagramBatch::Item DatagramBatch::operator[](std::size_t i) const noexcept {
  ROUSE_ASSERT(i < size_, "an index into a DatagramBatch that is not below its size()");
  return Item(*this, i);
}

std::span<const std::byte> DatagramBatch::Item::data() const noexcept {
  const std::span<std::byte> buffer = batch_->array_->buffer(index_);
  return buffer.first(std::min(buffer.size(), full_size()));
}
SocketAddr DatagramBatch::Item::peer() const {
  return from_native(batch_->array_->address(index_)).value();
}
std::size_t DatagramBatch::Item::full_size() const noexcept {
  return batch_->array_->full_size(index_);
}

bool DatagramBatch::push(io::Buffer data, const SocketAddr& to) noexcept {
  return push_with(data, &to);
}
bool DatagramBatch::push(io::Buffer data) noexcept { return push_with(data, nullptr); }

bool DatagramBatch::push_with(io::Buffer data, const SocketAddr* to) noexcept {
  if (full() || data.size() > datagram_size_) return false;
  if (!data.empty()) std::memcpy(array_->buffer(size_).data(), data.data(), data.size());
  if (to == nullptr) {
    array_->set(size_, data.size(), nullptr);
  } else {
    const sys::NativeAddress native = to_native(*to);
    array_->set(size_, data.size(), &native);
  }
  ++size_;
  return true;
}

void DatagramBatch::skip() noexcept {
  ROUSE_ASSERT(sent_ < size_, "skip() of a DatagramBatch of which all is sent");
  ++sent_;
}

Result<std::size_t> DatagramBatch::receive_once(int fd) noexcept {
  ROUSE_ASSERT(capacity_ > 0, "recv_many into a DatagramBatch that was moved from");
  Result<std::size_t> count = array_->receive(fd);
  if (!count) return count.error();
  size_ = *count;
  sent_ = size_;  // they are not for sending
  return count;
}

Result<void> DatagramBatch::send_once(int fd) noexcept {
  const Result<std::size_t> count = array_->send(fd, sent_, size_);
  if (!count) {
    const sys::NativeAddress to = array_->address(sent_);
    const bool is_unix = to.size != 0 && to.storage.ss_family == AF_UNIX;
    if (is_unix) return std::errc::address_family_not_supported;  // a size of its own misleads
    return count.error();
  }
  sent_ += *count;
  return {};
}

}  // namespace rouse::net
