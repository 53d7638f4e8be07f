#include "sight/private_socket.hpp"

#include <string_view>
#include <system_error>
#include <utility>

#include "sight/value_or_throw.hpp"
#include "sys/address.hpp"
#include "sys/fd.hpp"
#include "sys/file_system.hpp"
#include "sys/process_fork.hpp"
#include "sys/self.hpp"
#include "sys/socket.hpp"

namespace rouse::sight {
namespace {

constexpr std::string_view suffix = ".sock";
constexpr std::uint32_t type_bits = 0170000;
constexpr std::uint32_t directory_bits = 0040000;
constexpr std::uint32_t socket_bits = 0140000;

[[noreturn]] void refuse(std::error_code why, const std::string& what) {
  throw std::system_error(why, "sight::start: " + what);
}

/// Whether somebody accepts connections there. An error that does not tell counts as yes.
bool is_alive(const std::string& path) {
  const Result<sys::NativeAddress> address = sys::unix_address(path);
  if (!address) return true;
  const auto fd = sys::open_socket(address->storage.ss_family, sys::SocketKind::stream);
  if (!fd) return true;
  const Result<bool> connected = sys::connect(fd->get(), *address);
  return connected || connected.error() != std::errc::connection_refused;
}

/// Nobody else may look into it, and it is where it seems to be.
void require_private(const std::string& directory) {
  const Result<sys::FileStatus> found = sys::status(directory, sys::Links::dont_follow);
  if (!found) refuse(found.error(), directory);
  if ((found->mode & type_bits) != directory_bits) {
    refuse(make_error_code(std::errc::not_a_directory), directory);
  }
  if (found->uid != sys::user() || (found->mode & 077) != 0) {
    refuse(make_error_code(std::errc::permission_denied),
           directory + " is to belong to this user, with mode 0700");
  }
}

/// The files of processes that are gone. One that has just bound its socket does not listen yet,
/// and one in another container is not seen here: so both are asked.
void remove_dead(const std::string& directory) {
  Result<sys::Directory> files = sys::Directory::open(directory);
  if (!files) return;
  for (;;) {
    const auto next = files->next();
    if (!next || !*next) return;
    const std::string& name = (*next)->name;
    const std::string pid = name.substr(0, name.find('.'));
    const bool is_ours = !pid.empty() && name.substr(pid.size()) == suffix &&
                         pid.find_first_not_of("0123456789") == std::string::npos;
    if (!is_ours) continue;
    const Result<sys::FileStatus> process = sys::status("/proc/" + pid, sys::Links::follow);
    const bool is_gone = !process && process.error() == std::errc::no_such_file_or_directory;
    std::string path = directory;
    path.append("/").append(name);
    if (is_gone && !is_alive(path)) (void)sys::remove_file(path);
  }
}

/// In $XDG_RUNTIME_DIR, which is private; without it in /tmp, where nobody can remove or replace
/// what is not his.
std::string default_path() {
  const char* const runtime = sys::trusted_variable("XDG_RUNTIME_DIR");
  const std::string directory = runtime != nullptr && runtime[0] == '/'
                                    ? std::string(runtime) + "/rouse"
                                    : "/tmp/rouse-" + std::to_string(sys::user());
  const Result<void> made = sys::create_dir(directory, 0700);
  if (!made && made.error() != std::errc::file_exists) refuse(made.error(), directory);
  require_private(directory);
  remove_dead(directory);
  return directory + "/" + std::to_string(sys::process_id()) + std::string(suffix);
}

/// Removes a socket that nobody listens at any more, and nothing else.
void make_way(const std::string& path) {
  const Result<sys::FileStatus> found = sys::status(path, sys::Links::dont_follow);
  if (!found) return;  // or bind says why not
  if ((found->mode & type_bits) != socket_bits) {
    refuse(make_error_code(std::errc::file_exists), path + " is there, and is no socket");
  }
  if (is_alive(path)) {
    refuse(make_error_code(std::errc::address_in_use), "somebody listens at " + path);
  }
  (void)sys::remove_file(path);
}

/// The file gets its mode from the socket's, in the moment in which it is made: there is no time in
/// which others could connect, and the umask, which all threads share, stays as it is.
io::OwnedFd listen_at(const std::string& path) {
  const Result<sys::NativeAddress> address = sys::unix_address(path);
  if (!address) refuse(address.error(), path);
  io::OwnedFd fd = value_or_throw(
      sys::open_socket(address->storage.ss_family, sys::SocketKind::stream), "sight::start");
  if (const auto done = sys::set_mode(fd.get(), 0600); !done) refuse(done.error(), path);
  if (const auto done = sys::bind(fd.get(), *address); !done) refuse(done.error(), path);
  if (const auto done = sys::listen(fd.get(), 64); !done) {
    (void)sys::remove_file(path);
    refuse(done.error(), path);
  }
  return fd;
}

std::string prepared(const std::string& path) {
  std::string chosen = path.empty() ? default_path() : path;
  make_way(chosen);
  return chosen;
}

}  // namespace

PrivateSocket::PrivateSocket(const std::string& path)
    : path_(prepared(path)),
      process_forks_before_(sys::process_forks()),
      listener_(listen_at(path_)),
      file_(file_at(path_)) {}

PrivateSocket::~PrivateSocket() {
  if (sys::process_forks() != process_forks_before_) return;
  if (file_at(path_) == file_) (void)sys::remove_file(path_);
}

/// All 0: the system does not say. Then the file may stay, and the next one that starts removes it.
PrivateSocket::FileId PrivateSocket::file_at(const std::string& path) {
  const Result<sys::FileStatus> found = sys::status(path, sys::Links::dont_follow);
  return found ? FileId{.device = found->device, .inode = found->inode} : FileId();
}

}  // namespace rouse::sight
