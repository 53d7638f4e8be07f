#include "io/reactor.hpp"

#include <bit>
#include <new>
#include <system_error>
#include <utility>

#include "rouse/io/error.hpp"

#include "base/recorder.hpp"

namespace rouse::internal {

using recorder::record;
using recorder::What;
namespace {

constinit thread_local Reactor* current_reactor = nullptr;

}  // namespace

Reactor* Reactor::current() noexcept { return current_reactor; }
Reactor* Reactor::exchange_current(Reactor* reactor) noexcept {
  return std::exchange(current_reactor, reactor);
}

RefPtr<Reactor> Reactor::make() {
  auto poller = sys::Poller::make();
  if (!poller) throw std::system_error(poller.error(), "rouse::Runtime: epoll");
  return RefPtr<Reactor>::adopt(new Reactor(*std::move(poller)));
}

Reactor::~Reactor() {
  for (auto& chunk : chunk_) delete[] chunk.load(memory_order_relaxed);
}

Result<IoSource*> Reactor::add(int fd, io::Interest interest) noexcept {
  IoSource* const source = take_slot();
  if (source == nullptr) {
    if (is_closed()) return make_error_code(io::Error::runtime_ended);
    return std::errc::not_enough_memory;
  }
  source->open(interest);
  source->descriptor.store(fd, memory_order_relaxed);
  const std::uint64_t token = source->generation() << index_bits | source->index;
  const Result<void> added = poller_->add(fd, token, interest);
  if (added) {
    if (is_closed()) source->end();  // `close` may not have seen that it was opened
    return source;
  }
  source->retire();
  give_slot_back(*source);
  return added.error();
}

void Reactor::remove(IoSource& source, int fd) noexcept {
  poller_->remove(fd);
  source.retire();
  give_slot_back(source);
}

void Reactor::dispatch() noexcept {
  const std::span<const sys::Event> found = std::exchange(found_, {});
  events_.store(events() + found.size(), memory_order_relaxed);
  for (const sys::Event& event : found) {
    IoSource& source = at(static_cast<std::uint32_t>(event.token));
    record(What::io, 0, static_cast<std::uint32_t>(source.descriptor.load(memory_order_relaxed)),
           event.ready);
    source.add_ready(event.token >> index_bits, event.ready);
  }
}

bool Reactor::is_closed() noexcept {
  const Lock lock(mutex_);
  return closed_;
}

void Reactor::close() noexcept {
  {
    const Lock lock(mutex_);
    closed_ = true;  // there will be no more chunks
  }
  for (std::size_t k = 0; k < chunks_; ++k) {
    IoSource* const chunk = chunk_[k].load(memory_order_relaxed);
    for (std::uint32_t i = 0; i < first_chunk << k; ++i) chunk[i].end();
  }
}

// --- Slots. ---

IoSource& Reactor::at(std::uint32_t index) const noexcept {
  const auto chunk = static_cast<std::size_t>(std::bit_width(index / first_chunk + 1) - 1);
  const std::uint32_t before = ((1U << chunk) - 1) * first_chunk;
  // ORDER: acquire; sees the sources made before the kernel was told of this one.
  return chunk_[chunk].load(memory_order_acquire)[index - before];
}

IoSource* Reactor::take_slot() noexcept {
  const Lock lock(mutex_);
  if (closed_ || (free_ == nullptr && !grow())) return nullptr;
  IoSource* const source = free_;
  free_ = source->next_free;
  sources_.store(sources() + 1, memory_order_relaxed);
  return source;
}

void Reactor::give_slot_back(IoSource& source) noexcept {
  const Lock lock(mutex_);
  source.next_free = std::exchange(free_, &source);
  sources_.store(sources() - 1, memory_order_relaxed);
}

bool Reactor::grow() noexcept {
  if (chunks_ == chunk_count) return false;
  const std::uint32_t size = first_chunk << chunks_;
  const std::uint32_t before = ((1U << chunks_) - 1) * first_chunk;
  auto* const chunk = new (std::nothrow) IoSource[size];
  if (chunk == nullptr) return false;
  for (std::uint32_t i = size; i-- > 0;) {
    chunk[i].index = before + i;
    chunk[i].next_free = std::exchange(free_, &chunk[i]);
  }
  // ORDER: release; publishes the sources.
  chunk_[chunks_++].store(chunk, memory_order_release);
  return true;
}

}  // namespace rouse::internal
