#include "process/launch.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "process/orphans.hpp"
#include "sys/fd.hpp"

namespace rouse::process {
namespace {

std::string path_in(const std::vector<std::string>& environment) {
  constexpr std::string_view name = "PATH=";
  const auto found = std::ranges::find_if(
      environment, [&](const std::string& entry) { return entry.starts_with(name); });
  return found == environment.end() ? sys::default_path : found->substr(name.size());
}

bool has_zero(const std::string& text) noexcept { return text.find('\0') != std::string::npos; }

}  // namespace

Child Launch::start() {
  reap_orphans();
  check_strings();
  describe_program();
  open_current_dir();
  for (std::size_t stream = 0; stream < streams; ++stream) connect(stream);
  expect_orphan();
  Result<sys::Spawned> spawned = sys::spawn_process(request_);
  if (!spawned) {
    forget_orphan();
    fail(spawned.error());
  }
  Result<io::AsyncFd> pidfd = io::AsyncFd::own(std::move(spawned->pidfd), io::Interest::readable);
  if (!pidfd) {
    sys::kill_and_reap(spawned->pid);  // nobody could wait for it
    forget_orphan();
    fail(pidfd.error());
  }
  Child child(*std::move(pidfd), spawned->pid, command_.kill_on_drop_, command_.output_limit_);
  if (ours_[0]) child.stdin_.emplace(*std::move(ours_[0]));
  if (ours_[1]) child.stdout_.emplace(*std::move(ours_[1]));
  if (ours_[2]) child.stderr_.emplace(*std::move(ours_[2]));
  return child;
}

void Launch::fail(std::error_code error) const {
  throw std::system_error(error, "rouse::process: can't start '" + command_.program_ + "'");
}

void Launch::check_strings() const {
  const auto is_bad_name = [](const std::string& name) {
    return name.empty() || has_zero(name) || name.find('=') != std::string::npos;
  };
  const bool is_bad =
      has_zero(command_.program_) || std::ranges::any_of(command_.args_, has_zero) ||
      std::ranges::any_of(command_.changes_, [&](const auto& change) {
        return is_bad_name(change.first) || (change.second && has_zero(*change.second));
      });
  if (is_bad) fail(std::make_error_code(std::errc::invalid_argument));
}

void Launch::describe_program() {
  request_.program = command_.program_;
  request_.args.push_back(command_.program_);
  request_.args.insert(request_.args.end(), command_.args_.begin(), command_.args_.end());
  request_.environment = command_.environment();
  request_.path = path_in(request_.environment);
  request_.process_group = command_.process_group_;
}

void Launch::open_current_dir() {
  if (!command_.current_dir_) return;
  Result<io::OwnedFd> folder = sys::open_folder(*command_.current_dir_);
  if (!folder) {
    throw std::system_error(folder.error(), "rouse::process: can't start '" + command_.program_ +
                                                "' in the folder '" + *command_.current_dir_ +
                                                "' (current_dir)");
  }
  current_dir_ = *std::move(folder);
  request_.current_dir = current_dir_.get();
}

Stdio Launch::stdio(std::size_t stream) const {
  if (command_.stdio_[stream]) return *command_.stdio_[stream];
  if (!captures_) return Stdio::inherit();
  return stream == 0 ? Stdio::null() : Stdio::piped();
}

void Launch::connect(std::size_t stream) {
  const Stdio stdio = this->stdio(stream);
  switch (stdio.how_) {
    case Stdio::How::inherit:
      return;
    case Stdio::How::given:
      request_.stdio[stream] = stdio.fd_->get();
      return;
    case Stdio::How::null:
      theirs_[stream] = sys::open_null().value();
      break;
    case Stdio::How::piped:
      connect_pipe(stream);
      break;
  }
  request_.stdio[stream] = theirs_[stream].get();
}

/// Only our end does not block: programs do not expect that of theirs.
void Launch::connect_pipe(std::size_t stream) {
  auto [reading, writing] = sys::pipe().value();
  const bool is_input = stream == 0;
  io::OwnedFd& ours = is_input ? writing : reading;
  theirs_[stream] = std::move(is_input ? reading : writing);
  sys::set_nonblocking(ours.get(), true).value();
  ours_[stream].emplace(std::move(ours),
                        is_input ? io::Interest::writable : io::Interest::readable);
}

}  // namespace rouse::process
