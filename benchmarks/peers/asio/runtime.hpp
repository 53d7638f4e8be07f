// What every row uses: an io_context with its threads, and coroutines that know its executor's
// type (any_io_executor, the default, costs an indirect call in each operation).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;

using asio::deferred;
using boost::system::error_code;

using Executor = asio::io_context::executor_type;
template <class T = void>
using Awaitable = asio::awaitable<T, Executor>;

class Runtime {
 public:
  explicit Runtime(unsigned workers) : context_(static_cast<int>(workers)) {
    for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { context_.run(); });
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  Executor executor() { return context_.get_executor(); }

  /// Runs the coroutine on the workers and waits for its end.
  template <class T>
  T block_on(Awaitable<T> work) {
    return asio::co_spawn(context_, std::move(work), asio::use_future).get();
  }

 private:
  asio::io_context context_;
  asio::executor_work_guard<Executor> guard_{context_.get_executor()};
  std::vector<std::thread> threads_;
};
