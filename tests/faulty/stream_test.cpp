// Calls of TCP and Unix streams.
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rouse/exec/spawner.hpp"
#include "rouse/net/pipe.hpp"
#include "rouse/net/serve.hpp"
#include "rouse/net/sock_ref.hpp"
#include "rouse/net/tcp_listener.hpp"
#include "rouse/net/tcp_socket.hpp"
#include "rouse/net/tcp_stream.hpp"
#include "rouse/net/unix_listener.hpp"
#include "rouse/net/unix_stream.hpp"
#include "rouse/time/timeout.hpp"

#include "faulty/harness.hpp"

namespace rouse::faulty {
namespace {

std::string socket_name() {
  static int next = 0;
  return "@rouse-faulty-" + std::to_string(::getpid()) + '-' + std::to_string(next++);
}

Async<void> unix_exchange() {
  const std::string name = socket_name();
  auto listener = co_await net::UnixListener::bind(name);
  auto client = co_await net::UnixStream::connect(name);
  auto accepted = co_await listener.accept();
  co_await client.write_all("there");
  std::array<char, 5> buf;
  co_await accepted.stream.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "there");
}

Async<void> pair_exchange() {
  auto [here, there] = net::UnixStream::pair();
  co_await here.write_all("there");
  std::array<char, 5> buf;
  co_await there.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "there");
}

Async<void> vectored_exchange() {
  auto [here, there] = net::UnixStream::pair();
  const std::array<io::Buffer, 3> parts{io::Buffer("a"), io::Buffer("bc"), io::Buffer("def")};
  co_await here.write_all_vectored(parts);
  std::string all;
  while (all.size() < 6) {
    std::array<char, 4> first;
    std::array<char, 4> second;
    const std::array<io::BufferMut, 2> room{io::BufferMut(first), io::BufferMut(second)};
    const std::size_t size = co_await there.readv(room);
    for (std::size_t i = 0; i < size; ++i) all += i < 4 ? first[i] : second[i - 4];
  }
  EXPECT_EQ(all, "abcdef");
}

Async<void> peek() {
  auto [here, there] = net::UnixStream::pair();
  co_await here.write_all("x");
  std::array<char, 5> buf;
  EXPECT_EQ(co_await there.peek(buf), 1U);
  EXPECT_EQ(co_await there.read(buf), 1U);
}

Async<void> wait_until_readable() {
  auto [here, there] = net::UnixStream::pair();
  co_await here.write_all("x");
  (co_await there.readable()).clear_ready();
  std::array<char, 1> buf;
  EXPECT_EQ(::read(there.fd(), buf.data(), 1), 1);
}

Async<void> drop_the_write_half() {
  auto [here, there] = net::UnixStream::pair();
  auto [reader, writer] = std::move(here).split();
  {
    const auto gone = std::move(writer);
  }
  co_return;
}

Async<void> say_there(net::UnixStream stream) { co_await stream.write_all("there"); }

Async<void> serve_one_client() {
  const std::string name = socket_name();
  auto listener = co_await net::UnixListener::bind(name);
  const net::ServeLimits limits;
  auto serving = spawn(net::serve(std::move(listener), say_there, limits));
  std::error_code failure;
  try {
    auto client = co_await net::UnixStream::connect(name);
    const std::string said = co_await client.read_to_string();
    if (!said.empty()) EXPECT_EQ(said, "there");
  } catch (const std::system_error& error) {
    failure = error.code();
  }
  limits.stop.cancel();
  co_await std::move(serving);  // throws if the listener failed
  if (failure) throw std::system_error(failure);
}

Async<void> through_a_fifo() {
  const std::string path = "/tmp/rouse-faulty-fifo-" + std::to_string(::getpid());
  ::unlink(path.c_str());
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto receiver = net::pipe::OpenOptions().open_receiver(path).value();
  auto sender = net::pipe::OpenOptions().open_sender(path).value();
  ::unlink(path.c_str());
  co_await sender.write_all("there");
  std::array<char, 5> buf;
  co_await receiver.read_exact(buf);
  EXPECT_EQ(std::string_view(buf.data(), buf.size()), "there");
}

Async<void> make_a_pipe() {
  auto [sender, receiver] = net::pipe::pipe();
  co_return;
}

Async<void> adopt_a_blocking_socket() {
  io::OwnedFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  auto stream = net::UnixStream::from_fd(std::move(fd)).value();
  co_return;
}

Async<void> ask_for_addresses() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  auto client = co_await net::TcpStream::connect(listener.local_addr());
  EXPECT_EQ(client.peer_addr(), listener.local_addr());
  auto accepted = co_await listener.accept();
  EXPECT_EQ(accepted.stream.peer_addr(), client.local_addr());
  EXPECT_TRUE(client.take_error());
}

