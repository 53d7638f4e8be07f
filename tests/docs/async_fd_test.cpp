// The code about AsyncFd in docs/guide/10_io.md.
#include <array>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include <rouse/rouse.hpp>

namespace async_fd_guide {

namespace io = rouse::io;

/// Stands for a C library: a descriptor, and functions that never wait.
struct Library {
  std::array<int, 2> fds{};
};
int library_fd(const Library& library) { return library.fds[0]; }
ssize_t library_receive(Library& library, char* to, std::size_t size) {
  return ::read(library.fds[0], to, size);  // -1 and EAGAIN: nothing yet
}

// [async_fd]
class Connection {
 public:
  explicit Connection(Library& library)
      : library_(library), watched_(library_fd(library), io::Interest::readable) {}

  /// Completes when something has come. Dropping it loses nothing.
  rouse::Async<std::string> receive() {
    std::string text(100, '\0');
    const auto step = [&] { return library_receive(library_, text.data(), text.size()); };
    text.resize(co_await watched_.async_io(io::Interest::readable, step));
    co_return text;
  }

 private:
  Library& library_;
  io::AsyncFd watched_;  // borrows the descriptor: the library closes it, after this is gone
};
// [/async_fd]

// [readable]
rouse::Async<std::string> receive_all(Library& library, std::size_t size) {
  const io::AsyncFd watched(library_fd(library), io::Interest::readable);
  std::string all;
  while (all.size() < size) {
    io::ReadyGuard ready = co_await watched.readable();
    std::array<char, 4> buf;
    const auto step = [&] { return library_receive(library, buf.data(), buf.size()); };
    const auto got = ready.try_io(step);  // forgets the readiness if the call would block
    if (got) {
      all.append(buf.data(), *got);
    } else if (got.error() != std::errc::operation_would_block) {
      throw std::system_error(got.error());
    }
  }
  co_return all;
}
// [/readable]

class AsyncFdGuide : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(library.fds.data(), O_NONBLOCK | O_CLOEXEC), 0); }
  void TearDown() override {
    for (const int fd : library.fds) ::close(fd);
  }
  rouse::Async<void> say(std::string text) {
    co_await rouse::yield_now();
    EXPECT_EQ(::write(library.fds[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  Library library;
  rouse::Runtime rt = rouse::Runtime::builder().current_thread().build();
};

TEST_F(AsyncFdGuide, AsyncIo) {
  auto exchange = [this]() -> rouse::Async<std::string> {
    Connection connection(library);
    auto [received, said] = co_await rouse::join(connection.receive(), say("hello"));
    co_return received;
  };
  EXPECT_EQ(rt.block_on(exchange()), "hello");
}

TEST_F(AsyncFdGuide, Readable) {
  auto exchange = [this]() -> rouse::Async<std::string> {
    auto [received, said] = co_await rouse::join(receive_all(library, 10), say("0123456789"));
    co_return received;
  };
  EXPECT_EQ(rt.block_on(exchange()), "0123456789");
}

}  // namespace async_fd_guide
