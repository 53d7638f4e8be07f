#include "process/launch.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "process/command_state.hpp"
#include "process/orphans.hpp"
#include "sys/fd.hpp"

namespace rouse::process {

Launch::Launch(const Command& command, bool captures)
    : state_(*command.state_), captures_(captures) {}

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
  check_group();
  check_ids();
  describe_program();
  open_current_dir();
  for (std::size_t stream = 0; stream < streams; ++stream) connect(stream);
  reserve_orphan_slot();
  const char* failed_step = nullptr;
  Result<sys::Spawned> spawned = sys::spawn_process(request_, failed_step);
  if (!spawned) {
    release_orphan_slot();
    fail(spawned.error(), failed_step);
  }
  Result<io::AsyncFd> pidfd = io::AsyncFd::own(std::move(spawned->pidfd), io::Interest::readable);
  if (!pidfd) {
    sys::kill_and_reap(spawned->pid);  // nobody could wait for it
    release_orphan_slot();
    fail(pidfd.error());
  }
  Child child(*std::move(pidfd), spawned->pid, state_.kill_on_drop, state_.output_limit);
  if (ours_[0]) child.stdin_.emplace(*std::move(ours_[0]));
  if (ours_[1]) child.stdout_.emplace(*std::move(ours_[1]));
  if (ours_[2]) child.stderr_.emplace(*std::move(ours_[2]));
  return child;
}

void Launch::fail(std::error_code error, const char* step) const {
  std::string text = "rouse::process: can't start '" + state_.program + "'";
  if (step != nullptr) text.append(": ").append(step);
  throw std::system_error(error, text);
}

void Launch::check_strings() const {
  const auto is_bad_name = [](const std::string& name) {
    return name.empty() || has_zero(name) || name.find('=') != std::string::npos;
  };
  const bool is_bad =
      has_zero(state_.program) || (state_.arg0 && has_zero(*state_.arg0)) ||
      std::ranges::any_of(state_.args, has_zero) ||
      std::ranges::any_of(state_.changes, [&](const auto& change) {
        return is_bad_name(change.name) || (change.value && has_zero(*change.value));
      });
  if (is_bad) fail(std::make_error_code(std::errc::invalid_argument));
}

/// The system would say only that it is not permitted.
void Launch::check_group() const {
  if (!state_.new_session || !state_.process_group) return;
  fail(std::make_error_code(std::errc::invalid_argument),
       "setsid makes it the leader of a group of its own, process_group is for another");
}

/// The system takes this one for "as before": the child would keep our rights.
void Launch::check_ids() const {
  constexpr std::uint32_t unchanged = UINT32_MAX;
  if (state_.uid == unchanged || state_.gid == unchanged)
    fail(std::make_error_code(std::errc::invalid_argument), "nobody has the uid or gid -1");
}

void Launch::describe_program() {
  request_.program = state_.program;
  request_.args.push_back(state_.arg0.value_or(state_.program));
  request_.args.insert(request_.args.end(), state_.args.begin(), state_.args.end());
  request_.environment = state_.environment();
  request_.path = path_in(request_.environment);
  request_.process_group = state_.process_group;
  request_.new_session = state_.new_session;
  request_.uid = state_.uid;
  request_.gid = state_.gid;
  request_.groups = state_.groups;
  request_.pre_exec = state_.pre_exec;
}

void Launch::open_current_dir() {
  if (!state_.current_dir) return;
  Result<io::OwnedFd> folder = sys::open_folder(*state_.current_dir);
  if (!folder) {
    throw std::system_error(folder.error(), "rouse::process: can't start '" + state_.program +
                                                "' in the folder '" + *state_.current_dir +
                                                "' (current_dir)");
  }
  current_dir_ = *std::move(folder);
  request_.current_dir = current_dir_.get();
}

Stdio Launch::stdio(std::size_t stream) const {
  if (state_.stdio[stream]) return *state_.stdio[stream];
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