Async<void> set_tcp_options() {
  auto socket = net::TcpSocket::v4();
  socket.set_reuseaddr(true);
  socket.set_reuseport(true);
  socket.set_nodelay(true);
  socket.set_keepalive(true);
  socket.set_keepalive_times(std::chrono::seconds(10), std::chrono::seconds(1), 3);
  socket.set_linger(std::chrono::seconds(1));
  socket.set_send_buffer_size(10'000);
  socket.set_recv_buffer_size(10'000);
  const net::SockRef options(socket);
  options.set_quickack(true);
  options.set_user_timeout(std::chrono::seconds(1));
  options.set_tos(0x10);
  options.bind_device("lo");
  co_return;
}

Async<void> get_tcp_options() {
  auto socket = net::TcpSocket::v4();
  EXPECT_FALSE(socket.reuseaddr());
  EXPECT_FALSE(socket.reuseport());
  EXPECT_FALSE(socket.nodelay());
  EXPECT_FALSE(socket.keepalive());
  EXPECT_FALSE(socket.linger());
  EXPECT_GT(socket.send_buffer_size(), 0U);
  EXPECT_GT(socket.recv_buffer_size(), 0U);
  const net::SockRef options(socket);
  EXPECT_EQ(options.user_timeout().count(), 0);
  EXPECT_EQ(options.device(), "");
  auto [here, there] = net::UnixStream::pair();
  EXPECT_EQ(here.peer_cred().pid, ::getpid());
  co_return;
}

Async<void> connect_by_a_name() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  auto client =
      co_await net::TcpStream::connect("localhost:" + std::to_string(listener.local_addr().port()));
  auto accepted = co_await listener.accept();
}

TEST(FaultyStream, ASocketThatCannotBeMadeIsReported) {
  Site("socket", "an exchange", exchange).try_all();
  Site("socket", "an exchange over a Unix socket", unix_exchange).try_all();
  Site("socketpair", "a pair", pair_exchange).try_all();
}

TEST(FaultyStream, AnAddressThatCannotBeHadIsReported) {
  Site("bind", "an exchange", exchange).try_all();
  Site("bind", "an exchange over a Unix socket", unix_exchange).try_all();
  Site("listen", "an exchange", exchange).try_all();
  Site("listen", "an exchange over a Unix socket", unix_exchange).try_all();
}

TEST(FaultyStream, AcceptGoesOnAfterWhatConcernsOneConnectionOrWillPass) {
  const std::map<std::string, Async<void> (*)()> scenarios{
      {"an exchange", exchange},
      {"an exchange over a Unix socket", unix_exchange},
      {"serve", serve_one_client}};
  for (const auto& [name, scenario] : scenarios) {
    Site("accept4", name, scenario)
        .retried({EINTR})
        .waits({EAGAIN})
        .passed_over({ECONNABORTED, EPROTO, ENOPROTOOPT, ENETDOWN, EHOSTDOWN, ENONET, EHOSTUNREACH,
                      ENETUNREACH, EPERM})
        .backs_off({EMFILE, ENFILE, ENOBUFS, ENOMEM})
        .try_all();
  }
}

/// A sandbox forbids it for good.
TEST(FaultyStream, AnAcceptThatIsForbiddenForGoodLeavesTheThreadToOthers) {
  for (const On kind : {On::current_thread, On::two_workers}) {
    const Watchdog watchdog("accept without permission");
    Runtime rt = make_runtime(kind);
    const Injection injection(Fault("accept4", EPERM).always());
    rt.block_on([]() -> Async<void> {
      auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
      auto client = co_await net::TcpStream::connect(listener.local_addr());
      const auto accepted =
          co_await timeout(std::chrono::milliseconds(100), listener.accept()).result();
      EXPECT_TRUE(!accepted && accepted.error() == std::errc::timed_out);
    }());
    EXPECT_GT(injection.hits(), 64);      // after the pause it tries again
    EXPECT_LT(injection.hits(), 10'000);  // and does not spin
  }
}

/// The connection was taken by then, and is lost; the one after it is not.
Async<void> accept_two() {
  auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
  auto first = co_await net::TcpStream::connect(listener.local_addr());
  auto second = co_await net::TcpStream::connect(listener.local_addr());
  auto accepted = co_await listener.accept();
  EXPECT_EQ(accepted.peer, second.local_addr());
}

TEST(FaultyStream, AConnectionThatCannotBeWatchedMakesAcceptPause) {
  Runtime rt = make_runtime(On::current_thread);
  for (const int error : {ENOMEM, ENOSPC}) {
    const Watchdog watchdog("accept without a watch");
    const Injection injection(Fault("epoll_ctl(ADD)", error).after(3));
    rt.block_on(accept_two());
    EXPECT_EQ(injection.hits(), 1);
    add_row("epoll_ctl(ADD)", name_of_error(error), "accept", 1, "tried again after a pause");
  }
}

TEST(FaultyStream, AConnectThatFailsIsReportedAndOneUnderWayIsWaitedFor) {
  Site("connect", "an exchange", exchange).waits({EINTR, EINPROGRESS}).try_all();
  Site("connect", "an exchange over a Unix socket", unix_exchange)
      .waits({EINTR, EINPROGRESS})
      .backs_off({EAGAIN})
      .try_all();
}

/// A host of one address, or of two of which the other one refuses: what came first is told.
TEST(FaultyStream, TheErrorOfTheFirstAddressIsThatOfTheHost) {
  Site("connect", "connect to localhost", connect_by_a_name)
      .waits({EINTR, EINPROGRESS})
      .checked_by(
          [](int error, std::error_code code) {
            EXPECT_TRUE(!code || code.value() == error || code.value() == ECONNREFUSED)
                << code.message();
          },
          "the next address is tried, or it is reported")
      .try_all();
}

TEST(FaultyStream, TheOutcomeOfAConnectCannotBeAskedFor) {
  Site("getsockopt(SO_ERROR)", "connect, and ask", [](Runtime& rt) {
    rt.block_on([]() -> Async<void> {
      auto listener = co_await net::TcpListener::bind("127.0.0.1:0");
      auto client = co_await net::TcpStream::connect(listener.local_addr());
      client.take_error().value();
    }());
  }).try_all();
  Site("poll", "connect", exchange).retried({EINTR}).try_all();
}

TEST(FaultyStream, WaitingForReadinessSurvivesALookThatFails) {
  Site("poll", "wait until readable", wait_until_readable)
      .ignored("treated as ready: the read reports the error")
      .try_all();
}

TEST(FaultyStream, ReadingReportsItsErrorsAndWaitsWhereItIsToldTo) {
  Site("recv", "an exchange", exchange).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("recv", "an exchange over a Unix socket", unix_exchange)
      .retried({EINTR})
      .waits({EAGAIN})
      .try_all();
  Site("recv(MSG_PEEK)", "peek", peek).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("readv", "readv", vectored_exchange).retried({EINTR}).waits({EAGAIN}).try_all();
}

TEST(FaultyStream, WritingReportsItsErrorsAndWaitsWhereItIsToldTo) {
  Site("send", "an exchange", exchange).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("send", "an exchange over a Unix socket", unix_exchange)
      .retried({EINTR})
      .waits({EAGAIN})
      .try_all();
  Site("sendmsg", "writev", vectored_exchange).retried({EINTR}).waits({EAGAIN}).try_all();
}

TEST(FaultyStream, FifosAndPipesReportWhatFails) {
  Site("open", "a FIFO", through_a_fifo).retried({EINTR}).try_all();
  Site("fstat", "a FIFO", through_a_fifo).try_all();
  Site("read", "a FIFO", through_a_fifo).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("write", "a FIFO", through_a_fifo).retried({EINTR}).waits({EAGAIN}).try_all();
  Site("fcntl(F_GETFL)", "a FIFO", through_a_fifo).try_all();
  Site("pipe2", "a pipe", make_a_pipe).try_all();
}

TEST(FaultyStream, OneByteAtATimeAllArrives) {
  Site("recv", "an exchange", exchange).try_short();
  Site("send", "an exchange", exchange).try_short();
  Site("recv", "an exchange over a Unix socket", unix_exchange).try_short();
  Site("send", "an exchange over a Unix socket", unix_exchange).try_short();
  Site("readv", "readv", vectored_exchange).try_short();
  Site("sendmsg", "writev", vectored_exchange).try_short();
}

TEST(FaultyStream, AShutdownThatFailsIsReportedUnlessNobodyIsLeft) {
  Site("shutdown", "an exchange", exchange)
      .ignored({ENOTCONN}, "ignored: the peer is gone")
      .try_all();
  Site("shutdown", "a dropped write half", drop_the_write_half)
      .ignored("ignored: a destructor reports nothing")
      .try_all();
}

TEST(FaultyStream, ASocketThatDoesNotSayWhatItIsIsReported) {
  Site("getsockname", "addresses", ask_for_addresses).try_all();
  Site("getpeername", "addresses", ask_for_addresses).try_all();
  Site("getsockopt", "options", get_tcp_options).try_all();
  Site("setsockopt", "options", set_tcp_options).try_all();
  Site("setsockopt", "an exchange", exchange).try_all();
}

TEST(FaultyStream, ABlockingSocketThatStaysOneIsRefused) {
  Site("fcntl(F_GETFL)", "adopt a socket", adopt_a_blocking_socket).try_all();
  Site("fcntl(F_SETFL)", "adopt a socket", adopt_a_blocking_socket).try_all();
  Site("fcntl(F_GETFL)", "an exchange", exchange).try_all();
}

TEST(FaultyStream, WhatCloseSaysChangesNothing) {
  Site("close", "an exchange", exchange).ignored("closed anyway").try_all();
}

}  // namespace
}  // namespace rouse::faulty
