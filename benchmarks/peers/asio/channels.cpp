// async_send and async_receive always go through the queue of the io_context: a value that is
// there, or fits in, is moved by try_send and try_receive.
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rows.hpp"
#include "runtime.hpp"
#include "support/measure.hpp"

namespace {

using Signature = void(error_code, std::uint64_t);
using OneThread = asio::experimental::channel<Executor, Signature>;
using ManyThreads = asio::experimental::concurrent_channel<Executor, Signature>;

template <class Channel>
Awaitable<> send_all(std::shared_ptr<Channel> channel, std::uint64_t count) {
  for (std::uint64_t value = 0; value < count; ++value) {
    if (channel->try_send(error_code(), value)) continue;
    co_await channel->async_send(error_code(), value, deferred);
  }
}

template <class Channel>
Awaitable<std::uint64_t> receive_all(std::shared_ptr<Channel> channel, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto add = [&](error_code, std::uint64_t value) { sum += value; };
    if (channel->try_receive(add)) continue;
    sum += co_await channel->async_receive(deferred);
  }
  co_return sum;
}

template <class Channel>
Awaitable<std::uint64_t> send_and_receive(std::uint64_t senders, std::uint64_t count) {
  const Executor executor = co_await asio::this_coro::executor;
  const auto channel = std::make_shared<Channel>(executor, 1024);
  for (std::uint64_t i = 0; i < senders; ++i) {
    asio::co_spawn(executor, send_all(channel, count / senders), asio::detached);
  }
  co_return co_await receive_all(channel, count);
}

template <class Channel>
Awaitable<> answer(std::shared_ptr<Channel> from, std::shared_ptr<Channel> to, long n) {
  for (long i = 0; i < n; ++i) {
    const std::uint64_t value = co_await from->async_receive(deferred);
    to->try_send(error_code(), value + 1);
  }
}

template <class Channel>
Awaitable<std::uint64_t> ask(long n) {
  const Executor executor = co_await asio::this_coro::executor;
  const auto there = std::make_shared<Channel>(executor, 1);
  const auto back = std::make_shared<Channel>(executor, 1);
  asio::co_spawn(executor, answer(there, back, n), asio::detached);
  std::uint64_t value = 0;
  for (long i = 0; i < n; ++i) {
    there->try_send(error_code(), value);
    value = co_await back->async_receive(deferred);
  }
  co_return value;
}

Values mpsc(unsigned workers, long n, std::uint64_t senders) {
  Runtime runtime(workers);
  const std::uint64_t each = static_cast<std::uint64_t>(n) / senders;
  const std::uint64_t count = each * senders;
  const auto work = workers == 1 ? send_and_receive<OneThread> : send_and_receive<ManyThreads>;
  return {bench::mean_ns(n, [&] {
    bench::check(runtime.block_on(work(senders, count)) == senders * (each * (each - 1) / 2));
  })};
}

}  // namespace

Values ping_pong_mpsc(unsigned workers, long n) {
  Runtime runtime(workers);
  const auto work = workers == 1 ? ask<OneThread> : ask<ManyThreads>;
  return {bench::mean_ns(
      n, [&] { bench::check(runtime.block_on(work(n)) == static_cast<std::uint64_t>(n)); })};
}

Values mpsc_1x1(unsigned workers, long n) { return mpsc(workers, n, 1); }
Values mpsc_4x1(unsigned workers, long n) { return mpsc(workers, n, 4); }
