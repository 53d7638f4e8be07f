#include "rouse/process/command.hpp"

#include <algorithm>

#include "rouse/base/assert.hpp"

#include "process/command_state.hpp"
#include "process/launch.hpp"

namespace rouse {

void internal::CommandState::change(std::string name, std::optional<std::string> value) {
  const auto at = std::ranges::lower_bound(changes, name, {}, &Change::name);
  if (at != changes.end() && at->name == name) {
    at->value = std::move(value);
  } else {
    changes.insert(at, Change{std::move(name), std::move(value)});
  }
}

std::vector<std::string> internal::CommandState::environment() const {
  std::vector<std::string> all;
  if (!clears_environment) {
    for (std::string& entry : sys::environment()) {
      const std::string name = entry.substr(0, entry.find('='));
      const bool is_changed = std::ranges::binary_search(changes, name, {}, &Change::name);
      if (!is_changed) all.push_back(std::move(entry));
    }
  }
  for (const auto& [name, value] : changes) {
    if (value) all.push_back(name + '=' + *value);
  }
  return all;
}

namespace process {

using internal::CommandState;

namespace {

CommandState& state_of(const internal::Box<CommandState>& state) noexcept {
  ROUSE_ASSERT(state, "a Command was used after it was moved from");
  return *state;
}

AsyncResult<Output> run_for_output(Command command) {
  Child child = Launch(command, true).start();
  co_return co_await std::move(child).wait_with_output().result();
}

AsyncResult<ExitStatus> run_for_status(Command command) {
  Child child = command.spawn();
  child.stdout_.reset();
  child.stderr_.reset();
  co_return co_await child.wait();
}

}  // namespace

Stdio Stdio::from(io::OwnedFd fd) {
  ROUSE_ASSERT(fd, "Stdio::from needs an open descriptor: this OwnedFd has none");
  Stdio stdio(How::given);
  stdio.fd_ = make_ref<internal::GivenFd>(std::move(fd));
  return stdio;
}

Command::Command(std::string program)
    : state_(internal::make_box<CommandState>(std::move(program))) {}
Command::Command(const Command& other)
    : state_(internal::make_box<CommandState>(state_of(other.state_))) {}
Command::Command(Command&& other) noexcept = default;
Command& Command::operator=(Command other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Command::~Command() = default;

Command& Command::arg(std::string argument) {
  state_of(state_).args.push_back(std::move(argument));
  return *this;
}
Command& Command::env(std::string name, std::string value) {
  state_of(state_).change(std::move(name), std::move(value));
  return *this;
}
Command& Command::env_remove(std::string name) {
  state_of(state_).change(std::move(name), std::nullopt);
  return *this;
}
Command& Command::env_clear() {
  CommandState& state = state_of(state_);
  state.clears_environment = true;
  state.changes.clear();
  return *this;
}
Command& Command::current_dir(std::string path) {
  state_of(state_).current_dir = std::move(path);
  return *this;
}
Command& Command::stdin_(Stdio stdio) {
  state_of(state_).stdio[0] = std::move(stdio);
  return *this;
}
Command& Command::stdout_(Stdio stdio) {
  state_of(state_).stdio[1] = std::move(stdio);
  return *this;
}
Command& Command::stderr_(Stdio stdio) {
  state_of(state_).stdio[2] = std::move(stdio);
  return *this;
}
Command& Command::process_group(int group) {
  state_of(state_).process_group = group;
  return *this;
}
Command& Command::arg0(std::string name) {
  state_of(state_).arg0 = std::move(name);
  return *this;
}
Command& Command::setsid(bool on) {
  state_of(state_).new_session = on;
  return *this;
}
Command& Command::uid(std::uint32_t user) {
  state_of(state_).uid = user;
  return *this;
}
Command& Command::gid(std::uint32_t group) {
  state_of(state_).gid = group;
  return *this;
}
Command& Command::groups(std::vector<std::uint32_t> all) {
  state_of(state_).groups = std::move(all);
  return *this;
}
Command& Command::add_pre_exec(Function<int()> fn) {
  state_of(state_).pre_exec.push_back(std::move(fn));
  return *this;
}
Command& Command::kill_on_drop(bool on) {
  state_of(state_).kill_on_drop = on;
  return *this;
}
Command& Command::output_limit(std::size_t bytes) {
  state_of(state_).output_limit = bytes;
  return *this;
}

Child Command::spawn() const {
  state_of(state_);  // checks that there is one
  return Launch(*this, false).start();
}
AsyncResult<Output> Command::output() const { return run_for_output(*this); }
AsyncResult<ExitStatus> Command::status() const { return run_for_status(*this); }

}  // namespace process
}  // namespace rouse
