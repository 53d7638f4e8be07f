// The recipes of docs/cookbook.md that are about files, sockets, processes and signals.
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <rouse/net/serve.hpp>
#include <rouse/rouse.hpp>

namespace cookbook_io {

using namespace std::chrono_literals;

template <class F>
auto run(F future) {
  auto runtime = rouse::Runtime::builder().worker_threads(2).build();
  return runtime.block_on(rouse::timeout(30s, std::move(future)));
}

/// A file that is removed at the end.
class TempFile {
 public:
  TempFile()
      : path_(std::filesystem::temp_directory_path() /
              ("rouse_cookbook_" + std::to_string(::getpid()) + "_" + std::to_string(counter_++))) {
  }
  TempFile(const TempFile&) = delete;
  ~TempFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  static inline int counter_ = 0;
  std::filesystem::path path_;
};

// [child]
rouse::Async<std::optional<std::string>> run_for(std::chrono::seconds most, std::string script) {
  auto shell = rouse::process::Command("sh");
  shell.arg("-c").arg(script).process_group(0).kill_on_drop(true);
  auto child = shell.stdout_(rouse::process::Stdio::piped()).spawn();
  const int group = *child.id();
  const auto output = co_await rouse::timeout(most, std::move(child).wait_with_output()).result();
  if (!output) ::kill(-group, SIGKILL);  // the shell, and all that it has started
  if (!output || !output->status.success()) co_return std::nullopt;
  co_return output->stdout_;
}
// [/child]

TEST(Cookbook, ChildWithTimeout) {
  EXPECT_EQ(run(run_for(20s, "echo hello")), "hello\n");
  EXPECT_EQ(run(run_for(0s, "sleep 1000")), std::nullopt);
}

TEST(Cookbook, ChildWithTimeoutLeavesNoChildOfItsOwn) {
  const TempFile fifo;
  ::unlink(fifo.path().c_str());
  ASSERT_EQ(::mkfifo(fifo.path().c_str(), 0600), 0);
  const rouse::io::OwnedFd reads(::open(fifo.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(run(run_for(1s, "sleep 1000 3>" + fifo.path() + " & wait")), std::nullopt);
  // The end comes when nobody is left who could write.
  pollfd end{.fd = reads.get(), .events = POLLIN, .revents = 0};
  char none = 0;
  while (::read(reads.get(), &none, 1) != 0) ASSERT_EQ(::poll(&end, 1, 20'000), 1);
}

// [lines]
rouse::Async<int> count_errors(std::string path) {
  auto file = co_await rouse::fs::File::open(path);
  auto lines = rouse::io::BufReader(std::move(file)).lines();
  int errors = 0;
  while (const auto line = co_await lines.next_line()) {
    if (line->starts_with("ERROR")) ++errors;
  }
  co_return errors;
}
// [/lines]

rouse::Async<int> write_and_count(std::string path) {
  co_await rouse::fs::write(path, "ERROR one\nfine\nERROR two");
  co_return co_await count_errors(path);
}

TEST(Cookbook, FileByLines) {
  const TempFile file;
  EXPECT_EQ(run(write_and_count(file.path())), 2);
}

// [many_files]
rouse::Async<std::size_t> total_size(std::vector<std::string> paths) {
  auto reads = rouse::stream::map(rouse::stream::iter(std::move(paths)), rouse::fs::read);
  auto contents = rouse::stream::buffer_unordered(std::move(reads), 16);  // open at a time
  std::size_t total = 0;
  while (const auto bytes = co_await rouse::stream::next(contents)) total += bytes->size();
  co_return total;
}
// [/many_files]

rouse::Async<std::size_t> write_and_read(std::vector<std::string> paths) {
  for (const std::string& path : paths) co_await rouse::fs::write(path, "12345");
  co_return co_await total_size(paths);
}

TEST(Cookbook, ManyFiles) {
  const std::array<TempFile, 3> files;
  std::vector<std::string> paths;
  for (const TempFile& file : files) paths.push_back(file.path());
  EXPECT_EQ(run(write_and_read(paths)), 15U);
}

// [replace]
/// Readers see the old content or the new one, never a part.
rouse::Async<void> replace_file(std::string path, std::string content) {
  const std::string draft = path + ".new";
  {
    auto file = co_await rouse::fs::File::create(draft);
    co_await file.write_all(content);
    co_await file.sync_all();  // on the disk before the old one goes
  }
  co_await rouse::fs::rename(draft, path);
}
// [/replace]

rouse::Async<std::string> replace_twice(std::string path) {
  co_await replace_file(path, "old");
  co_await replace_file(path, "new");
  co_return co_await rouse::fs::read_to_string(path);
}

TEST(Cookbook, ReplaceAFile) {
  const TempFile file;
  EXPECT_EQ(run(replace_twice(file.path())), "new");
}

// [proxy]
rouse::Async<void> proxy(rouse::net::TcpStream client, rouse::net::SocketAddr to) {
  auto server = co_await rouse::timeout(5s, rouse::net::TcpStream::connect(to));
  co_await rouse::io::copy_bidirectional(client, server);  // until both have said their last
}
// [/proxy]

// [line_protocol]
rouse::Async<void> greet(rouse::net::TcpStream client, rouse::net::SocketAddr) {
  auto [reader, writer] = std::move(client).split();
  auto lines = rouse::io::BufReader(std::move(reader)).lines(1000);  // none is longer
  for (;;) {
    const auto line = co_await rouse::timeout(60s, lines.next_line());  // nobody sleeps here
    if (!line || *line == "bye") co_return;
    const std::string reply = "hello, " + *line + "\n";
    co_await writer.write_all(reply);
  }
}
// [/line_protocol]

// [serve]
rouse::Async<void> serve_politely(rouse::net::TcpListener listener,
                                  rouse::sync::CancellationToken stop) {
  rouse::net::ServeLimits limits;
  limits.max_connections = 1000;
  limits.stop = stop;  // then no more are accepted, and those that are there may finish
  co_await rouse::net::serve(std::move(listener), greet, limits);
}
// [/serve]

rouse::Async<void> accept_one(rouse::net::TcpListener listener, rouse::net::SocketAddr to) {
  auto [client, peer] = co_await listener.accept();
  co_await proxy(std::move(client), to);
}

rouse::Async<std::string> through_proxy() {
  const rouse::sync::CancellationToken stop;
  auto server = co_await rouse::net::TcpListener::bind("127.0.0.1:0");
  const auto at = server.local_addr();
  auto serving = rouse::spawn(serve_politely, std::move(server), stop);
  auto front = co_await rouse::net::TcpListener::bind("127.0.0.1:0");
  const auto proxy_at = front.local_addr();
  auto proxying = rouse::spawn(accept_one, std::move(front), at);
  auto client = co_await rouse::net::TcpStream::connect(proxy_at);
  co_await client.write_all("Ann\nBob\nbye\n");
  std::string heard = co_await client.read_to_string();
  co_await client.shutdown();
  co_await proxying;
  stop.cancel();
  co_await serving;
  co_return heard;
}

TEST(Cookbook, ProxyLineProtocolAndServe) {
  EXPECT_EQ(run(through_proxy()), "hello, Ann\nhello, Bob\n");
}

// [udp]
/// Asks up to three times: datagrams get lost.
rouse::Async<std::optional<std::string>> ping(rouse::net::SocketAddr server) {
  auto socket = co_await rouse::net::UdpSocket::bind("0.0.0.0:0");
  co_await socket.connect(server);
  for (int attempt = 0; attempt < 3; ++attempt) {
    co_await socket.send("ping");
    std::array<char, 1500> buf;
    const auto size = co_await rouse::timeout(1s, socket.recv(buf)).result();
    if (size) co_return std::string(buf.data(), *size);
  }
  co_return std::nullopt;
}
// [/udp]

rouse::Async<void> pong(rouse::net::UdpSocket socket) {
  std::array<char, 1500> buf;
  const auto received = co_await socket.recv_from(buf);
  co_await socket.send_to("pong", received.from);
}

rouse::Async<std::optional<std::string>> ping_pong() {
  auto server = co_await rouse::net::UdpSocket::bind("127.0.0.1:0");
  const auto at = server.local_addr();
  auto answering = rouse::spawn(pong, std::move(server));
  auto answer = co_await ping(at);
  co_await answering;
  co_return answer;
}

TEST(Cookbook, UdpPing) { EXPECT_EQ(run(ping_pong()), "pong"); }

// [async_fd]
/// A counter of the kernel, as a foreign library would give it to us: nonblocking, and not ours.
rouse::Async<std::uint64_t> next_count(int fd) {
  const rouse::io::AsyncFd watched(fd, rouse::io::Interest::readable);  // does not close it
  std::uint64_t count = 0;
  const auto read = [&] { return ::read(fd, &count, sizeof count); };
  co_await watched.async_io(rouse::io::Interest::readable, read);  // again after EAGAIN
  co_return count;
}
// [/async_fd]

rouse::Async<std::uint64_t> count_to_seven() {
  const rouse::io::OwnedFd counter(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  auto counting = rouse::spawn(next_count, counter.get());
  const std::uint64_t seven = 7;
  EXPECT_EQ(::write(counter.get(), &seven, sizeof seven), 8);
  co_return co_await counting;
}

TEST(Cookbook, ForeignDescriptor) { EXPECT_EQ(run(count_to_seven()), 7U); }

// [signals]
rouse::Async<std::string> until_told() {
  auto reload = rouse::signal::Signal(rouse::signal::Kind::user1());
  auto end = rouse::signal::Signal(rouse::signal::Kind::user2());
  std::string log = "started";
  ::raise(SIGUSR1);  // stands for `kill -USR1` in another terminal
  for (bool ends = false; !ends;) {
    const auto on_reload = [&] {
      log += ", reloaded";
      ::raise(SIGUSR2);
    };
    const auto on_end = [&] { ends = true; };
    co_await rouse::select(rouse::on(reload.recv(), on_reload), rouse::on(end.recv(), on_end));
  }
  co_return log + ", ended";
}
// [/signals]

TEST(Cookbook, Signals) { EXPECT_EQ(run(until_told()), "started, reloaded, ended"); }

// [shutdown]
/// Accepts until it is told to stop, then gives its clients five seconds.
rouse::Async<bool> serve_until(rouse::net::TcpListener listener,
                               rouse::sync::CancellationToken stop) {
  const rouse::sync::TaskTracker clients;
  while (auto accepted = co_await stop.run_until_cancelled(listener.accept())) {
    auto serving = greet(std::move(accepted->stream), accepted->peer);
    rouse::spawn(clients.track_future(std::move(serving))).detach();
  }
  clients.close();
  const auto all_left = co_await rouse::timeout(5s, clients.wait()).result();
  co_return all_left.has_value();
}
// [/shutdown]

rouse::Async<bool> stop_with_a_client() {
  const rouse::sync::CancellationToken stop;
  auto listener = co_await rouse::net::TcpListener::bind("127.0.0.1:0");
  const auto at = listener.local_addr();
  auto serving = rouse::spawn(serve_until, std::move(listener), stop);
  auto client = co_await rouse::net::TcpStream::connect(at);
  co_await client.write_all("Ann\n");
  std::array<char, 11> reply;
  co_await client.read_exact(reply);
  stop.cancel();
  co_await client.write_all("bye\n");
  co_return co_await serving;
}

TEST(Cookbook, GracefulShutdown) { EXPECT_TRUE(run(stop_with_a_client())); }

}  // namespace cookbook_io
