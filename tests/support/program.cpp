#include "support/program.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <netinet/in.h>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "rouse/io/owned_fd.hpp"

namespace rouse::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// In the child, between fork and exec: nothing but system calls.
[[noreturn]] void become(char* const* arguments, int out, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Whether `call` (connect, bind) works for a new socket and the port.
template <class Call>
bool works_at(std::uint16_t port, Call call) {
  const io::OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  return call(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::string find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  const std::string folders = std::string(path ? path : "") + ":/usr/sbin:/usr/bin:/sbin:/bin";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = folders.substr(begin, end - begin) + '/' + std::string(name);
    if (::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

std::string example(std::string_view name) {
  const char* folder = std::getenv("ROUSE_EXAMPLES");
  if (folder == nullptr) return {};
  const std::string file = (fs::path(folder) / name).string();
  return ::access(file.c_str(), X_OK) == 0 ? file : std::string();
}

Program::Program(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw_errno("pipe2");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(arguments.data(), pipe[1], parent);
  ::close(pipe[1]);
  out_ = pipe[0];
  if (pid_ < 0) {
    ::close(out_);
    throw_errno("fork");
  }
}

Program::~Program() {
  if (!is_reaped_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
  ::close(out_);
}

bool Program::read_some(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd waiting{.fd = out_, .events = POLLIN, .revents = 0};
  if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return false;
  std::array<char, 65536> buf;
  const ssize_t n = ::read(out_, buf.data(), buf.size());
  if (n <= 0) return false;
  unread_.append(buf.data(), static_cast<std::size_t>(n));
  return true;
}

std::string Program::line() {
  const Clock::time_point deadline = Clock::now() + patience;
  std::size_t end;
  while ((end = unread_.find('\n')) == std::string::npos) {
    if (!read_some(deadline)) throw std::runtime_error("no line, only '" + unread_ + "'");
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  return line;
}

net::SocketAddr Program::listening_on() {
  constexpr std::string_view before = "listening on ";
  const std::string said = line();
  if (!said.starts_with(before)) throw std::runtime_error("unexpected: " + said);
  return net::SocketAddr::parse(said.substr(before.size())).value();
}

void Program::wait_for_port(std::uint16_t port) {
  const Clock::time_point deadline = Clock::now() + patience;
  while (!works_at(port, ::connect)) {
    if (has_ended()) throw std::runtime_error("the program has ended: " + wait().output);
    if (Clock::now() > deadline) throw std::runtime_error("nobody listens");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // nothing tells when it does
  }
}

void Program::send_signal(int signal) const { ::kill(pid_, signal); }

bool Program::has_ended() {
  if (!is_reaped_) is_reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return is_reaped_;
}

Ended Program::wait() {
  const Clock::time_point deadline = Clock::now() + patience;
  while (read_some(deadline)) {
  }
  if (Clock::now() >= deadline) send_signal(SIGKILL);
  if (!is_reaped_) is_reaped_ = ::waitpid(pid_, &status_, 0) == pid_;
  const int status = WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  return Ended{status, std::exchange(unread_, {})};
}

Ended run_program(const std::vector<std::string>& command) { return Program(command).wait(); }

Ended run_shell(const std::string& script) { return run_program({"/bin/sh", "-c", script}); }

std::uint16_t free_port() {
  // Below what the system gives to those who connect, so that nobody gets it meanwhile by chance.
  static std::mt19937 random(std::random_device{}());
  for (int tries = 0; tries < 1000; ++tries) {
    const auto port = static_cast<std::uint16_t>(10000 + random() % 20000);
    if (works_at(port, ::bind)) return port;
  }
  throw std::runtime_error("no port is free");
}

TempDirectory::TempDirectory() {
  std::string pattern = (fs::temp_directory_path() / "rouse-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw_errno("mkdtemp");
  path_ = pattern;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TempDirectory::write(std::string_view name, std::string_view content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
}

std::string TempDirectory::read(std::string_view name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace rouse::test
