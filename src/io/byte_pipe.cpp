#include "rouse/io/internal/byte_pipe.hpp"

#include <algorithm>
#include <cstring>

#include "rouse/base/assert.hpp"

namespace rouse::internal {

BytePipe::BytePipe(std::size_t capacity) : capacity_(capacity), ring_(new std::byte[capacity]) {
  ROUSE_ASSERT(capacity > 0, "a pipe without room for a byte passes none: give it a capacity");
}

std::size_t BytePipe::take(std::span<std::byte> buf) noexcept {
  const std::size_t read = read_.load(memory_order_relaxed);
  // ORDER: acquire; sees the bytes that were written.
  const std::size_t written = written_.load(memory_order_acquire);
  const std::size_t n = std::min(buf.size(), written - read);
  if (n == 0) return 0;
  const std::size_t from = read % capacity_;
  const std::size_t until_wrap = std::min(n, capacity_ - from);
  std::memcpy(buf.data(), ring_.get() + from, until_wrap);
  std::memcpy(buf.data() + until_wrap, ring_.get(), n - until_wrap);
  read_.store(read + n, memory_order_release);  // ORDER: release; the bytes were copied out.
  writer_.wake();
  return n;
}

std::size_t BytePipe::put(std::span<const std::byte> data) noexcept {
  const std::size_t written = written_.load(memory_order_relaxed);
  // ORDER: acquire; the reader has copied out what is overwritten here.
  const std::size_t read = read_.load(memory_order_acquire);
  const std::size_t n = std::min(data.size(), capacity_ - (written - read));
  if (n == 0) return 0;
  const std::size_t to = written % capacity_;
  const std::size_t until_wrap = std::min(n, capacity_ - to);
  std::memcpy(ring_.get() + to, data.data(), until_wrap);
  std::memcpy(ring_.get(), data.data() + until_wrap, n - until_wrap);
  written_.store(written + n, memory_order_release);  // ORDER: release; publishes the bytes.
  reader_.wake();
  return n;
}

bool BytePipe::is_broken() const noexcept {
  return writing_ended_.load(memory_order_relaxed) || reading_ended_.load(memory_order_relaxed);
}

Poll<Result<std::size_t>> BytePipe::poll_read(Context& cx, std::span<std::byte> buf) {
  using Polled = Poll<Result<std::size_t>>;
  if (buf.empty()) return Polled::ready(std::size_t{0});
  if (!cx.take_budget()) return pending;
  if (const std::size_t n = take(buf)) return Polled::ready(n);
  reader_.register_waker(cx.waker());
  // ORDER: acquire; sees all that was written before the end.
  const bool ended = writing_ended_.load(memory_order_acquire);
  const std::size_t n = take(buf);
  if (n == 0 && !ended) return pending;
  reader_.take();
  return Polled::ready(n);
}

Poll<Result<std::size_t>> BytePipe::poll_write(Context& cx, std::span<const std::byte> data) {
  using Polled = Poll<Result<std::size_t>>;
  if (is_broken()) return Polled::ready(std::errc::broken_pipe);
  if (data.empty()) return Polled::ready(std::size_t{0});
  if (!cx.take_budget()) return pending;
  if (const std::size_t n = put(data)) return Polled::ready(n);
  writer_.register_waker(cx.waker());
  if (is_broken()) {
    writer_.take();
    return Polled::ready(std::errc::broken_pipe);
  }
  const std::size_t n = put(data);
  if (n == 0) return pending;
  writer_.take();
  return Polled::ready(n);
}

void BytePipe::end_writing() noexcept {
  writing_ended_.store(true, memory_order_release);  // ORDER: release; after all that was written.
  reader_.wake();
}

void BytePipe::end_reading() noexcept {
  reading_ended_.store(true, memory_order_relaxed);
  writer_.wake();
}

}  // namespace rouse::internal
